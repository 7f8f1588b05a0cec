"""Made-up namespaces: ResourceQuotas, LimitRanges, and pods and claims that are created there one after the other.

The same seed gives the same. A third of the pods are launcher pods that KubeVirt's own code has written.
"""

import gzip
import json
import random
from functools import cache
from pathlib import Path
from typing import Any, Final

Manifest = dict[str, Any]

NAMESPACES: Final = 100
PRIORITY_CLASSES: Final = ("gold", "iron")
STORAGE_CLASSES: Final = ("fast", "slow")
GPU: Final = "example.com/gpu"
HUGE: Final = "hugepages-2Mi"
CONTRADICTORY: Final = 40
_PODS: Final = 6
_CLAIMS: Final = 2
_VECTORS: Final = Path(__file__).parents[1] / "pod_resources" / "vectors" / "vectors"
# The resources that the API server permits in a quota with scopes.
_SCOPED: Final = ("cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods")
_AMOUNTS: Final = {
    "cpu": ("100m", "250m", "1", "1500m", "2"),
    "memory": ("64Mi", "512Mi", "1Gi", "1500M", "3Gi"),
    "ephemeral-storage": ("50M", "1G", "2Gi"),
}


def namespace(seed: int) -> Manifest:
    """{quotas, limit_ranges, objects}: objects are Pods and PersistentVolumeClaims."""
    draw = random.Random(seed)
    pods = [_launcher(draw) if draw.random() < 0.35 else _pod(draw) for _number in range(_PODS)]
    claims = [_claim(draw) for _number in range(_CLAIMS)]
    objects = [*pods, *claims]
    draw.shuffle(objects)
    for number, item in enumerate(objects):
        item["metadata"] = {"name": f"new-{number}"}
    ranges = [_limit_range(draw)] if draw.random() < 0.45 else []
    if ranges and draw.random() < 0.3:
        ranges.append({"metadata": {"name": "sums"}, "spec": {"limits": [_sums(draw)]}})
    return {
        "quotas": [_quota(draw, number) for number in range(draw.choice((1, 1, 2, 2, 3)))],
        "limit_ranges": ranges,
        "objects": objects,
    }


def contradiction(seed: int) -> Manifest:
    """{quotas, limit_ranges, objects}: two or three LimitRanges with other defaults, minima and maxima, and pods."""
    draw = random.Random(f"contradiction {seed}")
    pods = [_launcher(draw) if draw.random() < 0.4 else _pod(draw) for _number in range(4)]
    for number, item in enumerate(pods):
        item["metadata"] = {"name": f"new-{number}"}
    ranges = [
        {"metadata": {"name": f"limits-{number}"}, "spec": {"limits": [_contradictory(draw)]}}
        for number in range(draw.choice((2, 2, 3)))
    ]
    hard = {"requests.memory": draw.choice(("1Gi", "3Gi")), "limits.cpu": draw.choice(("2", "4"))}
    quotas = [{"metadata": {"name": "quota-0"}, "spec": {"hard": hard}}] if draw.random() < 0.5 else []
    return {"quotas": quotas, "limit_ranges": ranges, "objects": pods}


def _contradictory(draw: random.Random) -> Manifest:
    limit: dict[str, Any] = {"type": "Container"}
    for resource in draw.choice((("cpu",), ("memory",), ("cpu", "memory"))):
        amounts = _AMOUNTS[resource]
        first, second = sorted(draw.choices(range(len(amounts)), k=2))
        kind = draw.random()
        if kind < 0.75:
            limit.setdefault("default", {})[resource] = amounts[second]
            if kind < 0.4:
                limit.setdefault("defaultRequest", {})[resource] = amounts[first]
        elif kind < 0.9:
            limit.setdefault("max", {})[resource] = amounts[second]
        else:
            limit.setdefault("min", {})[resource] = amounts[first]
    return limit


