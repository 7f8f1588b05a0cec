"""The amounts that AAQ counts for launcher pods: recorded of the code of AAQ v1.8.0 (``aaq.json.gz``), and by the
resolver.

The pods are those that KubeVirt's own code has written.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

CHECKOUT = Path(__file__).resolve().parents[2]
# The resolver is pure: it needs neither Ansible nor its place in `ansible_collections`.
sys.path[:0] = [str(CHECKOUT / "plugins" / "module_utils")]

from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.pod.environment import Environment  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.quota.application import measured  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.quota.budget import from_manifest  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import parse  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST  # noqa: E402
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.cluster import KubeVirt  # noqa: E402

Case = dict[str, Any]
Usage = dict[str, dict[str, int]]

WAYS: Final = ("VmiPodUsage", "VirtualResources", "DedicatedVirtualResources", "GuestEffectiveResources")
RECORDED: Final = Path(__file__).parent / "aaq.json.gz"
_VECTORS: Final = CHECKOUT / "tests" / "pod_resources" / "vectors" / "vectors"
_GROUPS: Final = ("cpu", "devices", "limits", "memory", "overhead", "random")
_EVERY: Final = 3


def cases() -> list[Case]:
    """{vmi, pod, config}: every third pod of some groups."""
    return list(_cases())[::_EVERY]


def _cases() -> Iterator[Case]:
    for group in _GROUPS:
        for line in gzip.decompress((_VECTORS / f"{group}.jsonl.gz").read_bytes()).decode().splitlines():
            case = json.loads(line)
            if case["admitted"] and "containers" in case["expect"]:
                spec = {
                    field: [_container(entry) for entry in case["expect"].get(field, ())]
                    for field in ("containers", "initContainers")
                }
                pod = {"metadata": {"name": "launcher"}, "spec": spec}
                yield {"vmi": case["input"]["vmi"], "pod": pod, "config": case["input"].get("config", {})}


def _container(entry: Case) -> Case:
    """A container as the API server stores it: a request for each limit, CPU in whole thousandths."""
    limits = entry.get("limits", {})
    amounts = {"limits": limits, "requests": {**limits, **entry.get("requests", {})}}
    for kind in amounts.values():
        if "cpu" in kind:
            kind["cpu"] = f"{-(-parse(kind['cpu']).nanos // 10**6)}m"
    restarts = {"restartPolicy": entry["restartPolicy"]} if "restartPolicy" in entry else {}
    return {"name": entry["name"], "resources": amounts, **restarts}


def ours(case: Case) -> Usage:
    """The resolver's usage in billionths, by way of counting."""
    spec = {**case["vmi"]["spec"], "domain": {"resources": {}, "devices": {}, **case["vmi"]["spec"]["domain"]}}
    # AAQ goes by the architecture that it runs on itself.
    around = Environment(KubeVirt(NEWEST, case["config"]))
    item = from_manifest(case["pod"])
    return {
        way: {
            name: amount.nanos for name, amount in measured(way, spec, item, around, case["vmi"].get("status")).items()
        }
        for way in WAYS
    }


def recorded() -> list[Usage]:
    """AAQ's answers to the cases."""
    result: list[Usage] = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return result
