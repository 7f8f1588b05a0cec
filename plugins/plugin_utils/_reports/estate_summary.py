"""The report of the proposal for an estate: sums, and guests for the question whether they find room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Result = dict[str, Any]


def guests(vms: Sequence[Mapping[str, Any]], instancetypes: Sequence[Mapping[str, Any]]) -> list[Result]:
    """VMs with the size itself, for a cluster that lacks the instancetypes. vms: options of VMs."""
    specs = {item["metadata"]["name"]: item["spec"] for item in instancetypes}
    return [_guest(vm, specs[vm["instancetype"]["name"]]) for vm in vms]


def _guest(vm: Mapping[str, Any], spec: Mapping[str, Any]) -> Result:
    cpu: Result = {"sockets": spec["cpu"]["guest"], "cores": 1, "threads": 1}
    if spec["cpu"].get("dedicatedCPUPlacement"):
        cpu["dedicatedCpuPlacement"] = True
    memory = {key: spec["memory"][key] for key in ("guest", "hugepages") if key in spec["memory"]}
    devices = vm.get("template", {}).get("spec", {}).get("domain", {}).get("devices", {})
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": vm["name"], "namespace": vm["namespace"]},
        "spec": {
            "runStrategy": "Always",
            "template": {"spec": {"domain": {"cpu": cpu, "memory": memory, "devices": devices}}},
        },
    }


def summary(rows: Sequence[Mapping[str, Any]], catalog: Mapping[str, Any]) -> Result:
    """Sums for the report: machines by size before and after, by folder, and what is wasted."""
    before = _counted((row["source"]["vcpus"], row["source"]["memory"]) for row in rows)
    after = _counted((row["instancetype"], row["guest"]["vcpus"], row["guest"]["memory"]) for row in rows)
    added = {f"{name}.{size}" for name, series in catalog["series"].items() for size in series["sizes"]}
    folders: dict[str, Result] = {}
    for row in rows:
        folder = folders.setdefault(row["folder"], {"folder": row["folder"], "machines": 0, **_totals([])})
        folder["machines"] += 1
        for key, amount in _totals([row]).items():
            folder[key] += amount
    return {
        "machines": len(rows),
        **_totals(rows),
        "new_sizes": len({key[0] for key, _count in after} & added),
        "sizes_before": [{"vcpus": key[0], "memory": key[1], "machines": count} for key, count in before],
        "sizes_after": [
            {"name": key[0], "vcpus": key[1], "memory": key[2], "new": key[0] in added, "machines": count}
            for key, count in after
        ],
        "folders": sorted(folders.values(), key=lambda folder: (-folder["machines"], folder["folder"])),
        "without_preference": sum(not row["preference"] for row in rows),
        "not_brought": sum(bool(row["not_brought"]) for row in rows),
    }


def _counted(keys: Iterable[Any]) -> list[tuple[Any, int]]:
    return sorted(Counter(keys).items(), key=lambda item: (-item[1], item[0]))


def _totals(rows: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {
        f"{side}_{resource}": sum(row[side][resource] for row in rows)
        for side in ("source", "guest")
        for resource in ("vcpus", "memory")
    }
