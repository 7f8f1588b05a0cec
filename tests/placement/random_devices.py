"""Made-up devices of nodes, and claims for them by the pods that are yet to be placed."""

import random
from typing import Any, Final

Manifest = dict[str, Any]

GPU: Final = "gpu.example.com"
NIC: Final = "nic.example.com"
MODELS: Final = ("A100", "T4")
_DRIVER: Final = f'device.driver == "{GPU}"'
_MODEL: Final = f"device.attributes['{GPU}'].model == 'A100'"
# The last two are for CEL alone.
CLASSES: Final = {
    "gpu": [_DRIVER],
    "nic": [f"device.driver == '{NIC}'"],
    "a100": [f"{_DRIVER} && {_MODEL}"],
    "fast": [_DRIVER, f'device.attributes["{GPU}"].lanes == 16'],
    "any": [],
    "large": [f'{_DRIVER} && device.capacity["{GPU}"].memory.compareTo(quantity("10Gi")) >= 0'],
    "kind": ['device.driver.startsWith("gpu")'],
}


def with_devices(draw: random.Random, made: Manifest) -> Manifest:
    """{device_classes, slices, device_claims, claim_templates}, and the pods of a cluster with claims."""
    slices = list(_slices(draw, made["nodes"]))
    claims, templates = _in_use(draw, slices), []
    for pod in made["pending"]:
        if draw.random() < 0.7:
            # Devices decide.
            pod["spec"] |= {"affinity": {}, "tolerations": [{"operator": "Exists"}]}
            for field in ("nodeSelector", "topologySpreadConstraints"):
                pod["spec"].pop(field, None)
        for number in range(draw.choice((0, 1, 1, 1, 2))):
            _claim(draw, pod, f"{pod['metadata']['name']}-{number}", claims, templates)
    classes = [
        {"metadata": {"name": name}, "spec": {"selectors": [_cel(text) for text in texts]}}
        for name, texts in CLASSES.items()
    ]
    return {"device_classes": classes, "slices": slices, "device_claims": claims, "claim_templates": templates}


def _cel(expression: str) -> Manifest:
    return {"cel": {"expression": expression}}


def _slices(draw: random.Random, nodes: list[Manifest]) -> Any:
    places = [{"nodeName": node["metadata"]["name"]} for node in nodes]
    zone = {"key": "zone", "operator": "In", "values": ["a", "b"]}
    shared = [{"allNodes": True}, {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}]
    for number, place in enumerate((*places, *(item for item in shared if draw.random() < 0.25))):
        for driver in (GPU, NIC):
            if draw.random() < 0.8:
                pool = f"pool-{number}"
                yield _slice(draw, driver, pool, 1, place)
                if draw.random() < 0.15:
                    # A newer generation replaces the slice.
                    yield _slice(draw, driver, pool, 2, place)


def _slice(draw: random.Random, driver: str, pool: str, generation: int, place: Manifest) -> Manifest:
    devices = [_device(draw, driver, f"d-{number}") for number in range(draw.randint(1, 4))]
    spec = {
        "driver": driver,
        "pool": {"name": pool, "generation": generation, "resourceSliceCount": 1},
        "devices": devices,
        **place,
    }
    if draw.random() < 0.1 and "nodeName" in place:
        spec = {key: value for key, value in spec.items() if key != "nodeName"}
        spec |= {"perDeviceNodeSelection": True, "devices": [{**device, **place} for device in devices]}
    return {"metadata": {"name": f"{driver}-{pool}-{generation}"}, "spec": spec}


def _device(draw: random.Random, driver: str, name: str) -> Manifest:
    attributes = {"model": {"string": draw.choice(MODELS)}, f"{GPU}/lanes": {"int": draw.choice((8, 16))}}
    if draw.random() < 0.1:
        del attributes[draw.choice(list(attributes))]
    return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": draw.choice(("8Gi", "40Gi"))}}}


def _in_use(draw: random.Random, slices: list[Manifest]) -> list[Manifest]:
    """Claims of others that have devices."""
    matches = []
    for item in slices:
        spec = item["spec"]
        for device in spec["devices"]:
            if draw.random() < 0.2:
                result = {
                    "request": "x",
                    "driver": spec["driver"],
                    "pool": spec["pool"]["name"],
                    "device": device["name"],
                }
                name = f"used-{item['metadata']['name']}-{device['name']}"
                metadata = {"name": name, "namespace": "shop", "uid": name}
                requests = [_request(draw, "x", "any")]
                allocation = {"devices": {"results": [result]}}
                matches.append(
                    {
                        "metadata": metadata,
                        "spec": {"devices": {"requests": requests}},
                        "status": {"allocation": allocation},
                    }
                )
    return matches


def _claim(draw: random.Random, pod: Manifest, name: str, claims: list[Manifest], templates: list[Manifest]) -> None:
    """A claim of a pod, by its name or by a template, from which a controller has made the claim."""
    spec = {"devices": {"requests": [_request(draw, f"r-{number}") for number in range(draw.choice((1, 1, 2)))]}}
    if draw.random() < 0.05:
        spec["devices"]["constraints"] = [{"matchAttribute": f"{GPU}/lanes"}]
    namespace = pod["metadata"]["namespace"]
    claim: Manifest = {"metadata": {"name": name, "namespace": namespace, "uid": name}, "spec": spec}
    if draw.random() < 0.5:
        templates.append({"metadata": {"name": name, "namespace": namespace}, "spec": {"spec": spec}})
        own = {"apiVersion": "v1", "kind": "Pod", "controller": True}
        claim["metadata"]["ownerReferences"] = [{**own, "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]
        pod["spec"].setdefault("resourceClaims", []).append({"name": name, "resourceClaimTemplateName": name})
        states = pod.setdefault("status", {}).setdefault("resourceClaimStatuses", [])
        states.append({"name": name, "resourceClaimName": name})
        claims.append(claim)
        return
    pod["spec"].setdefault("resourceClaims", []).append({"name": name, "resourceClaimName": name})
    kind = draw.random()
    if kind < 0.2:
        fields = [{"key": "metadata.name", "operator": "In", "values": [f"node-{draw.randint(0, 3)}"]}]
        allocation: Manifest = {"devices": {"results": []}}
        if draw.random() < 0.7:
            allocation["nodeSelector"] = {"nodeSelectorTerms": [{"matchFields": fields}]}
        claim["status"] = {"allocation": allocation, "reservedFor": [{"resource": "pods", "name": "other", "uid": "o"}]}
    if kind < 0.93:
        claims.append(claim)


def _request(draw: random.Random, name: str, kind: str = "") -> Manifest:
    result = kind or draw.choice(
        ("gpu", "gpu", "gpu", "nic", "nic", "nic", "a100", "fast", "any", "any", "large", "kind")
    )
    exactly: Manifest = {
        "deviceClassName": result,
        "allocationMode": "ExactCount",
        "count": draw.choice((1, 1, 1, 1, 2, 3)),
    }
    if not kind and draw.random() < 0.04:
        exactly["deviceClassName"] = "none"
    if not kind and draw.random() < 0.05:
        exactly = {"deviceClassName": result, "allocationMode": "All"}
    if result == "gpu" and draw.random() < 0.3:
        exactly["selectors"] = [_cel(_MODEL)]
    return {"name": name, "exactly": exactly}