@cache
def _launchers() -> tuple[Manifest, ...]:
    """The specs of the launcher pods that are recorded."""
    result = []
    for group in ("random", "devices", "limits"):
        for line in gzip.decompress((_VECTORS / f"{group}.jsonl.gz").read_bytes()).decode().splitlines():
            case = json.loads(line)
            if case["admitted"] and "containers" in case["expect"]:
                result.append(case["expect"])
    return tuple(result)


def _launcher(draw: random.Random) -> Manifest:
    item = draw.choice(_launchers())
    spec = {field: [_contained(entry) for entry in item.get(field, ())] for field in ("containers", "initContainers")}
    return _made({**spec, "affinity": item.get("affinity", {})}, draw)


def _contained(entry: Manifest) -> Manifest:
    resources = {field: entry[field] for field in ("requests", "limits") if field in entry}
    restarts = {"restartPolicy": entry["restartPolicy"]} if "restartPolicy" in entry else {}
    return {"name": entry["name"], "image": "x", "resources": resources, **restarts}


def _pod(draw: random.Random) -> Manifest:
    spec: Manifest = {"containers": [_container(draw, f"c-{number}") for number in range(draw.choice((1, 1, 2)))]}
    if draw.random() < 0.3:
        spec["initContainers"] = [_init_container(draw, f"i-{number}") for number in range(draw.randint(1, 2))]
    if draw.random() < 0.25:
        spec["affinity"] = _affinity(draw)
    return _made(spec, draw)


def _made(spec: Manifest, draw: random.Random) -> Manifest:
    if draw.random() < 0.3:
        spec["priorityClassName"] = draw.choice(PRIORITY_CLASSES)
    if draw.random() < 0.15:
        spec["activeDeadlineSeconds"] = 600
    return {"apiVersion": "v1", "kind": "Pod", "spec": spec}


def _container(draw: random.Random, name: str) -> Manifest:
    requests, limits = {}, {}
    for resource, chance in (("cpu", 0.8), ("memory", 0.8), ("ephemeral-storage", 0.2)):
        lower, upper = sorted(draw.choices(range(len(_AMOUNTS[resource])), k=2))
        if draw.random() < chance:
            requests[resource] = _AMOUNTS[resource][lower]
        if draw.random() < chance * 0.7:
            limits[resource] = _AMOUNTS[resource][upper]
    if draw.random() < 0.1:
        requests[GPU] = limits[GPU] = draw.choice(("1", "2"))
    if draw.random() < 0.1:
        requests[HUGE] = limits[HUGE] = "64Mi"
        requests.setdefault("cpu", "100m")
    return {"name": name, "image": "x", "resources": {"requests": requests, "limits": limits}}


def _init_container(draw: random.Random, name: str) -> Manifest:
    restarts = {"restartPolicy": "Always"} if draw.random() < 0.5 else {}
    return {**_container(draw, name), **restarts}


def _affinity(draw: random.Random) -> Manifest:
    term: Manifest = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
    kind = draw.random()
    if kind < 0.3:
        term["namespaces"] = ["other"]
    elif kind < 0.5:
        term["namespaceSelector"] = {}
    terms = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    if draw.random() < 0.5:
        terms = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    return {draw.choice(("podAffinity", "podAntiAffinity")): terms}


def _claim(draw: random.Random) -> Manifest:
    size = draw.choice(("1Gi", "10Gi", "25G", "1536Mi"))
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    spec["storageClassName"] = draw.choice((*STORAGE_CLASSES, ""))
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec}


