"""The scheduling of a pod: its labels, its affinity with KubeVirt's additions, and the labels that its node must have
(``podLabels``, ``NodeSelectorRenderer``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._resolver.api.manifest import claim_of
from ..._resolver.api.tree import copy
from ..._resolver.kubevirt.vmi.vmi import PREFERRED, REQUIRED, Spec, has_sev, has_sev_es, has_snp, has_tdx, is_dedicated
from .environment import Environment, PodRules

CREATED_BY: Final = "kubevirt.io/created-by"

_LONGEST: Final = 63


def labels(metadata: Mapping[str, Any], spec: Spec, env: Environment) -> dict[str, str]:
    """The labels of a VMI's pod, without a name that is too long for a label."""
    name = str(metadata.get("name", ""))
    return {
        **(metadata.get("labels") or {}),
        "kubevirt.io": "virt-launcher",
        CREATED_BY: metadata.get("uid", ""),
        "vm.kubevirt.io/name": spec.get("hostname") or name.split(".", maxsplit=1)[0][:_LONGEST],
        **({"vmi.kubevirt.io/id": name} if len(name) <= _LONGEST else {}),
        **dict.fromkeys(_reservations(spec, env), ""),
    }


HOSTNAME: Final = "kubernetes.io/hostname"
# Guests with the CPU model of their host, and no others, avoid nodes with this label.
OBSOLETE_MODEL: Final = "node-labeller.kubevirt.io/obsolete-host-model"

_RESERVED: Final = "pr.kubevirt.io/"
_WEIGHT: Final = 100


def affinity(spec: Spec, env: Environment) -> dict[str, Any]:
    """The affinity of a VMI's pod, {} if it has none."""
    result: dict[str, Any] = copy(spec.get("affinity") or {})
    expression: dict[str, Any]
    for label in _avoided(spec):
        _reject(result, label)
    for label in _reservations(spec, env):
        expression = {"key": label, "operator": "Exists"}
        add_pod_anti_affinity(result, {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": HOSTNAME})
    if env.kubevirt.has_gate("CrossArchitectureVirtualization") and spec.get("architecture"):
        expression = {"key": "kubernetes.io/arch", "operator": "In", "values": [spec["architecture"].lower()]}
        term = {"weight": _WEIGHT, "preference": {"matchExpressions": [expression]}}
        result.setdefault("nodeAffinity", {}).setdefault(PREFERRED, []).append(term)
    return result


def _avoided(spec: Spec) -> Iterator[str]:
    """The labels that the pod's node must not have."""
    cpu = spec["domain"].get("cpu") or {}
    if cpu.get("model", "") in ("", "host-model"):
        yield OBSOLETE_MODEL
    for feature in cpu.get("features", ()):
        if feature.get("policy") == "forbid":
            yield f"cpu-feature.node.kubevirt.io/{feature['name']}"


def _reject(result: dict[str, Any], label: str) -> None:
    """Adds the expression to every term of the node selector, because one matching term suffices."""
    required = result.setdefault("nodeAffinity", {}).setdefault(REQUIRED, {"nodeSelectorTerms": [{}]})
    for term in required["nodeSelectorTerms"]:
        term.setdefault("matchExpressions", []).append({"key": label, "operator": "DoesNotExist"})


def _reservations(spec: Spec, env: Environment) -> list[str]:
    """A label for each claim that the guest reserves (SCSI)."""
    if not env.rules.separates_reservations:
        return []
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    disks = spec["domain"]["devices"].get("disks", ())
    reserved = {disk["name"] for disk in disks if (disk.get("lun") or {}).get("reservation")}
    uids = {env.claims.get(claim_of(volumes.get(name, {}))) for name in reserved}
    return sorted(f"{_RESERVED}{uid}" for uid in uids if uid)


def add_pod_anti_affinity(result: dict[str, Any], *terms: dict[str, Any]) -> None:
    """Adds anti-affinity terms, for pods that must not run on the same node."""
    result.setdefault("podAntiAffinity", {}).setdefault(REQUIRED, []).extend(terms)


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


def node_selector(spec: Spec, status: Mapping[str, Any], env: Environment) -> dict[str, str]:
    """The node selector of a VMI's pod. status: the VMI's, for its machine and TSC frequency."""
    selector = {"kubevirt.io/schedulable": "true"}
    architecture = spec.get("architecture", "")
    across = env.kubevirt.has_gate("CrossArchitectureVirtualization") and architecture
    if architecture:
        selector[_ARCHITECTURE] = architecture.lower()
    selector.update(env.kubevirt.developer_configuration.get("nodeSelectors") or {})
    selector.update(spec.get("nodeSelector") or {})
    if across:
        selector.pop(_ARCHITECTURE, None)
        selector[f"kubevirt.io/vm-arch-{architecture}"] = "true"
    selector.update(dict.fromkeys(_labels(spec, status, env), "true"))
    return selector


def _labels(spec: Spec, status: Mapping[str, Any], env: Environment) -> Iterator[str]:
    rules, domain = env.rules, spec["domain"]
    if is_dedicated(spec):
        yield rules.cpu_manager_label
    if env.kubevirt.has_gate("HypervStrictCheck"):
        yield from _hyperv(domain)
    yield from _cpu(domain)
    machine = (status.get("machine") or {}).get("type") or (domain.get("machine") or {}).get("type")
    if machine and rules.machine_label:
        yield f"machine-type.node.kubevirt.io/{machine}"
    frequency = (status.get("topologyHints") or {}).get("tscFrequency") or 0
    if frequency > 0 and needs_tsc_frequency(spec):
        yield f"scheduling.node.kubevirt.io/tsc-frequency-{frequency}"
    if rules.feature_labels:
        yield from features(spec, rules)
    yield from _other_features(spec, rules)


def features(spec: Spec, rules: PodRules) -> Iterator[str]:
    """The labels of the node that a realtime or SEV guest needs."""
    if "realtime" in (spec["domain"].get("cpu") or {}):
        yield "kubevirt.io/realtime"
    if has_sev(spec) or (has_snp(spec) and rules.snp_label):
        yield "kubevirt.io/sev"
    if has_sev_es(spec):
        yield "kubevirt.io/sev-es"


def _other_features(spec: Spec, rules: PodRules) -> Iterator[str]:
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
