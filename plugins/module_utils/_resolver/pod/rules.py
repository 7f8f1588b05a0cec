"""What the launcher pods of KubeVirt releases do differently, as values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from ..api.release import Release, differences

_GATES_OF_1_5: Final = frozenset(("AlignCPUs", "HypervStrictCheck"))
_GATES_OF_1_4: Final = _GATES_OF_1_5 | {"AutoResourceLimitsGate"}
_GATES_OF_1_6: Final = _GATES_OF_1_5 | {"ImageVolume", "GPUsWithDRA", "HostDevicesWithDRA"}
_GATES_OF_1_8: Final = _GATES_OF_1_6 | {
    "ConfigurableHypervisor",
    "ExternalNetResourceInjection",
    "VmiMemoryOverheadReport",
}
_GATES_OF_1_9: Final = _GATES_OF_1_8 | {"CrossArchitectureVirtualization", "IOMMUFD", "NetworkDevicesWithDRA"}
_ON_BY_DEFAULT: Final = frozenset(
    ("ImageVolume", "GPUsWithDRA", "HostDevicesWithDRA", "ExternalNetResourceInjection", "VmiMemoryOverheadReport")
)


class Rules(NamedTuple):
    """How the pods of a release are made. The defaults are those of the newest release, and so is how a name reads.

    gates: the feature gates that decide on a pod and that the release knows. gates_on: those on without being enabled.

    Memory overhead (in Mi):
    fixed_overhead: of the processes in every pod. video_overhead: of a graphics device.
    guaranteed_overhead_scales: what a guaranteed pod needs more is multiplied by the cluster's ratio, too.
    snp_overhead: SEV-SNP needs memory as SEV does.

    Compute container:
    pool_needs_cpu: each thread of the supplemental IO thread pool requests a CPU.
    dedicated_wins: dedicated CPUs replace the CPU that the VM requests. limits_gate: the gate of automatic limits, ""
    for none. sev_device_of_snp: SEV-SNP needs the device of SEV. has_tdx_device: TDX needs one of its own.
    nameless_devices: a device without a resource name is requested under an empty one.
    claims_once: of several requests to one claim the first counts. claims_need_request: a device without a request
    name claims nothing. checks_claimed_devices: permittedHostDevices counts for devices with claims, too.

    Stored VMI:
    pci_topology: a VMI with PCI Express is annotated with the version of its topology. quote_socket: one with TDX with
    the socket of the quote generation service.

    Other containers:
    console_log_is_sidecar: the log of the console is a restartable init container.

    Nodes:
    machine_label: a node has to support the machine type. feature_labels: one has to support realtime and SEV.
    secure_execution_label, snp_label: likewise. cpu_manager_label: of nodes that give out dedicated CPUs.
    separates_reservations: no two guests with one reserved volume on a node.

    Migration targets:
    added_node_selector: that of a migration counts. vendor_label: the CPUs are of one vendor.
    needs_host_model: without a label of its node's CPU model a guest of that model does not migrate.
    """

    gates: frozenset[str] = _GATES_OF_1_9
    gates_on: frozenset[str] = _ON_BY_DEFAULT

    fixed_overhead: int = 220
    video_overhead: int = 32
    guaranteed_overhead_scales: bool = True
    snp_overhead: bool = True

    pool_needs_cpu: bool = True
    dedicated_wins: bool = True
    limits_gate: str = ""
    sev_device_of_snp: bool = True
    has_tdx_device: bool = True
    nameless_devices: bool = False
    claims_once: bool = False
    claims_need_request: bool = False
    checks_claimed_devices: bool = True

    pci_topology: bool = True
    quote_socket: bool = True

    console_log_is_sidecar: bool = True

    machine_label: bool = True
    feature_labels: bool = True
    secure_execution_label: bool = True
    snp_label: bool = True
    cpu_manager_label: str = "kubevirt.io/cpumanager"
    separates_reservations: bool = True

    added_node_selector: bool = True
    vendor_label: bool = True
    needs_host_model: bool = False


# What was different before a release, newest first: a release takes all rows above it, a later row wins.
_BEFORE: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    (
        "1.9.0",
        {
            "gates": _GATES_OF_1_8,
            "gates_on": frozenset(),
            "has_tdx_device": False,
            "quote_socket": False,
            "claims_need_request": True,
            "checks_claimed_devices": False,
            "separates_reservations": False,
        },
    ),
    ("1.8.0", {"gates": _GATES_OF_1_6, "claims_once": True, "cpu_manager_label": "cpumanager"}),
    ("1.7.0", {"snp_overhead": False, "snp_label": False, "sev_device_of_snp": False}),
    (
        "1.6.0",
        {
            "gates": _GATES_OF_1_5,
            "video_overhead": 16,
            "console_log_is_sidecar": False,
            "pci_topology": False,
            "secure_execution_label": False,
            "added_node_selector": False,
            "vendor_label": False,
            "needs_host_model": True,
            "nameless_devices": True,
        },
    ),
    (
        "1.5.0",
        {
            "gates": _GATES_OF_1_4,
            "fixed_overhead": 215,
            "guaranteed_overhead_scales": False,
            "pool_needs_cpu": False,
            "dedicated_wins": False,
            "limits_gate": "AutoResourceLimitsGate",
            "machine_label": False,
            "feature_labels": False,
        },
    ),
)


@cache
def rules(release: Release) -> Rules:
    """The rules of a release."""
    return Rules(**differences(_BEFORE, release.version))
