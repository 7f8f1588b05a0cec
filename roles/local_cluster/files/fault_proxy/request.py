"""The verb and resource of a request, from its method and address."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import parse_qs

_ONE = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_MANY = {**_ONE, "GET": "list", "HEAD": "list", "DELETE": "deletecollection"}
_READING = ("get", "list", "watch")
# Reviews and expansions use POST or PUT but store nothing.
_ASKING = ("authorization.k8s.io", "authentication.k8s.io", "expand-vm-spec")
_APPLY = "application/apply-patch"


class RequestInfo(NamedTuple):
    """A request.

    target: path and query as sent. verb: as in RBAC, and `apply` for server-side apply.
    resource: PLURAL.GROUP/SUBRESOURCE, group and subresource if any, such as `virtualmachines.kubevirt.io/status`; the
    path for other requests.
    """

    method: str
    target: str
    verb: str
    resource: str
    writes: bool

    @property
    def watches(self) -> bool:
        """Whether the request is a watch."""
        return self.verb == "watch"


def read(method: str, target: str, content_type: str = "") -> RequestInfo:
    """The request; target is path and query."""
    path, _mark, query = target.partition("?")
    group, parts = _split(path)
    if not parts:
        return RequestInfo(method, target, method.lower(), path, False)
    resource, name, subresource = (*parts, "", "")[:3]
    parameters = parse_qs(query)
    verb = (_ONE if name else _MANY).get(method, method.lower())
    if verb in ("get", "list") and parameters.get("watch", [""])[-1] in ("1", "true"):
        verb = "watch"
    elif verb == "patch" and content_type.startswith(_APPLY):
        verb = "apply"
    resource = ".".join(filter(None, (resource, group)))
    if subresource:
        resource += f"/{subresource}"
    writes = verb not in _READING and "dryRun" not in parameters and not any(word in resource for word in _ASKING)
    return RequestInfo(method, target, verb, resource, writes)


def _split(path: str) -> tuple[str, list[str]]:
    """The API group, and the parts after the namespace: plural, name, subresource; [] for other paths."""
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"]:
        group, parts = "", parts[2:]
    elif parts[:1] == ["apis"]:
        group, parts = "".join(parts[1:2]), parts[3:]
    else:
        return "", []
    # A namespace is itself a resource with these two subresources.
    if parts[:1] == ["namespaces"] and len(parts) > 2 and parts[2] not in ("status", "finalize"):
        parts = parts[2:]
    return group, parts
