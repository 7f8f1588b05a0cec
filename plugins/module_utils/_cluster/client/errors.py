"""Errors of the API server and of the connection, explained in one line with the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ..._resolver.api.errors import Cause
from ..._resolver.secrets.redaction import without_logins

_T = TypeVar("_T")
_D = TypeVar("_D")


class RequestFailed(Exception):
    """A request that got no useful answer. Its text is one line: the reason and, if known, the remedy.

    code: HTTP status. reason: the Status' reason, "" if it has none. causes: those in the details of an answer.
    """

    code = 503
    reason = "ServiceUnavailable"
    causes: Sequence[Cause] = ()


class ApiError(RequestFailed):
    """An unsuccessful response.

    message: the server's message. retry_after: the seconds that the server asks to wait, or None.
    verb: the HTTP method, or WATCH. path: the path of the request.
    selector: the label selector of a list whose first page the server rejects, else "".
    after_lost: the answer to an earlier attempt was lost, which may have taken effect.
    """

    def __init__(
        self, code: int, body: Any, retry_after: float | None = None, *, verb: str = "", path: str = ""
    ) -> None:
        status = body if isinstance(body, dict) else {}
        self.code = code
        self.reason = str(status.get("reason") or "")
        self.message = str(status.get("message") or (body if isinstance(body, str) else "") or f"HTTP {code}").strip()
        details = status.get("details")
        causes = details.get("causes") if isinstance(details, dict) else None
        self.causes = [
            Cause(str(c.get("reason") or ""), str(c.get("message") or ""), str(c.get("field") or ""))
            for c in (causes if isinstance(causes, list) else [])
            if isinstance(c, dict)
        ]
        self.retry_after = retry_after
        self.verb, self.path = verb, path
        self.selector = ""
        self.after_lost = False
        super().__init__(code, self.message)

    def __str__(self) -> str:
        from .explanations import explained

        return explained(self.code, self.message, self.causes, self.verb, self.path, self.selector)


class ConnectionFailed(RequestFailed):
    """The API server is unreachable, or its response is unreadable.

    sent: the request may have reached the server. final: a retry would fail in the same way.
    """

    def __init__(self, text: str, *, sent: bool = True, final: bool = False) -> None:
        super().__init__(without_logins(text))
        self.sent = sent
        self.final = final


class TaskFailed(Exception):
    """Ends a task before it does anything: invalid options, or a cluster that cannot be read.

    result: what the task returns beside the message.
    """

    def __init__(self, message: str, **result: Any) -> None:
        super().__init__(message)
        self.result = result


# urllib3 begins with the request, which the message names already.
_REQUEST: Final = re.compile(r"^\S*HTTPS?Connection.*?[)>]: ")


def value_or_default(request: Callable[[], _T], default: _D) -> _T | _D:
    """The answer to a request that a task can do without, or the default if the request fails."""
    try:
        return request()
    except RequestFailed:
        return default


def reason_of(error: Exception) -> str:
    """The innermost reason of an error of a connection, a file or a certificate, as one line."""
    reason = getattr(error, "reason", None)
    reason = reason if isinstance(reason, Exception) else error
    text = getattr(reason, "strerror", None)
    # urllib3's ProtocolError has its cause as another argument.
    parts = reason.args if any(isinstance(part, Exception) for part in reason.args) else (text or reason,)
    return " ".join(_REQUEST.sub("", " ".join(map(str, parts))).split()) or type(error).__name__


def lacks_permission(error: ApiError) -> bool:
    """Whether the user lacks the permission for the request."""
    from .messages import FORBIDDEN

    return error.code == 403 and FORBIDDEN.search(error.message) is not None


def is_outdated(error: ApiError) -> bool:
    """Whether the server rejects a JSON patch because the object no longer is what the patch tests."""
    return error.code == 422 and not error.causes


def is_other_object(error: ApiError) -> bool:
    """Whether the object with the UID of the request is gone: there is none, or one of the same name."""
    from .messages import says_other_object

    return says_other_object(error.code, error.message)
