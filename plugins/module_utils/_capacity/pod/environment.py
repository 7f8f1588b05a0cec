"""The inputs of a launcher pod besides its VMI: KubeVirt's release and the cluster's KubeVirt, and the namespace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.release import Release
from ..._resolver.kubevirt.cluster import KubeVirt


class Unrenderable(KubeVirtError):
    """KubeVirt cannot render the pod of a VMI. reason: one line, in KubeVirt's words where it has some."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"KubeVirt cannot create a pod for the VM: {reason}")


_NOTHING: Final[Mapping[str, Any]] = {}


class Environment(NamedTuple):
    """The inputs of a pod besides its VMI.

    namespace_labels: the labels of the VMI's namespace. quotas: `spec.hard` of each ResourceQuota there.
    networks: the resource name that each network attachment definition needs, "" for none, by `name` or
    `namespace/name`. None: unknown, so no network needs any.
    claims: PersistentVolumeClaim name → UID in the namespace, if known.
    """

    kubevirt: KubeVirt
    namespace_labels: Mapping[str, str] = _NOTHING
    quotas: tuple[Mapping[str, Any], ...] = ()
    networks: Mapping[str, str] | None = None
    claims: Mapping[str, str] = _NOTHING

    @property
    def release(self) -> Release:
        return self.kubevirt.release

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self.kubevirt.configuration

    @property
    def binding_plugins(self) -> Mapping[str, Any]:
        """The registered network binding plugins by name."""
        return self.kubevirt.network.get("binding") or _NOTHING
