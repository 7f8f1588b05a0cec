"""A VMI as the cluster stores it, with the defaults of KubeVirt's webhook (``ApplyNewVMIMutations``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..instancetype.vmi.configuration import configuration
from ..instancetype.vmi.maximums import limits
from ..instancetype.vmi.vmi_defaults import NO_LIMITS, has_pcie, select_nodes, set_vmi_defaults
from .environment import Environment
from .scheduling import needs_tsc_frequency
from .traits import Spec, has_tdx

_EVEN_PARITY: Final = "alpha.kubevirt.io/EmulatorThreadCompleteToEvenParity"
_QUOTE_SOCKET: Final = "kubevirt.io/qgs-socket-path"
_DEFAULT_SOCKET: Final = "/var/run/tdx-qgs/qgs.socket"
_PCI_TOPOLOGY: Final = "kubevirt.io/pci-topology-version"


def store(
    metadata: Spec,
    spec: Spec,
    around: Environment,
    live_updates: bool = True,
    kubevirt_annotations: Mapping[str, str] | None = None,
) -> None:
    """Applies the webhook's changes to a new VMI. metadata, spec: canonical, which are changed.

    live_updates: changes of VMs reach running guests in this cluster. kubevirt_annotations: of the KubeVirt object.
    """
    config = configuration(dict(around.configuration), around.architecture)
    allowed = (limits(dict(around.configuration)) if around.configuration else NO_LIMITS) if live_updates else None
    set_vmi_defaults(spec, config, around.configuration.get("cpuModel") or "", allowed, around.release)
    if not around.rules.feature_labels:
        select_nodes(spec)
    added = {}
    if around.rules.pci_topology and has_pcie(spec):
        added[_PCI_TOPOLOGY] = "v3"
    parity = _EVEN_PARITY in (kubevirt_annotations or {}) and around.has_gate("AlignCPUs")
    if parity and spec["domain"]["cpu"].get("isolateEmulatorThread"):
        added[_EVEN_PARITY] = ""
    if around.rules.quote_socket and has_tdx(spec) and _socket(around):
        added[_QUOTE_SOCKET] = _socket(around)
    if added:
        metadata["annotations"] = {**added, **(metadata.get("annotations") or {})}


def _socket(around: Environment) -> str:
    attestation = ((around.configuration.get("confidentialCompute") or {}).get("tdx") or {}).get("attestation") or {}
    return str(attestation.get("qgsSocketPath", _DEFAULT_SOCKET))


def expected_status(spec: Spec, around: Environment) -> dict[str, Any]:
    """The part of a new VMI's status that affects the pod: the cluster's TSC frequency in Hz, if the guest depends on
    it.

    0: the configuration has none, and the frequency of the slowest node counts.
    """
    if spec.get("architecture") != "amd64" or not needs_tsc_frequency(spec):
        return {}
    return {"topologyHints": {"tscFrequency": int(around.developer.get("minimumClusterTSCFrequency") or 0)}}
