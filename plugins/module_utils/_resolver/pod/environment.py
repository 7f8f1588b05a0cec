"""What a launcher pod depends on besides its VMI: the cluster's KubeVirt, and the namespace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from ..api.quantity import Quantity, parse
from ..api.release import NEWEST, Release
from ..instancetype.vmi.configuration import DEFAULT_ARCHITECTURE, is_valid
from .rules import Rules, rules

_NOTHING: Final[Mapping[str, Any]] = {}


class Environment(NamedTuple):
    """What a pod depends on besides its VMI.

    release: of KubeVirt. configuration: `spec.configuration` of its object. architecture: of VMIs without one.
    namespace_labels: of the VMI's namespace. quotas: `spec.hard` of each ResourceQuota there.
    networks: the resource name that each network attachment definition needs, "" for none, by `name` or
    `namespace/name`. None: unknown, so no network needs any.
    claims: PersistentVolumeClaim name → UID in the namespace, if known.
    """

    release: Release = NEWEST
    configuration: Mapping[str, Any] = _NOTHING
    architecture: str = DEFAULT_ARCHITECTURE
    namespace_labels: Mapping[str, str] = _NOTHING
    quotas: tuple[Mapping[str, Any], ...] = ()
    networks: Mapping[str, str] | None = None
    claims: Mapping[str, str] = _NOTHING

    @property
    def rules(self) -> Rules:
        return rules(self.release)

    @property
    def developer(self) -> Mapping[str, Any]:
        """The developerConfiguration."""
        return self.configuration.get("developerConfiguration") or _NOTHING

    @property
    def emulated(self) -> bool:
        """Whether guests run without the node's hypervisor."""
        return bool(self.developer.get("useEmulation"))

    @property
    def cpu_allocation_ratio(self) -> int:
        return self.developer.get("cpuAllocationRatio") or 10

    @property
    def memory_overcommit(self) -> int:
        """The guests' memory in percent of the requests of their pods."""
        return self.developer.get("memoryOvercommit") or 100

    @property
    def binding_plugins(self) -> Mapping[str, Any]:
        """The registered network binding plugins by name."""
        return (self.configuration.get("network") or _NOTHING).get("binding") or _NOTHING

    def has_gate(self, gate: str) -> bool:
        """Whether a feature gate is on. The release must know it; a gate that is both enabled and disabled is on."""
        if gate not in self.rules.gates:
            return False
        if gate in (self.developer.get("featureGates") or ()):
            return True
        return gate in self.rules.gates_on and gate not in (self.developer.get("disabledFeatureGates") or ())

    def support(self, container: str, kind: str, resource: str) -> Quantity | None:
        """The cluster's setting for support containers of a type (`container-disk`); None for KubeVirt's default.

        kind: requests or limits. resource: cpu or memory.
        """
        for entry in self.configuration.get("supportContainerResources") or ():
            amount = ((entry.get("resources") or {}).get(kind) or {}).get(resource)
            if entry.get("type") == container and amount is not None and parse(str(amount)).nanos:
                return parse(str(amount))
        return None


def environment(
    release: Release = NEWEST,
    configuration: Mapping[str, Any] | None = None,
    architecture: str = DEFAULT_ARCHITECTURE,
    namespace_labels: Mapping[str, str] | None = None,
    quotas: Iterable[Mapping[str, Any]] = (),
    networks: Mapping[str, str] | None = None,
    claims: Mapping[str, str] | None = None,
) -> Environment:
    """The environment of pods. Like KubeVirt, ignores a whole configuration with an invalid value."""
    usable = configuration if configuration and is_valid(dict(configuration)) else {}
    return Environment(release, usable, architecture, namespace_labels or {}, tuple(quotas), networks, claims or {})
