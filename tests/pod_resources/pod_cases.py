"""Cases of launcher pods: read, given to the resolver, compared.

A group is a file below the directory: ``vectors/overhead`` for the newest release, ``vectors-v1.6.6/overhead`` for an
older one. Files may be compressed (``.jsonl.gz``). Quantities are compared by value, everything else as it is; lists
in order, but the terms of required anti-affinity, whose order KubeVirt leaves to chance.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
# The resolver is pure: it needs neither Ansible nor its place in `ansible_collections`.
sys.path[:0] = [str(CHECKOUT / folder) for folder in ("plugins/module_utils", "tests")]

from vector_run import Failure, differences, groups, judged, load  # noqa: E402, F401  # pylint: disable=unused-import

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.environment import Environment  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.overhead import overhead  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.pod import (  # noqa: E402
    MigrationSource,
    Pod,
    Unrenderable,
    pod,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.resources import (  # noqa: E402
    apply_vmi_webhook,
    expected_status,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release_schema  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import parse  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, parse_release  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.cluster import KubeVirt  # noqa: E402

Case = dict[str, Any]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UID = "11111111-2222-3333-4444-555555555555"


def failures(_group: str, cases: list[Case]) -> Iterator[Failure]:
    """The failures among the cases, in their order."""
    return judged(cases, _differences, lambda case: (case["id"], case["input"]))


def _differences(case: Case) -> Iterator[str]:
    return differences(_comparable(case["expect"]), _comparable(_answer(case)))


def _answer(case: Case) -> Case:
    given = case["input"]
    around = _environment(case)
    vmi = given["created"] if given.get("operation") == "default" else given["vmi"]
    metadata = dict(vmi["metadata"])
    spec = release_schema.canonical("VirtualMachineInstanceSpec", vmi["spec"], around.kubevirt.release)
    if given.get("operation") == "default":
        apply_vmi_webhook(metadata, spec, around)
        status = expected_status(spec, around)
        # The server gives a VMI its UID; the cases have one for all.
        return {"vmi": {"metadata": {**metadata, "uid": _UID}, "spec": spec, **({"status": status} if status else {})}}
    status = vmi.get("status")
    try:
        if given.get("operation") == "migrationTarget":
            source = MigrationSource(given.get("sourceNodeLabels") or {}, given.get("sourcePodNodeSelector"))
            made = pod(metadata, spec, around, status or {}, source)
            # The collection starts no migrations to chosen nodes.
            added = given.get("addedNodeSelector") if around.kubevirt.release.has("1.6") else None
            made = made._replace(node_selector={**(added or {}), **made.node_selector})
        else:
            made = pod(metadata, spec, around, status or {})
    except Unrenderable as failed:
        return {"error": str(failed), "overhead": _overhead(overhead(spec, around))}
    reported = str(made.overhead.value) if around.kubevirt.has_gate("VmiMemoryOverheadReport") else None
    return _written(made, reported)


def _environment(case: Case) -> Environment:
    given = case["input"]
    volumes = (given.get("vmi") or given.get("created"))["spec"].get("volumes") or ()
    sources = [source for volume in volumes for source in volume.values() if isinstance(source, dict)]
    names = [source[field] for source in sources for field in ("name", "claimName") if source.get(field)]
    kubevirt = KubeVirt(
        parse_release(case["version"]) if "version" in case else NEWEST,
        given.get("config") or {},
        given.get("arch") or "amd64",
        annotations=given.get("kubevirtAnnotations") or {},
    )
    return Environment(
        kubevirt,
        given.get("namespaceLabels") or {},
        tuple(given.get("quotas") or ()),
        given.get("nads") or {},
        {name: f"pvc-{name}" for name in names},
    )


def _overhead(amount: Any) -> Case:
    return {"quantity": amount.text, "bytes": amount.value}


def _written(made: Pod, annotation: str | None) -> Case:
    """The pod as the cases have it: what is empty is left out."""
    parts = {
        "containers": [container.manifest() for container in made.containers if not container.init],
        "initContainers": [container.manifest() for container in made.containers if container.init],
        "overhead": _overhead(made.overhead),
        "overheadAnnotation": annotation,
        "totalRequests": {name: amount.text for name, amount in made.requests.items()},
        "totalLimits": {name: amount.text for name, amount in made.limits.items()},
        "qosClass": made.qos_class,
        "nodeSelector": made.node_selector,
        "affinity": made.affinity,
        "tolerations": made.tolerations,
        "topologySpreadConstraints": made.spread,
        "resourceClaims": made.claims,
        "schedulerName": made.scheduler,
        "priorityClassName": made.priority_class,
        "runtimeClassName": made.runtime_class,
    }
    return {name: value for name, value in parts.items() if value}


def _comparable(expected: Case) -> Case:
    result = json.loads(json.dumps(expected))
    if "error" in result:
        result["error"] = True
    if "overhead" in result:
        result["overhead"]["quantity"] = parse(result["overhead"]["quantity"]).nanos
    for amounts in _amounts(result):
        for name, text in amounts.items():
            amounts[name] = parse(text).nanos
    terms = ((result.get("affinity") or {}).get("podAntiAffinity") or {}).get(_REQUIRED)
    if terms:
        terms.sort(key=lambda term: json.dumps(term, sort_keys=True))
    return result


def _amounts(result: Case) -> Iterator[Case]:
    yield from (result[field] for field in ("totalRequests", "totalLimits") if field in result)
    for container in (*result.get("containers", ()), *result.get("initContainers", ())):
        yield from (container[field] for field in ("requests", "limits") if field in container)
