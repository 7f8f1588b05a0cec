"""Made-up clusters: nodes, pods that run on them, and pods that are yet to be placed. The same seed gives the same."""

import random
from typing import Any

Manifest = dict[str, Any]

ZONES = ("a", "b", "c")
APPS = ("web", "db", "")
NAMESPACES = ("shop", "office")
KEYS = ("zone", "disk", "size", "app", "none")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
GPU = "example.com/gpu"


def cluster(seed: int, pending: int = 4) -> Manifest:
    """{nodes, pods, pending}. pending: how many pods are to be placed. Half of the clusters have storage, too: {claims,
    volumes, classes}."""
    draw = random.Random(seed)
    nodes = [_node(draw, number) for number in range(draw.randint(1, 7))]
    pods = [_pod(draw, f"run-{number}", draw.choice(nodes)) for number in range(draw.randint(0, 14))]
    made = {"nodes": nodes, "pods": pods, "pending": [_pod(draw, f"new-{number}") for number in range(pending)]}
    if seed % 2:
        return {**made, **_storage(random.Random(f"storage {seed}"), made)}
    return made


def _storage(draw: random.Random, made: Manifest) -> Manifest:
    """Claims for some of the pending pods, which get them as volumes."""
    claims, volumes = [], []
    for pod in made["pending"]:
        for number in range(draw.choice((0, 0, 1, 1, 2))):
            claim = _claim(draw, pod["metadata"]["namespace"], f"{pod['metadata']['name']}-{number}")
            claims.append(claim)
            name = claim["metadata"]["name"]
            if claim["spec"].get("volumeName"):
                volumes.append(_volume(draw, name))
            pod["spec"].setdefault("volumes", []).append({"name": name, "persistentVolumeClaim": {"claimName": name}})
    classes = [
        {"metadata": {"name": name}, "provisioner": "example.com/disks", **more}
        for name, more in (
            ("now", {"volumeBindingMode": "Immediate"}),
            ("later", {"volumeBindingMode": "WaitForFirstConsumer"}),
            ("zoned", {"volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": _topologies(draw)}),
        )
    ]
    return {"claims": claims, "volumes": volumes, "classes": classes}


def _claim(draw: random.Random, namespace: str, name: str) -> Manifest:
    annotations = {}
    spec: Manifest = {"storageClassName": draw.choice(("now", "later", "zoned", "zoned", "none"))}
    kind = draw.random()
    if kind < 0.6:
        spec["volumeName"] = name
    if kind < 0.55:
        annotations["pv.kubernetes.io/bind-completed"] = "yes"
    elif kind > 0.9:
        annotations["volume.kubernetes.io/selected-node"] = f"node-{draw.randint(0, 3)}"
    spec["resources"] = {"requests": {"storage": "1Gi"}}
    spec["accessModes"] = ["ReadWriteOnce"]
    return {"metadata": {"name": name, "namespace": namespace, "annotations": annotations}, "spec": spec}


def _volume(draw: random.Random, name: str) -> Manifest:
    spec: Manifest = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "claimRef": {"name": name}}
    if draw.random() < 0.7:
        terms = [_node_term(draw) for _number in range(draw.choice((1, 1, 2)))]
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return {"metadata": {"name": name}, "spec": spec}


def _topologies(draw: random.Random) -> list[Manifest]:
    return [
        {"matchLabelExpressions": [{"key": key, "values": draw.sample(values, 2)}]}
        for key, values in draw.sample((("zone", ZONES), ("disk", ("ssd", "hdd", "tape"))), draw.randint(1, 2))
    ]


def _node(draw: random.Random, number: int) -> Manifest:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "size": str(draw.randint(1, 9))}
    if draw.random() < 0.85:
        labels["zone"] = draw.choice(ZONES)
    if draw.random() < 0.5:
        labels["disk"] = draw.choice(("ssd", "hdd"))
    allocatable = {
        "cpu": draw.choice(("1", "4", "3500m", "64")),
        "memory": draw.choice(("2Gi", "8Gi", "16000M", "256Gi")),
        "ephemeral-storage": draw.choice(("1G", "100G")),
        "pods": str(draw.choice((2, 5, 110, 110, 110))),
    }
    if draw.random() < 0.4:
        allocatable[GPU] = str(draw.randint(0, 3))
    if draw.random() < 0.3:
        allocatable["hugepages-2Mi"] = draw.choice(("1Gi", "4Gi"))
    spec: Manifest = {"taints": [_taint(draw) for _taint_number in range(draw.choice((0, 0, 0, 1, 2)))]}
    if draw.random() < 0.12:
        spec["unschedulable"] = True
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }


def _taint(draw: random.Random) -> Manifest:
    taint = {"key": draw.choice(("dedicated", "gpu")), "effect": draw.choice(EFFECTS)}
    return {**taint, "value": draw.choice(("x", "y"))} if draw.random() < 0.6 else taint