def _quota(draw: random.Random, number: int) -> Manifest:
    hard = {}
    for name, chance, values in (
        ("cpu", 0.15, ("3", "40")),
        ("memory", 0.15, ("5Gi", "80G")),
        ("requests.cpu", 0.3, ("2", "6", "70")),
        ("requests.memory", 0.3, ("4Gi", "20Gi", "300Gi")),
        ("limits.cpu", 0.12, ("4", "50")),
        ("limits.memory", 0.12, ("8Gi", "100Gi")),
        ("requests.ephemeral-storage", 0.2, ("1G", "3Gi")),
        ("limits.ephemeral-storage", 0.1, ("1G", "5Gi")),
        ("pods", 0.3, ("2", "4", "50")),
        ("count/pods", 0.15, ("3", "5")),
        (f"requests.{GPU}", 0.2, ("1", "3")),
        ("requests.devices.kubevirt.io/kvm", 0.25, ("1", "2")),
        ("requests.nvidia.com/A30", 0.15, ("0", "1")),
        (HUGE, 0.1, ("64Mi",)),
        (f"requests.{HUGE}", 0.1, ("128Mi",)),
        ("persistentvolumeclaims", 0.2, ("1", "5")),
        ("count/persistentvolumeclaims", 0.1, ("1", "2")),
        ("requests.storage", 0.3, ("12Gi", "40Gi")),
        ("fast.storageclass.storage.k8s.io/requests.storage", 0.2, ("10Gi",)),
        ("slow.storageclass.storage.k8s.io/persistentvolumeclaims", 0.2, ("0", "1")),
    ):
        if draw.random() < chance:
            hard[name] = draw.choice(values)
    scoped = draw.random() < 0.35
    if scoped:
        hard = {name: amount for name, amount in hard.items() if name in _SCOPED}
    spec: Manifest = {"hard": hard or {"pods": "3"}}
    if scoped:
        spec |= _scopes(draw, spec["hard"])
    return {"metadata": {"name": f"quota-{number}"}, "spec": spec}


def _scopes(draw: random.Random, hard: Manifest) -> Manifest:
    names = ["Terminating", "NotTerminating", "NotBestEffort", "CrossNamespacePodAffinity"]
    if set(hard) == {"pods"}:
        names += ["BestEffort", "BestEffort"]
    if draw.random() < 0.4:
        return {"scopes": [draw.choice(names)]}
    operator = draw.choice(("In", "NotIn", "Exists", "DoesNotExist"))
    expression = {"scopeName": "PriorityClass", "operator": operator}
    if operator in ("In", "NotIn"):
        expression["values"] = draw.sample(PRIORITY_CLASSES, draw.randint(1, 2))
    return {"scopeSelector": {"matchExpressions": [expression]}}


def _limit_range(draw: random.Random) -> Manifest:
    limits = [_of_containers(draw)]
    if draw.random() < 0.4:
        limits.append(_of_claims(draw))
    return {"metadata": {"name": "limits"}, "spec": {"limits": limits}}


def _of_containers(draw: random.Random) -> Manifest:
    limit: dict[str, Any] = {"type": "Container"}
    for resource in ("cpu", "memory"):
        amounts = _AMOUNTS[resource]
        kind = draw.random()
        if kind < 0.4:
            first, second = sorted(draw.choices(range(len(amounts)), k=2))
            limit.setdefault("defaultRequest", {})[resource] = amounts[first]
            limit.setdefault("default", {})[resource] = amounts[second]
        elif kind < 0.55:
            limit.setdefault("min", {})[resource] = {"cpu": "5m", "memory": "30M"}[resource]
        elif kind < 0.75:
            limit.setdefault("max", {})[resource] = {"cpu": "8", "memory": "16Gi"}[resource]
        if draw.random() < 0.12:
            limit.setdefault("maxLimitRequestRatio", {})[resource] = draw.choice(("1", "2500m", "4"))
    return limit


def _sums(draw: random.Random) -> Manifest:
    kind = draw.random()
    if kind < 0.4:
        return {"type": "Pod", "max": {draw.choice(("cpu", "memory")): "2"}}
    if kind < 0.7:
        return {"type": "Pod", "min": {"memory": "100Mi"}, "max": {"memory": draw.choice(("2Gi", "9Gi"))}}
    return {"type": "Pod", "maxLimitRequestRatio": {"cpu": draw.choice(("2", "3"))}}


def _of_claims(draw: random.Random) -> Manifest:
    limit: Manifest = {"type": "PersistentVolumeClaim"}
    if draw.random() < 0.6:
        limit["min"] = {"storage": "1200Mi"}
    if "min" not in limit or draw.random() < 0.5:
        limit["max"] = {"storage": draw.choice(("10Gi", "15Gi"))}
    return limit
