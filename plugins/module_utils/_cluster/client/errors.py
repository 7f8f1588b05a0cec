"""Errors of the API server and of the connection, explained in one line with the remedy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ..._resolver.api.errors import Cause, FieldError
from ..._resolver.secrets.redaction import without_logins

_T = TypeVar("_T")
_D = TypeVar("_D")

TOO_LARGE: Final = ("etcdserver: request is too large", "trying to send message larger than max", "limit is 3145728")
"""The API server's messages for an object that is too large for etcd."""


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
        message = " ".join(self.message.split())
        if self.code == 400 and self.selector:
            return f"label_selectors: {_malformed(self.selector)} ({message})"
        if self.code == 401:
            return (
                f"the API server rejected the credentials ({message}); log in again, or set another token or kubeconfig"
            )
        if any(words in message for words in TOO_LARGE):
            return f"{message}; move large data such as cloud-init user data into a Secret or ConfigMap"
        if self.code == 403:
            return f"{message}{_permission(self, message)}"
        resource = _RESOURCE.match(self.path)
        if self.code == 404 and resource is not None and any(words in message for words in _NO_SUCH_API):
            group, version, plural = resource["group"] or "", resource["version"], resource["plural"]
            remedy = _WITHOUT_API.get(group, "check that KubeVirt is installed")
            return f"the cluster has no {plural}.{group} ({group}/{version}); {remedy}"
        if is_other_object(self):
            return "the object was deleted while the task ran; run the task again"
        if self.code == 409 and self.causes:
            return _conflict(self)
        return message


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

# The API server's messages for a resource that it does not serve, as JSON and as text.
_NO_SUCH_API = ("could not find the requested resource", "page not found")

_WITHOUT_API: Final = {
    "template.kubevirt.io": "it needs KubeVirt 1.9 or newer without the feature gate Template disabled; the filter"
    " template_process makes VMs of templates in files"
}

# The API server's message for a missing permission.
_FORBIDDEN = re.compile(r'cannot (?P<verb>\w+) resource "(?P<resource>[^"]+)" in API group "(?P<group>[^"]*)"')

# How that message ends.
_SCOPE = re.compile(r' (?:in the namespace "(?P<namespace>[^"]+)"|at the cluster scope)')

# Messages of admission plugins, which use the same code.
_ENDING = "because it is being terminated"
_QUOTA = "exceeded quota:"

# The API server's messages if the UID differs: for a DELETE, an apply without an object, and an apply with one.
_OTHER_UID = (
    (409, "Precondition failed: UID"),
    (409, "uid mismatch"),
    (422, "metadata.uid: Invalid value"),
)

_VERBS = {"WATCH": "watch", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
_RESOURCE = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[^/]+)(?P<name>/[^/]+)?(?P<subresource>/.+)?$"
)


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
    from ..._resolver.api.label_selector import selector

    try:
        selector(text)
    except FieldError as error:
        return str(error)
    return f"{text!r} is not a label selector"


def _permission(error: ApiError, message: str) -> str:
    """The remedy for a 403. Admission plugins also respond with 403; then no permission is missing."""
    if _ENDING in message or any(cause.type == "NamespaceTerminating" for cause in error.causes):
        return "; wait until the namespace is deleted, then create it again"
    if _QUOTA in message:
        return "; request less, delete unused objects, or have the quota raised"
    reason = message.partition(" is forbidden: ")[2]
    if reason and not reason.startswith("User ") and _FORBIDDEN.search(message) is None:
        return ""
    rule = _missing(error, message)
    return f". To permit the request, grant {rule}" if rule else ""


def _missing(error: ApiError, message: str) -> str:
    """The missing RBAC rule, from the server's message: it may concern a subresource or another object."""
    requested, forbidden = _RESOURCE.match(error.path), _FORBIDDEN.search(message)
    if forbidden is not None:
        verb, resource, group = forbidden["verb"], forbidden["resource"], forbidden["group"]
    elif requested is not None:
        verb = _VERBS.get(error.verb) or ("get" if requested["name"] else "list")
        resource, group = requested["plural"] + (requested["subresource"] or ""), requested["group"] or ""
    else:
        return ""
    verbs = [verb]
    if (
        error.verb == "PATCH"
        and requested is not None
        and requested["plural"] == resource
        and verb in ("create", "patch")
    ):
        # Server-side apply of a new object needs both.
        verbs = ["create", "patch"]
    quoted = ", ".join(f'"{name}"' for name in verbs)
    rule = f'{{apiGroups: ["{group}"], resources: ["{resource}"], verbs: [{quoted}]}}'
    namespace = _namespace(requested, forbidden, message)
    if namespace is None:
        return rule
    return f"{rule} in a {f'Role of the namespace {namespace}' if namespace else 'ClusterRole'}"


def _namespace(requested: re.Match[str] | None, forbidden: re.Match[str] | None, message: str) -> str | None:
    """The namespace in which the missing right suffices; "" for the whole cluster, None if neither is known.

    The server's message is of the denied request, which a webhook or the garbage collector may have made.
    """
    if forbidden is not None:
        scope = _SCOPE.match(message, forbidden.end())
        if scope is not None:
            return scope["namespace"] or ""
    return (requested["namespace"] or "") if requested is not None else None


def _conflict(error: ApiError) -> str:
    """The managers of a server-side apply conflict, from the causes `conflict with "NAME" using VERSION`."""
    from ..._resolver.ownership.writers import field_conflict

    owners: dict[str, list[str]] = {}
    for cause in error.causes:
        owner = cause.message.partition('"')[2].partition('"')[0] or cause.message
        owners.setdefault(owner, []).append(cause.field.lstrip("."))
    return field_conflict(owners)