def _pod(draw: random.Random, name: str, node: Manifest | None = None) -> Manifest:
    app = draw.choice(APPS)
    containers = [_container(draw, f"c-{number}") for number in range(draw.randint(1, 2))]
    spec: Manifest = {"containers": containers}
    if draw.random() < 0.3:
        spec["initContainers"] = [_init_container(draw, f"i-{number}") for number in range(draw.randint(1, 2))]
    if draw.random() < 0.1:
        spec["overhead"] = {"memory": "100Mi", "cpu": "10m"}
    if draw.random() < 0.25:
        spec["nodeSelector"] = draw.choice(({"zone": draw.choice(ZONES)}, {"disk": "ssd"}, {"none": "x"}))
    spec["tolerations"] = [_toleration(draw) for _number in range(draw.choice((0, 0, 1, 2)))]
    spec["affinity"] = _affinity(draw)
    if draw.random() < 0.25:
        spec["topologySpreadConstraints"] = [_spread(draw) for _number in range(draw.choice((1, 1, 2)))]
    metadata = {"name": name, "namespace": draw.choice(NAMESPACES), "uid": name, "labels": {"app": app} if app else {}}
    if node is not None:
        spec["nodeName"] = node["metadata"]["name"]
        if draw.random() < 0.1:
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {"metadata": metadata, "spec": spec}


def _container(draw: random.Random, name: str) -> Manifest:
    requests = {}
    if draw.random() < 0.8:
        requests["cpu"] = draw.choice(("100m", "250m", "1", "1500m", "0.3333"))
    if draw.random() < 0.8:
        requests["memory"] = draw.choice(("64Mi", "1Gi", "1500M", "3Gi"))
    if draw.random() < 0.2:
        requests["ephemeral-storage"] = draw.choice(("50M", "2G"))
    if draw.random() < 0.12:
        requests[draw.choice((GPU, "hugepages-2Mi", "unknown"))] = draw.choice(("1", "2", "0"))
    return {"name": name, "image": "x", "resources": {"requests": requests}}


def _init_container(draw: random.Random, name: str) -> Manifest:
    restarts = {"restartPolicy": "Always"} if draw.random() < 0.5 else {}
    return {**_container(draw, name), **restarts}


def _toleration(draw: random.Random) -> Manifest:
    result = {}
    if draw.random() < 0.8:
        result["key"] = draw.choice(("dedicated", "gpu", "node.kubernetes.io/unschedulable"))
    if "key" not in result or draw.random() < 0.5:
        result["operator"] = "Exists"
    else:
        result["value"] = draw.choice(("x", "y"))
    return {**result, "effect": draw.choice(EFFECTS)} if draw.random() < 0.5 else result


def _affinity(draw: random.Random) -> Manifest:
    result: Manifest = {}
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    if draw.random() < 0.25:
        terms = [_node_term(draw) for _number in range(draw.choice((1, 1, 2)))]
        result["nodeAffinity"] = {required: {"nodeSelectorTerms": terms}}
    for kind, chance in (("podAffinity", 0.15), ("podAntiAffinity", 0.2)):
        if draw.random() < chance:
            result[kind] = {required: [_pod_term(draw) for _number in range(draw.choice((1, 1, 2)))]}
    return result


def _node_term(draw: random.Random) -> Manifest:
    if draw.random() < 0.15:
        operator = draw.choice(("In", "NotIn"))
        return {
            "matchFields": [{"key": "metadata.name", "operator": operator, "values": [f"node-{draw.randint(0, 4)}"]}]
        }
    return {"matchExpressions": [_expression(draw, True) for _number in range(draw.choice((1, 1, 2)))]}


def _expression(draw: random.Random, of_node: bool) -> Manifest:
    key = draw.choice(KEYS)
    operators = ("In", "NotIn", "Exists", "DoesNotExist", *(("Gt", "Lt") if of_node and key == "size" else ()))
    operator = draw.choice(operators)
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    if operator in ("Gt", "Lt"):
        return {"key": key, "operator": operator, "values": [str(draw.randint(1, 9))]}
    return {"key": key, "operator": operator, "values": draw.sample((*ZONES, "ssd", "web", "db"), 3)}


def _selector(draw: random.Random) -> Manifest:
    kind = draw.random()
    if kind < 0.1:
        return {}
    if kind < 0.7:
        return {"labelSelector": {"matchLabels": {"app": draw.choice(("web", "db"))}}}
    if kind < 0.8:
        return {"labelSelector": {}}
    return {"labelSelector": {"matchExpressions": [_expression(draw, False)]}}


def _pod_term(draw: random.Random) -> Manifest:
    term = {**_selector(draw), "topologyKey": draw.choice(("kubernetes.io/hostname", "zone", "disk"))}
    if draw.random() < 0.25:
        term["namespaces"] = draw.sample(NAMESPACES, draw.randint(1, 2))
    if draw.random() < 0.15:
        term["namespaceSelector"] = {}
    return term


def _spread(draw: random.Random) -> Manifest:
    result = {
        **_selector(draw),
        "maxSkew": draw.randint(1, 3),
        "topologyKey": draw.choice(("kubernetes.io/hostname", "zone", "disk")),
        "whenUnsatisfiable": draw.choice(("DoNotSchedule", "DoNotSchedule", "ScheduleAnyway")),
    }
    if result["whenUnsatisfiable"] == "DoNotSchedule" and draw.random() < 0.3:
        result["minDomains"] = draw.randint(1, 4)
    if draw.random() < 0.3:
        result["nodeTaintsPolicy"] = draw.choice(("Honor", "Ignore"))
    if draw.random() < 0.3:
        result["nodeAffinityPolicy"] = draw.choice(("Honor", "Ignore"))
    return result
