"""Sends requests to an API server, with credentials, and again where that helps and is safe."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple, TypeVar

from ..._resolver.secrets.redaction import without_logins
from .concurrency import Backoff, raise_if_stopped
from .connections import USER_AGENT, Connection, Connections, Response
from .errors import ApiError, ConnectionFailed, RequestFailed, is_other_object, reason_of
from .settings import configure

PASSING: Final = frozenset({429, 500, 502, 503, 504})
"""Status codes for which a retry may succeed."""
_CONNECTIONS: Final = 16
# Seconds without data. A stuck request leaves time for another attempt; a watch gets a bookmark every minute.
_READ_TIMEOUT: Final = 30
# Seconds and bytes of a whole response; a page of 500 large VMs has about ten MB.
_DEADLINE: Final = 120
_LARGEST: Final = 512 * 2**20
_WATCH_TIMEOUT: Final = 65
# Seconds for which the authentication headers are kept, so that a credential plugin does not run for each request.
_HEADERS_TTL: Final = 1.0
# If a server has never responded, its address is more likely wrong than the server restarting.
_FIRST_CONTACT: Final = 5.0

_HEADER: Final = (
    "a credential or name has characters that no HTTP header may have, such as a line break; check api_key, username,"
    " password, impersonate_user, impersonate_groups, and the token in the kubeconfig"
)
_WARNING: Final = "Warning"
# Different warnings that a session keeps.
_WARNINGS: Final = 100
_MORE_WARNINGS: Final = "the API server gives more different warnings than are shown"

_T = TypeVar("_T")


class _Outage:
    """How long a server has not answered: `answers` so far, and why it is given up; "" while it answers.

    Each of thousands of requests to a server that has gone would else be retried for as long as the first.
    """

    def __init__(self) -> None:
        self.answers, self.reason = 0, ""

    def end(self) -> None:
        self.answers, self.reason = self.answers + 1, ""


class Request(NamedTuple):
    """A request.

    path, target: without and with the query. warnings: gets what the API server warns of → the objects, as labels.
    watched: the seconds of a watch; None for other requests.
    """

    method: str
    path: str
    target: str
    accept: str
    warnings: dict[str, dict[str, None]]
    body: bytes | None = None
    content_type: str = ""
    watched: float | None = None


class Sender:
    """The requests of sessions to one API server. Threads may share it.

    options: see `session.Session`.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._connect()
        self._headers = _headers(options)
        timeout = options.get("retry_timeout")
        self.retry_timeout = 60.0 if timeout is None else float(timeout)
        self._wait_for_turn = _limit(options["qps"]) if options.get("qps") else None
        self._reached = threading.Event()
        self.outage = _Outage()
        self._accepted = threading.Event()
        self._lock = threading.Lock()
        # _renewals: how often the credentials were read again. _renewal_useless: until the server accepts some.
        self._renewals = 0
        self._renewal_useless = False

    def _connect(self) -> None:
        self._settings = configure(self._options)
        self.host = without_logins(self._settings.host, "host")
        self._cached_headers: tuple[float, dict[str, str]] = (0.0, {})
        self._connections = Connections(self._settings, self._options.get("concurrency") or _CONNECTIONS)

    def _credentials(self) -> dict[str, str]:
        """The authentication headers, a second old at most: exec plugins and service accounts renew their tokens."""
        expiry, headers = self._cached_headers
        now = time.monotonic()
        if now > expiry:
            value = self._settings.authorization()
            headers = {"Authorization": value} if value else {}
            self._cached_headers = (now + _HEADERS_TTL, headers)
        return headers

    def _renew(self, renewals: int) -> bool:
        """Reads the credentials again after a 401; False if they did not change.

        renewals: the value of `_renewals` when the rejected request was sent.
        """
        with self._lock:
            if self._renewals != renewals:
                return True  # another thread renewed them
            if self._renewal_useless:
                return False
            rejected = self._credentials()
            self._connect()
            # An exec plugin that returns a new token each time runs once, until the server accepts a token.
            self._renewal_useless = True
            if self._credentials() == rejected:
                return False
            self._renewals += 1
            return True

    def retried(
        self, send: Callable[[], _T], safe: bool, budget: float | None = None, final: tuple[int, ...] = ()
    ) -> _T:
        """Calls `send`, with retries while they can help.

        safe: sending a request twice does no harm. budget: seconds, default retry_timeout.
        """
        allowed = self.retry_timeout if budget is None else budget
        pauses, lost, answers = Backoff(), False, self.outage.answers
        while True:
            renewals = self._renewals
            raise_if_stopped()
            try:
                return send()
            except ApiError as error:
                error.after_lost, lost = lost, lost or (error.code in PASSING and error.code != 429)
                if error.code == 401 and self._renew(renewals):
                    continue
                if error.code == 401 and self._accepted.is_set():
                    error.message += "; they worked earlier in this task, so they expired or were revoked"
                elif error.code not in final and _may_retry(error, safe):
                    if pauses.pause(allowed, error.retry_after):
                        continue
                    error.message += _attempts_text(pauses)
                raise
            except ConnectionFailed as error:
                reachable, lost = self._reached.is_set(), lost or error.sent
                if error.final or (error.sent and not safe):
                    raise
                text = self.outage.reason
                if text or not pauses.pause(allowed if reachable else min(_FIRST_CONTACT, allowed)):
                    text = text or f"{error}{_attempts_text(pauses)}"
                    if budget is None and answers == self.outage.answers:
                        self.outage.reason = text
                    raise ConnectionFailed(text, sent=error.sent) from error

    def once(self, request: Request) -> Any:
        """The decoded answer to a request; {} if it is empty. Raises like `opened`."""
        data = self._read(self.opened(request))
        if not data:
            return {}
        try:
            content = json.loads(data)
        except (ValueError, RecursionError) as error:
            from .failures import not_json

            raise not_json(self.host, data, error) from error
        if not isinstance(content, dict):
            from .failures import not_an_object

            raise not_an_object(self.host, content)
        return content

    def opened(self, request: Request) -> Response:
        """The answer to a request, with its body unread. Raises ApiError for a refusal, ConnectionFailed for none."""
        if self._wait_for_turn is not None:
            self._wait_for_turn()
            raise_if_stopped()
        # One thread at a time, so that an exec plugin whose token has expired runs once.
        with self._lock:
            headers = [*self._headers, ("Accept", request.accept), *self._credentials().items()]
            connections = self._connections
        if request.body is not None:
            headers.append(("Content-Type", request.content_type))
        try:
            connection = connections.take()
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error, sent=False) from error
        response = self._exchange(connection, request, headers)
        self._reached.set()
        self.outage.end()
        if _WARNING in response.headers:
            _keep_warnings(response.headers.get_all(_WARNING, ()), request.path, request.warnings)
        if response.status >= 300:
            raise self._refusal(response, request)
        self._accepted.set()
        self._renewal_useless = False
        return response

    def _exchange(self, connection: Connection, request: Request, headers: list[tuple[str, str]]) -> Response:
        timeout, total = _READ_TIMEOUT, float(_DEADLINE)
        if request.watched is not None:
            # The server ends a watch by its timeout; the deadline is for a watch that hangs beyond it.
            timeout, total = _WATCH_TIMEOUT, request.watched + _WATCH_TIMEOUT
        deadline = time.monotonic() + total
        try:
            return connection.exchange(request.method, request.target, headers, request.body, timeout, deadline)
        except socket.timeout as error:
            # The connection was accepted: the address is right, and another server behind it may answer.
            self._reached.set()
            raise self._unreachable(OSError(f"it sent nothing for {timeout} s")) from error
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error) from error
        except ValueError:
            # The error contains the header, which may be a secret.
            raise ConnectionFailed(_HEADER, final=True) from None

    def _read(self, response: Response) -> bytes:
        """The whole body, decompressed."""
        parts, length = [], 0
        try:
            for part in response.parts():
                parts.append(part)
                length += len(part)
                if length > _LARGEST:
                    raise ConnectionFailed(f"{self.host} answered with more than {_LARGEST >> 20} MiB", final=True)
        except zlib.error as error:
            raise ConnectionFailed(f"cannot decompress the answer of {self.host}: {reason_of(error)}") from error
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error) from error
        return b"".join(parts)

    def _refusal(self, response: Response, request: Request) -> RequestFailed:
        from .failures import refusal

        verb = request.method if request.watched is None else "WATCH"
        return refusal(self.host, response, self._read(response), verb, request.path)

    def _unreachable(self, error: Exception, sent: bool = True) -> ConnectionFailed:
        from .failures import unreachable

        return unreachable(self.host, error, sent)


