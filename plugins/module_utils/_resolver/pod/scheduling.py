"""The labels that a pod's node must have (``NodeSelectorRenderer``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from .environment import Environment
from .traits import Spec, has_sev, has_sev_es, has_snp, has_tdx, is_dedicated

_ARCHITECTURE: Final = "kubernetes.io/arch"
_HYPERV_FEATURES: Final = (
    "vpindex",
    "runtime",
    "reset",
    "synic",
    "synictimer",
    "frequencies",
    "reenlightenment",
    "tlbflush",
    "ipi",
)


def node_selector(spec: Spec, status: Mapping[str, Any], around: Environment) -> dict[str, str]:
    """The node selector of a VMI's pod. status: the VMI's, for its machine and TSC frequency."""
    selector = {"kubevirt.io/schedulable": "true"}
    architecture = spec.get("architecture", "")
    across = around.has_gate("CrossArchitectureVirtualization") and architecture
    if architecture:
        selector[_ARCHITECTURE] = architecture.lower()
    selector.update(around.developer.get("nodeSelectors") or {})
    selector.update(spec.get("nodeSelector") or {})
    if across:
        selector.pop(_ARCHITECTURE, None)
        selector[f"kubevirt.io/vm-arch-{architecture}"] = "true"
    selector.update(dict.fromkeys(_labels(spec, status, around), "true"))
    return selector


def _labels(spec: Spec, status: Mapping[str, Any], around: Environment) -> Iterator[str]:
    rules, domain = around.rules, spec["domain"]
    if is_dedicated(spec):
        yield rules.cpu_manager_label
    if around.has_gate("HypervStrictCheck"):
        yield from _hyperv(domain)
    yield from _cpu(domain)
    machine = (status.get("machine") or {}).get("type") or (domain.get("machine") or {}).get("type")
    if machine and rules.machine_label:
        yield f"machine-type.node.kubevirt.io/{machine}"
    frequency = (status.get("topologyHints") or {}).get("tscFrequency") or 0
    if frequency > 0 and needs_tsc_frequency(spec):
        yield f"scheduling.node.kubevirt.io/tsc-frequency-{frequency}"
    yield from _features(spec, around)


def _features(spec: Spec, around: Environment) -> Iterator[str]:
    rules = around.rules
    if rules.feature_labels and "realtime" in (spec["domain"].get("cpu") or {}):
        yield "kubevirt.io/realtime"
    if rules.feature_labels and (has_sev(spec) or (has_snp(spec) and rules.snp_label)):
        yield "kubevirt.io/sev"
    if rules.feature_labels and has_sev_es(spec):
        yield "kubevirt.io/sev-es"
    if rules.snp_label and has_snp(spec):
        yield "kubevirt.io/sev-snp"
    secure = "launchSecurity" in spec["domain"] and spec.get("architecture") == "s390x"
    if rules.secure_execution_label and secure:
        yield "kubevirt.io/s390-pv"
    if rules.snp_label and has_tdx(spec):
        yield "kubevirt.io/tdx"


def _cpu(domain: Spec) -> Iterator[str]:
    cpu = domain.get("cpu") or {}
    model = cpu.get("model")
    if not model:
        return
    if model not in ("host-model", "host-passthrough"):
        yield f"cpu-model.node.kubevirt.io/{model}"
    for feature in cpu.get("features", ()):
        if feature.get("policy", "") in ("", "require"):
            yield f"cpu-feature.node.kubevirt.io/{feature['name']}"


def _hyperv(domain: Spec) -> Iterator[str]:
    hyperv = (domain.get("features") or {}).get("hyperv") or {}
    for feature in _HYPERV_FEATURES:
        if (hyperv.get(feature) or {}).get("enabled"):
            yield f"hyperv.node.kubevirt.io/{feature}"
    if "evmcs" in hyperv and hyperv["evmcs"].get("enabled", True):
        yield "cpu-vendor.node.kubevirt.io/Intel"


def needs_tsc_frequency(spec: Spec) -> bool:
    """Whether the guest depends on a constant TSC frequency (``GetTscFrequencyRequirement``)."""
    features = (spec["domain"].get("cpu") or {}).get("features", ())
    if any(feature["name"] == "invtsc" and feature.get("policy") in ("require", "force") for feature in features):
        return True
    hyperv = (spec["domain"].get("features") or {}).get("hyperv") or {}
    reenlightenment = hyperv.get("reenlightenment")
    return reenlightenment is not None and reenlightenment.get("enabled", True)
