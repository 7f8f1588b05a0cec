"""The affinity of a pod: the VM's own, and KubeVirt's additions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ..api.tree import copy
from .environment import Environment
from .traits import Spec

HOSTNAME: Final = "kubernetes.io/hostname"
# Guests with the CPU model of their host, and no others, avoid nodes with this label.
OBSOLETE_MODEL: Final = "node-labeller.kubevirt.io/obsolete-host-model"

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_RESERVED: Final = "pr.kubevirt.io/"
_WEIGHT: Final = 100


def affinity(spec: Spec, around: Environment) -> dict[str, Any]:
    """The affinity of a VMI's pod, {} if it has none."""
    result: dict[str, Any] = copy(spec.get("affinity") or {})
    for label in _avoided(spec):
        _reject(result, label)
    if around.rules.separates_reservations:
        terms = [_reserved(claim) for claim in sorted({*_reserved_claims(spec, around)})]
        if terms:
            keep_apart(result, *terms)
    if around.has_gate("CrossArchitectureVirtualization") and spec.get("architecture"):
        expression = {"key": "kubernetes.io/arch", "operator": "In", "values": [spec["architecture"].lower()]}
        term = {"weight": _WEIGHT, "preference": {"matchExpressions": [expression]}}
        result.setdefault("nodeAffinity", {}).setdefault(_PREFERRED, []).append(term)
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
    required = result.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {"nodeSelectorTerms": [{}]})
    for term in required["nodeSelectorTerms"]:
        term.setdefault("matchExpressions", []).append({"key": label, "operator": "DoesNotExist"})


def _reserved_claims(spec: Spec, around: Environment) -> Iterator[str]:
    """The UIDs of the claims with SCSI reservations of the guest."""
    volumes = {volume["name"]: volume for volume in spec.get("volumes", ())}
    for disk in spec["domain"]["devices"].get("disks", ()):
        if (disk.get("lun") or {}).get("reservation"):
            uid = around.claims.get(_claim(volumes.get(disk["name"], {})))
            if uid:
                yield uid


def _claim(volume: Spec) -> str:
    if "dataVolume" in volume:
        return str(volume["dataVolume"]["name"])
    source = volume.get("persistentVolumeClaim") or volume.get("memoryDump") or {}
    return str(source.get("claimName", ""))


def _reserved(uid: str) -> dict[str, Any]:
    expression = {"key": f"{_RESERVED}{uid}", "operator": "Exists"}
    return {"labelSelector": {"matchExpressions": [expression]}, "topologyKey": HOSTNAME}


def keep_apart(result: dict[str, Any], *terms: dict[str, Any]) -> None:
    """Adds anti-affinity terms, for pods that must not run on the same node."""
    result.setdefault("podAntiAffinity", {}).setdefault(_REQUIRED, []).extend(terms)
