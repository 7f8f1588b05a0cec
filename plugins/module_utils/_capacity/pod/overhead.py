"""The memory that a pod needs in addition to its guest's (``GetMemoryOverhead``, ``MemoryCalculator``)."""

from __future__ import annotations

from typing import Final

from ..._resolver.api.quantity import BINARY_SI, DECIMAL_SI, Quantity, from_nanos, parse
from ..._resolver.kubevirt.vm.vmi import Spec, has_sev, has_snp, is_guaranteed, vcpus
from . import behaviour
from .environment import Environment

_NANO: Final = 10**9
_KILO: Final = 1000 * _NANO
_MI: Final = 2**20 * _NANO

# In Mi.
_GUARANTEED: Final = 100
_PASST: Final = 250


def overhead(spec: Spec, env: Environment) -> Quantity:
    """The memory overhead of a VMI's pod. spec: its canonical spec, as stored."""
    tables = _page_tables(spec)
    reserved = ((spec["domain"].get("memory") or {}).get("reservedOverhead") or {}).get("addedOverhead")
    nanos = tables + _mebibytes(spec, env) * _MI + (parse(reserved).nanos if reserved is not None else 0)
    guaranteed = _GUARANTEED * _MI if is_guaranteed(spec) else 0
    if env.release.has(behaviour.GUARANTEED_OVERHEAD_SCALES):
        nanos = _scaled(nanos + guaranteed, env)
    else:
        nanos = _scaled(nanos, env) + guaranteed
    # The first summand decides the format of the sum, like in Go.
    return from_nanos(nanos + _network(spec, env), DECIMAL_SI if tables else BINARY_SI)


def _page_tables(spec: Spec) -> int:
    """One bit for each 512 bits of the VM's own memory request; guest memory alone does not count."""
    request = (spec["domain"]["resources"].get("requests") or {}).get("memory")
    if request is None:
        return 0
    kilobytes = -(-parse(request).nanos // _KILO)
    return kilobytes * 1000 // 512 * _NANO


def _mebibytes(spec: Spec, env: Environment) -> int:
    """The memory for KubeVirt's processes, the hypervisor and what it emulates, in Mi."""
    domain, release = spec["domain"], env.release
    devices = domain["devices"]
    passes_devices = devices.get("gpus") or devices.get("hostDevices")
    sriov = any("sriov" in interface for interface in devices.get("interfaces", ()))
    probes = sum("exec" in (spec.get(probe) or {}) for probe in ("livenessProbe", "readinessProbe"))
    parts = {
        "processes": release.pick(behaviour.PROCESSES),
        "CPUs": 8 * max(vcpus(domain.get("cpu")), 1),
        "IO threads": 8,
        "graphics": release.pick(behaviour.GRAPHICS) if devices.get("autoattachGraphicsDevice", True) else 0,
        "flash": 128 if (spec.get("architecture") or env.kubevirt.architecture) == "arm64" else 0,
        "VFIO": 1024 if passes_devices or sriov else 0,
        "metrics": 1 if any("downwardMetrics" in volume for volume in spec.get("volumes", ())) else 0,
        "probes": 100 + 10 * probes if probes else 0,
        "SEV": 256 if has_sev(spec) or (has_snp(spec) and release.has(behaviour.SNP_OVERHEAD)) else 0,
        "TPM": 53 if "tpm" in devices and devices["tpm"].get("enabled", True) else 0,
    }
    return sum(parts.values())


def _scaled(nanos: int, env: Environment) -> int:
    """The amount times the cluster's additionalGuestMemoryOverheadRatio, in kilobytes and floats as in KubeVirt."""
    text = env.configuration.get("additionalGuestMemoryOverheadRatio")
    try:
        ratio = float(text or "")
    except ValueError:
        return nanos
    return nanos + int(float(-(-nanos // _KILO)) * (ratio - 1.0)) * _KILO


def _network(spec: Spec, env: Environment) -> int:
    interfaces = spec["domain"]["devices"].get("interfaces", ())
    nanos = _PASST * _MI if any("passtBinding" in interface for interface in interfaces) else 0
    names = dict.fromkeys(interface["binding"]["name"] for interface in interfaces if "binding" in interface)
    for name in names:
        plugin = env.binding_plugins.get(name) or {}
        request = ((plugin.get("computeResourceOverhead") or {}).get("requests") or {}).get("memory")
        nanos += parse(str(request)).nanos if request is not None else 0
    return nanos
