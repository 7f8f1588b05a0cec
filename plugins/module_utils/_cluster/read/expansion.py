"""VMs as virt-api expands them, compared with the resolver's result."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..._resolver.api import release_schema
from ..._resolver.api.kinds import Kind
from ..._resolver.api.redaction import redact
from ..._resolver.api.release import NEWEST
from ..._resolver.api.tree import differences
from ..._resolver.kubevirt.vmi import expand as resolver
from ..._resolver.kubevirt.vmi.cluster import KubeVirt
from ..._resolver.preflight.object_keys import keys_for_expansion
from ..client.errors import ApiError, explain
from ..client.pool import map_concurrently
from ..client.session import Session
from .kubevirt import kubevirt
from .lookup import ClusterLookup

Manifest = dict[str, Any]

_STORED = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines", True)
_DENIED = (401, 403)


@dataclass
class Expansion:
    """Both expansions of a VM.

    server, resolver: the spec, without secrets; None with an error. differences: [{field, server, resolver}], in the
    spec.
    """

    server: Manifest | None = None
    server_error: str | None = None
    resolver: Manifest | None = None
    resolver_error: str | None = None
    differences: list[dict[str, Any]] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether both results are equal; equal errors count too."""
        if self.server_error is not None or self.resolver_error is not None:
            # The server's message has a prefix.
            return bool(self.resolver_error) and str(self.server_error).endswith(str(self.resolver_error))
        return not self.differences


def expand_vms(session: Session, vms: list[Manifest], concurrency: int) -> list[Expansion]:
    """Expands VMs of the cluster, in order. Raises ApiError if the user may not, and ConnectionFailed."""
    if not vms:
        return []
    cluster = kubevirt(session)
    lookup = ClusterLookup(session)
    lookup.gather(key for vm in vms for key in keys_for_expansion(vm, cluster.release))
    expansions = map_concurrently(lambda vm: _server_expansion(session, vm), vms, concurrency)
    return [_compare(vm, expansion, lookup, cluster) for vm, expansion in zip(vms, expansions)]


def _server_expansion(session: Session, vm: Manifest) -> Manifest | str:
    """The VM as virt-api expands it, or the error."""
    path = _STORED.path(vm["metadata"]["namespace"], vm["metadata"]["name"], "expand-spec")
    try:
        # virt-api responds with 500 if it cannot expand a VM; a retry does not help.
        expanded: Manifest = session.request("GET", path, final=(500,))
    except ApiError as error:
        if error.code in _DENIED:
            raise
        return explain(error, "GET")
    return expanded


def _compare(vm: Manifest, expanded: Manifest | str, lookup: ClusterLookup, cluster: KubeVirt) -> Expansion:
    result = Expansion()
    own = resolver.expand(vm, lookup, cluster.configuration, cluster.release)
    unread: list[dict[str, Any]] = []
    if isinstance(expanded, str):
        result.server_error = expanded
    else:
        # Fields that the resolver does not know are also differences.
        unknown = release_schema.unknown("VirtualMachineSpec", expanded.get("spec"), NEWEST)
        unread = [{"field": field.path, "server": field.value, "resolver": None} for field in unknown]
        result.server = release_schema.canonical("VirtualMachine", expanded, cluster.release)["spec"]
    if own.error is not None or own.vm is None:
        result.resolver_error = own.error.message if own.error is not None else "the VM cannot be expanded"
    else:
        result.resolver = own.vm["spec"]
    result.server, result.resolver = redact(result.server, result.resolver)
    if result.server is not None and result.resolver is not None:
        result.differences = [
            {"field": difference["field"], "server": difference["before"], "resolver": difference["after"]}
            for difference in differences(result.server, result.resolver)
        ] + unread
    return result
