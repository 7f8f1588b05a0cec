"""Errors of the API server and of the connection, explained in one line with the remedy."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import field_conflict
from ..._resolver.api.kinds import Kind
from ..._resolver.api.label_selector import SelectorError, selector

TOO_LARGE: Final = ("etcdserver: request is too large", "trying to send message larger than max", "limit is 3145728")
"""The API server's messages for an object that is too large for etcd."""


class Cause(NamedTuple):
    """An item of a Status' details.causes."""

    type: str
    field: str
    message: str


class ApiError(Exception):
    """An unsuccessful response.

    code: HTTP status. reason: the Status' reason, "" if it has none. message: its message. causes: its details.causes.
    retry_after: the seconds that the server asks to wait, or None.
    selector: the label selector of a list whose first page the server rejects, else "".
    after_lost: the answer to an earlier attempt was lost, which may have taken effect.
    """

    def __init__(self, code: int, body: Any, retry_after: float | None = None) -> None:
        status = body if isinstance(body, dict) else {}
        self.code = code
        self.reason = str(status.get("reason") or "")
        self.message = str(status.get("message") or (body if isinstance(body, str) else "") or f"HTTP {code}").strip()
        details = status.get("details")
        causes = details.get("causes") if isinstance(details, dict) else None
        self.causes = [
            Cause(str(c.get("reason") or ""), str(c.get("field") or ""), str(c.get("message") or ""))
            for c in (causes if isinstance(causes, list) else [])
            if isinstance(c, dict)
        ]
        self.retry_after = retry_after
        self.selector = ""
        self.after_lost = False
        super().__init__(f"{code} {self.reason}: {self.message}")


class ConnectionFailed(Exception):
    """The API server is unreachable, or its response is unreadable; the text is one line.

    sent: the request may have reached the server. final: a retry would fail in the same way.
    """

    def __init__(self, text: str, *, sent: bool = True, final: bool = False) -> None:
        super().__init__(text)
        self.sent = sent
        self.final = final


# urllib3 begins with the request, which the message names already.
_REQUEST: Final = re.compile(r"^\S*HTTPS?Connection.*?[)>]: ")

# The API server's messages for a resource that it does not serve, as JSON and as text.
_NO_SUCH_API = ("could not find the requested resource", "page not found")

_WITHOUT_API: Final = {
    "template.kubevirt.io": "it needs KubeVirt 1.9 or newer without the feature gate Template disabled; the filter"
    " template_process makes VMs of templates in files"
}

# The API server's message for a missing permission.
_FORBIDDEN = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"')

# Messages of admission plugins, which use the same code.
_ENDING = "because it is being terminated"
_QUOTA = "exceeded quota:"

# The API server's messages for another UID: of a DELETE, and of an apply without and with an object of the name.
_OTHER_UID = (
    (409, "Precondition failed: UID"),
    (409, "uid mismatch"),
    (422, "metadata.uid: Invalid value"),
)

_VERBS = {"GET": "get", "LIST": "list", "WATCH": "watch", "POST": "create", "PATCH": "patch", "PUT": "update"}


def explain(error: ApiError | ConnectionFailed, verb: str, kind: Kind | None = None) -> str:
    """One line for the user: the server's message and, if known, the remedy.

    verb: an HTTP method, LIST or WATCH. kind: the kind of the request, to name a missing permission.
    """
    if isinstance(error, ConnectionFailed):
        return str(error)
    message = " ".join(error.message.split())
    if error.code == 400 and error.selector:
        return f"label_selectors: {_malformed(error.selector)} ({message})"
    if error.code == 401:
        return f"the API server rejected the credentials ({message}); log in again, or set another token or kubeconfig"
    if any(words in message for words in TOO_LARGE):
        return f"{message}; move large data such as cloud-init user data into a Secret or ConfigMap"
    if error.code == 403:
        return f"{message}{_permission(error, message, verb, kind)}"
    if error.code == 404 and kind is not None and any(words in message for words in _NO_SUCH_API):
        remedy = _WITHOUT_API.get(kind.group, "check that KubeVirt is installed")
        return f"the cluster has no {kind.plural}.{kind.group} ({kind.api_version}); {remedy}"
    if is_other_object(error):
        return "the object was deleted while the task ran; run the task again"
    if error.code == 409 and error.causes:
        return _conflict(error)
    return message


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
    return error.code == 403 and _FORBIDDEN.search(error.message) is not None


def is_outdated(error: ApiError) -> bool:
    """Whether the server rejects a JSON patch because the object no longer is what the patch tests."""
    return error.code == 422 and not error.causes


def is_other_object(error: ApiError) -> bool:
    """Whether the object with the UID of the request is gone: there is none, or one of the same name."""
    return any(error.code == code and words in error.message for code, words in _OTHER_UID)


def _malformed(text: str) -> str:
    """The error in a label selector that the server rejects.

    If that is not known here, the server's message remains.
    """
    try:
        selector(text)
    except SelectorError as error:
        return str(error)
    return f"{text!r} is not a label selector"


def _permission(error: ApiError, message: str, verb: str, kind: Kind | None) -> str:
    """The remedy for a 403. Admission plugins also respond with 403; then no permission is missing."""
    if _ENDING in message or any(cause.type == "NamespaceTerminating" for cause in error.causes):
        return "; wait until the namespace is deleted, then create it again"
    if _QUOTA in message:
        return "; request less, delete unused objects, or have the quota raised"
    reason = message.partition(" is forbidden: ")[2]
    if reason and not reason.startswith("User ") and _FORBIDDEN.search(message) is None:
        return ""
    rule = _missing(message, verb, kind)
    return f". To permit the request, grant {rule}" if rule else ""


def _missing(message: str, verb: str, kind: Kind | None) -> str:
    """The missing RBAC rule, from the server's message: it may concern a subresource or another object."""
    forbidden = _FORBIDDEN.search(message)
    if forbidden is not None:
        verbs, resource, group = [forbidden["verb"]], forbidden["resource"], forbidden["group"]
    elif kind is not None:
        verbs, resource, group = [_VERBS.get(verb, verb.lower())], kind.plural, kind.group
    else:
        return ""
    if verb == "PATCH" and kind is not None and kind.plural == resource and verbs[0] in ("create", "patch"):
        # Server-side apply of a new object needs both.
        verbs = ["create", "patch"]
    quoted = ", ".join(f'"{name}"' for name in verbs)
    return f'{{apiGroups: ["{group}"], resources: ["{resource}"], verbs: [{quoted}]}}'


def _conflict(error: ApiError) -> str:
    """The managers of a server-side apply conflict, from the causes `conflict with "NAME" using VERSION`."""
    owners: dict[str, list[str]] = {}
    for cause in error.causes:
        owner = cause.message.partition('"')[2].partition('"')[0] or cause.message
        owners.setdefault(owner, []).append(cause.field.lstrip("."))
    return field_conflict(owners)
