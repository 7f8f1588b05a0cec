"""What the API server's refusals mean, in one line with the remedy. Only a failure imports this file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ..._resolver.api.errors import Cause, FieldError
from .messages import FORBIDDEN, TOO_LARGE, says_other_object

# The API server's messages for a resource that it does not serve, as JSON and as text.
_NO_SUCH_API = ("could not find the requested resource", "page not found")

_WITHOUT_API: Final = {
    "template.kubevirt.io": "it needs KubeVirt 1.9 or newer without the feature gate Template disabled; the filter"
    " template_process makes VMs of templates in files"
}

# How that message ends.
_SCOPE = re.compile(r' (?:in the namespace "(?P<namespace>[^"]+)"|at the cluster scope)')

# Messages of admission plugins, which use the same code.
_ENDING = "because it is being terminated"
_QUOTA = "exceeded quota:"

_VERBS = {"WATCH": "watch", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}
_RESOURCE = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[^/]+)(?P<name>/[^/]+)?(?P<subresource>/.+)?$"
)


def explained(code: int, text: str, causes: Sequence[Cause], verb: str, path: str, selector: str) -> str:
    """The server's message, and the remedy if it is known. For the arguments see `errors.ApiError`."""
    message = " ".join(text.split())
    if code == 400 and selector:
        return f"label_selectors: {_malformed(selector)} ({message})"
    if code == 401:
        return f"the API server rejected the credentials ({message}); log in again, or set another token or kubeconfig"
    if any(words in message for words in TOO_LARGE):
        return f"{message}; move large data such as cloud-init user data into a Secret or ConfigMap"
    if code == 403:
        return f"{message}{_permission(message, causes, verb, path)}"
    resource = _RESOURCE.match(path)
    if code == 404 and resource is not None and any(words in message for words in _NO_SUCH_API):
        group, version, plural = resource["group"] or "", resource["version"], resource["plural"]
        remedy = _WITHOUT_API.get(group, "check that KubeVirt is installed")
        return f"the cluster has no {plural}.{group} ({group}/{version}); {remedy}"
    if says_other_object(code, text):
        return "the object was deleted while the task ran; run the task again"
    if code == 409 and causes:
        return _conflict(causes)
    return message


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


def _permission(message: str, causes: Sequence[Cause], verb: str, path: str) -> str:
    """The remedy for a 403. Admission plugins also respond with 403; then no permission is missing."""
    if _ENDING in message or any(cause.type == "NamespaceTerminating" for cause in causes):
        return "; wait until the namespace is deleted, then create it again"
    if _QUOTA in message:
        return "; request less, delete unused objects, or have the quota raised"
    reason = message.partition(" is forbidden: ")[2]
    if reason and not reason.startswith("User ") and FORBIDDEN.search(message) is None:
        return ""
    rule = _missing(message, verb, path)
    return f". To permit the request, grant {rule}" if rule else ""


def _missing(message: str, method: str, path: str) -> str:
    """The missing RBAC rule, from the server's message: it may concern a subresource or another object."""
    requested, forbidden = _RESOURCE.match(path), FORBIDDEN.search(message)
    if forbidden is not None:
        verb, resource, group = forbidden["verb"], forbidden["resource"], forbidden["group"]
    elif requested is not None:
        verb = _VERBS.get(method) or ("get" if requested["name"] else "list")
        resource, group = requested["plural"] + (requested["subresource"] or ""), requested["group"] or ""
    else:
        return ""
    verbs = [verb]
    if method == "PATCH" and requested is not None and requested["plural"] == resource and verb in ("create", "patch"):
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


def _conflict(causes: Sequence[Cause]) -> str:
    """The managers of a server-side apply conflict, from the causes `conflict with "NAME" using VERSION`."""
    from ..._resolver.ownership.writers import field_conflict

    owners: dict[str, list[str]] = {}
    for cause in causes:
        owner = cause.message.partition('"')[2].partition('"')[0] or cause.message
        owners.setdefault(owner, []).append(cause.field.lstrip("."))
    return field_conflict(owners)
