"""The scheduling of a pod: its labels, its affinity with KubeVirt's additions, and the labels that its node must have
(``podLabels``, ``NodeSelectorRenderer``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ..._resolver.api.manifest import claim_of
from ..._resolver.api.release import Release
from ..._resolver.api.tree import copy
from ..._resolver.kubevirt.vm.vmi import PREFERRED, REQUIRED, Spec, has_sev, has_sev_es, has_snp, has_tdx, is_dedicated
from . import behaviour
from .environment import Environment

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


_HOSTNAME: Final = "kubernetes.io/hostname"
_ARCHITECTURE: Final = "kubernetes.io/arch"
# Guests with the CPU model of their host, and no others, avoid nodes with this label.
OBSOLETE_MODEL: Final = "node-labeller.kubevirt.io/obsolete-host-model"


def affinity(spec: Spec, env: Environment) -> dict[str, Any]:
    """The affinity of a VMI's pod, {} if it has none."""
    result: dict[str, Any] = copy(spec.get("affinity") or {})
    for label in _avoided(spec):
        required = result.setdefault("nodeAffinity", {}).setdefault(REQUIRED, {"nodeSelectorTerms": [{}]})
        # To every term, because one matching term suffices.
        for term in required["nodeSelectorTerms"]:
            term.setdefault("matchExpressions", []).append({"key": label, "operator": "DoesNotExist"})
    for label in _reservations(spec, env):
        _avoid_pods(result, {"matchExpressions": [{"key": label, "operator": "Exists"}]})
    if env.kubevirt.has_gate("CrossArchitectureVirtualization") and spec.get("architecture"):
        expression = {"key": _ARCHITECTURE, "operator": "In", "values": [spec["architecture"].lower()]}
        term = {"weight": 100, "preference": {"matchExpressions": [expression]}}
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


def _reservations(spec: Spec, env: Environment) -> list[str]:
    """A label for each claim that the guest reserves (SCSI)."""
    if not env.release.has(behaviour.SEPARATES_RESERVATIONS):
        return []
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    disks = spec["domain"]["devices"].get("disks", ())
    reserved = {disk["name"] for disk in disks if (disk.get("lun") or {}).get("reservation")}
    uids = {env.claims.get(claim_of(volumes.get(name, {}))) for name in reserved}
    return sorted(f"pr.kubevirt.io/{uid}" for uid in uids if uid)


def away_from(affinity: Mapping[str, Any], uid: str) -> dict[str, Any]:
    """An affinity that also keeps a migration's target off the nodes with pods of its VMI."""
    result = copy(dict(affinity))
    _avoid_pods(result, {"matchLabels": {CREATED_BY: uid}})
    return result


def _avoid_pods(result: dict[str, Any], selector: dict[str, Any]) -> None:
    """Adds anti-affinity to the pods that match a selector."""
    term = {"labelSelector": selector, "topologyKey": _HOSTNAME}
    result.setdefault("podAntiAffinity", {}).setdefault(REQUIRED, []).append(term)


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
    architecture = spec.get("architecture", "")
    selector = {
        "kubevirt.io/schedulable": "true",
        **({_ARCHITECTURE: architecture.lower()} if architecture else {}),
        **(env.kubevirt.developer_configuration.get("nodeSelectors") or {}),
        **(spec.get("nodeSelector") or {}),
    }
    if architecture and env.kubevirt.has_gate("CrossArchitectureVirtualization"):
        selector.pop(_ARCHITECTURE, None)
        selector[f"kubevirt.io/vm-arch-{architecture}"] = "true"
    selector.update(dict.fromkeys(_labels(spec, status, env), "true"))
    return selector


def _labels(spec: Spec, status: Mapping[str, Any], env: Environment) -> Iterator[str]:
    release, domain = env.release, spec["domain"]
    if is_dedicated(spec):
        yield release.pick(behaviour.CPU_MANAGER_LABEL)
    if env.kubevirt.has_gate("HypervStrictCheck"):
        yield from _hyperv(domain)
    yield from _cpu(domain)
    machine = (status.get("machine") or {}).get("type") or (domain.get("machine") or {}).get("type")
    if machine and release.has(behaviour.MACHINE_LABEL):
        yield f"machine-type.node.kubevirt.io/{machine}"
    frequency = (status.get("topologyHints") or {}).get("tscFrequency") or 0
    if frequency > 0 and needs_tsc_frequency(spec):
        yield f"scheduling.node.kubevirt.io/tsc-frequency-{frequency}"
    if release.has(behaviour.FEATURE_LABELS):
        yield from features(spec, release)
    if release.has(behaviour.SNP_LABEL) and has_snp(spec):
        yield "kubevirt.io/sev-snp"
    if (
        release.has(behaviour.SECURE_EXECUTION_LABEL)
        and "launchSecurity" in domain
        and spec.get("architecture") == "s390x"
    ):
        yield "kubevirt.io/s390-pv"
    if release.has(behaviour.SNP_LABEL) and has_tdx(spec):
        yield "kubevirt.io/tdx"


def features(spec: Spec, release: Release) -> Iterator[str]:
    """The labels of the node that a realtime or SEV guest needs."""
    if "realtime" in (spec["domain"].get("cpu") or {}):
        yield "kubevirt.io/realtime"
    if has_sev(spec) or (has_snp(spec) and release.has(behaviour.SNP_LABEL)):
        yield "kubevirt.io/sev"
    if has_sev_es(spec):
        yield "kubevirt.io/sev-es"


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
    invariant = any(
        feature["name"] == "invtsc" and feature.get("policy") in ("require", "force") for feature in features
    )
    hyperv = (spec["domain"].get("features") or {}).get("hyperv") or {}
    return invariant or ("reenlightenment" in hyperv and hyperv["reenlightenment"].get("enabled", True))
