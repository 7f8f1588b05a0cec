"""The resources of a VM's guest, and the requests of its pod."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._resolver.api.manifest import Manifest
from ..._resolver.api.quantity import parse
from ..._resolver.api.tree import copy
from ..._resolver.kubevirt.vm.vmi import Spec, guest_figures, has_tdx, is_dedicated, pool_threads
from ..._resolver.kubevirt.vm.vmi_defaults import has_pcie, set_vmi_defaults
from . import behaviour
from .amounts import HUGE_PAGES, PLAIN, amount_texts
from .compute import EVEN_PARITY
from .environment import Environment
from .pod import MigrationSource, Pod, pod
from .scheduling import features, needs_tsc_frequency

_QUOTE_SOCKET: Final = "kubevirt.io/qgs-socket-path"
_DEFAULT_SOCKET: Final = "/var/run/tdx-qgs/qgs.socket"
_PCI_TOPOLOGY: Final = "kubevirt.io/pci-topology-version"


def apply_vmi_webhook(metadata: Spec, spec: Spec, env: Environment) -> None:
    """Applies the webhook's changes to a new VMI. metadata, spec: canonical, which are changed."""
    set_vmi_defaults(spec, env.kubevirt)
    needed = () if env.release.has(behaviour.FEATURE_LABELS) else tuple(features(spec, env.release))
    if needed:
        spec["nodeSelector"] = {**spec.get("nodeSelector", {}), **dict.fromkeys(needed, "")}
    added = {}
    if env.release.has(behaviour.PCI_TOPOLOGY) and has_pcie(spec):
        added[_PCI_TOPOLOGY] = "v3"
    parity = EVEN_PARITY in env.kubevirt.annotations and env.kubevirt.has_gate("AlignCPUs")
    if parity and spec["domain"]["cpu"].get("isolateEmulatorThread"):
        added[EVEN_PARITY] = ""
    attestation = ((env.configuration.get("confidentialCompute") or {}).get("tdx") or {}).get("attestation") or {}
    socket = str(attestation.get("qgsSocketPath", _DEFAULT_SOCKET))
    if env.release.has(behaviour.QUOTE_SOCKET) and has_tdx(spec) and socket:
        added[_QUOTE_SOCKET] = socket
    if added:
        metadata["annotations"] = {**added, **(metadata.get("annotations") or {})}


def expected_status(spec: Spec, env: Environment) -> dict[str, Any]:
    """The part of a new VMI's status that affects the pod: the cluster's TSC frequency in Hz, if the guest depends on
    it. 0: the configuration has none, and the frequency of the slowest node counts.
    """
    if spec.get("architecture") != "amd64" or not needs_tsc_frequency(spec):
        return {}
    frequency = env.kubevirt.developer_configuration.get("minimumClusterTSCFrequency") or 0
    return {"topologyHints": {"tscFrequency": int(frequency)}}


class RenderedVM(NamedTuple):
    """The spec of a VM's VMI as stored, and the VMI's pod."""

    spec: Spec
    pod: Pod


def launch(metadata: Manifest, spec: Spec, env: Environment, source: MigrationSource | None = None) -> RenderedVM:
    """The VMI of a VM that starts or migrates.

    metadata, spec: as virt-controller would write them. env: the environment of its namespace. source: the pod is the
    target of a migration from there. Raises Unrenderable.
    """
    metadata, spec = copy(metadata), copy(spec)
    apply_vmi_webhook(metadata, spec, env)
    return RenderedVM(spec, pod(metadata, spec, env, expected_status(spec, env), source))


def resources(
    metadata: Manifest, spec: Spec, env: Environment, source: MigrationSource | None = None
) -> dict[str, Any]:
    """{guest, pod} of an expanded template's canonical metadata and spec, without absent values.

    guest: `guest_figures` with memory_bytes, max_sockets, max_memory, io_threads. pod: `_summary` of the
    pod that `launch` returns for these arguments, with overcommit_percent and dedicated_cpus.
    """
    launcher_pod = launch(metadata, spec, env, source).pod
    return {"guest": _guest(spec), "pod": {**_sharing(spec, launcher_pod), **_summary(launcher_pod)}}


def _summary(launcher_pod: Pod) -> dict[str, Any]:
    """The figures of a pod, without absent ones: cpu, memory (quantities), memory_bytes, requests, limits, overhead (a
    quantity), overhead_bytes, qos_class, hugepages (quantities by page size), devices (numbers by resource name),
    claims ([{claim, request}]), containers, init_containers, and its scheduling.
    """
    requests, containers = launcher_pod.requests, launcher_pod.containers
    special = {name: amount for name, amount in requests.items() if name not in PLAIN}
    pages = {name: amount.text for name, amount in special.items() if name.startswith(HUGE_PAGES)}
    parts = {
        "cpu": requests["cpu"].text if "cpu" in requests else None,
        "memory": requests["memory"].text,
        "memory_bytes": requests["memory"].value,
        "requests": amount_texts(requests),
        "limits": amount_texts(launcher_pod.limits),
        "overhead": launcher_pod.overhead.text,
        "overhead_bytes": launcher_pod.overhead.value,
        "qos_class": launcher_pod.qos_class,
        "hugepages": {name.removeprefix(HUGE_PAGES): text for name, text in pages.items()},
        "devices": {name: amount.value for name, amount in special.items() if name not in pages},
        "claims": [{"claim": claim["name"], "request": claim.get("request", "")} for claim in containers[0].claims],
        "containers": [container.manifest() for container in containers if not container.init],
        "init_containers": [container.manifest() for container in containers if container.init],
        "node_selector": launcher_pod.node_selector,
        "affinity": launcher_pod.affinity,
        "tolerations": launcher_pod.tolerations,
        "topology_spread_constraints": launcher_pod.spread,
        "resource_claims": launcher_pod.claims,
        "scheduler": launcher_pod.scheduler,
        "priority_class": launcher_pod.priority_class,
        "runtime_class": launcher_pod.runtime_class,
    }
    return {name: value for name, value in parts.items() if value not in (None, {}, [], "")}


def _guest(spec: Spec) -> dict[str, Any]:
    domain = spec["domain"]
    memory = domain.get("memory", {})
    parts = {
        **guest_figures(spec),
        "memory_bytes": parse(memory["guest"]).value if "guest" in memory else None,
        "max_sockets": domain.get("cpu", {}).get("maxSockets"),
        "max_memory": memory.get("maxGuest"),
        "io_threads_policy": domain.get("ioThreadsPolicy"),
        "io_threads": pool_threads(spec) or None,
    }
    return {name: value for name, value in parts.items() if value is not None}


def _sharing(spec: Spec, launcher_pod: Pod) -> dict[str, Any]:
    """The guest's dedicated CPUs, and the part of its memory that the pod does not request."""
    result: dict[str, Any] = {}
    requests, memory = launcher_pod.containers[0].stored_requests, spec["domain"].get("memory", {})
    if is_dedicated(spec) and "cpu" in requests:
        result["dedicated_cpus"] = requests["cpu"].value
    if "guest" in memory and "hugepages" not in memory:
        without = spec["domain"]["resources"].get("overcommitGuestOverhead")
        requested = requests["memory"].nanos - (0 if without else launcher_pod.overhead.nanos)
        guest_memory = parse(memory["guest"]).nanos
        if requested < guest_memory:
            result["overcommit_percent"] = round(100 * (1 - requested / guest_memory), 1)
    return result