def _limit(rate: float) -> Callable[[], None]:
    from .rate import TokenBucket

    return TokenBucket(rate).wait_for_turn


def _headers(options: dict[str, Any]) -> list[tuple[str, str]]:
    """The headers of all requests."""
    headers = [("User-Agent", USER_AGENT)]
    if options.get("impersonate_user"):
        headers.append(("Impersonate-User", options["impersonate_user"]))
    return headers + [("Impersonate-Group", group) for group in options.get("impersonate_groups") or ()]


def _keep_warnings(headers: Iterable[str], path: str, warnings: dict[str, dict[str, None]]) -> None:
    # Most answers have none.
    from .server_warnings import object_label, warning_texts

    label = object_label(path)
    for text in (text for header in headers for text in warning_texts(header)):
        known = text in warnings or len(warnings) < _WARNINGS
        warnings.setdefault(text if known else _MORE_WARNINGS, {})[label] = None


def _may_retry(error: ApiError, safe: bool) -> bool:
    """Whether a retry may succeed and is safe."""
    from .messages import LASTING

    if error.code == 429:
        return True  # the server did not process the request
    if error.code == 409:
        # A concurrent write, unlike a conflict of field managers, has no causes; a retry helps.
        return safe and error.reason == "Conflict" and not error.causes and not is_other_object(error)
    lasting = any(words in error.message for words in LASTING)
    if error.code == 500 and (error.reason not in ("", "InternalError") or lasting):
        return False  # such as a webhook that rejects the request: a retry gets the same error
    return safe and error.code in PASSING


def _attempts_text(pauses: Backoff) -> str:
    return f" (tried {pauses.tries} times in {pauses.seconds:.0f} s)" if pauses.tries > 1 else ""
