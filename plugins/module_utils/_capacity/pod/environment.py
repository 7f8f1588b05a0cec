"""The inputs of a launcher pod besides its VMI: KubeVirt's release and the cluster's KubeVirt, and the namespace."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ..._resolver.api.errors import KubeVirtError
from ..._resolver.api.release import Release, differences
from ..._resolver.kubevirt.config.cluster import KubeVirt


class Unrenderable(KubeVirtError):
    """KubeVirt cannot render the pod of a VMI. reason: one line, in KubeVirt's words where it has some."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"KubeVirt cannot create a pod for the VM: {reason}")


class PodRules(NamedTuple):
    """The rules of a release for pods. The defaults are the upcoming release's."""

    # Memory overhead, in Mi.
    fixed_overhead: int = 240  # Memory of the processes in every pod.
    video_overhead: int = 32  # Memory of a graphics device.
    guaranteed_overhead_scales: bool = (
        True  # The cluster's ratio applies to the extra overhead of a guaranteed pod, too.
    )
    snp_overhead: bool = True  # SEV-SNP needs the same memory as SEV.

    # The compute container.
    pool_needs_cpu: bool = True  # Each thread of the supplemental IO thread pool requests a CPU.
    dedicated_wins: bool = True  # Dedicated CPUs replace the CPU that the VM requests.
    sev_device_of_snp: bool = True  # SEV-SNP needs the device of SEV.
    has_tdx_device: bool = True  # TDX needs its own device.
    nameless_devices: bool = False  # A device without a resource name is requested under an empty name.
    claims_once: bool = False  # The first of several requests for a claim counts.
    claims_need_request: bool = False  # A device without a request name claims nothing.

    # The stored VMI.
    pci_topology: bool = True  # With PCI Express it gets an annotation with the version of its topology.
    quote_socket: bool = True  # With TDX it gets an annotation with the socket of the quote generation service.

    # Other containers.
    console_log_is_sidecar: bool = True  # The console log is a restartable init container.

    # Nodes.
    machine_label: bool = True  # They must support the machine type.
    feature_labels: bool = True  # They must support realtime and SEV.
    secure_execution_label: bool = True  # They must support secure execution.
    snp_label: bool = True  # They must support SEV-SNP.
    cpu_manager_label: str = "kubevirt.io/cpumanager"  # The label of nodes with dedicated CPUs.
    separates_reservations: bool = True  # Two guests that reserve the same volume need different nodes.

    # Targets of migrations.
    vendor_label: bool = True  # The CPUs are of one vendor.
    needs_host_model: bool = False  # A guest with host-model does not leave a node without a label for the CPU model.


# Differences before a release, newest first: a release takes all rows above it, and later rows win.
_BEFORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "1.10.0": {"fixed_overhead": 220},
    "1.9.0": {
        "has_tdx_device": False,
        "quote_socket": False,
        "claims_need_request": True,
        "separates_reservations": False,
    },
    "1.8.0": {"claims_once": True, "cpu_manager_label": "cpumanager"},
    "1.7.0": {"snp_overhead": False, "snp_label": False, "sev_device_of_snp": False},
    "1.6.0": {
        "video_overhead": 16,
        "console_log_is_sidecar": False,
        "pci_topology": False,
        "secure_execution_label": False,
        "vendor_label": False,
        "needs_host_model": True,
        "nameless_devices": True,
    },
    "1.5.0": {
        "fixed_overhead": 215,
        "guaranteed_overhead_scales": False,
        "pool_needs_cpu": False,
        "dedicated_wins": False,
        "machine_label": False,
        "feature_labels": False,
    },
}


@cache
def rules(release: Release) -> PodRules:
    """The rules of a release."""
    return PodRules(**differences(_BEFORE, release.version))


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
    def rules(self) -> PodRules:
        return rules(self.kubevirt.release)

    @property
    def configuration(self) -> Mapping[str, Any]:
        return self.kubevirt.configuration

    @property
    def binding_plugins(self) -> Mapping[str, Any]:
        """The registered network binding plugins by name."""
        return self.kubevirt.network.get("binding") or _NOTHING
