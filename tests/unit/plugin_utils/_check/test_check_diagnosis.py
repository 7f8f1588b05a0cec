"""The check of files that are read from a cluster: why its VMs do not run."""

import json
from pathlib import Path
from typing import Any

import pytest
from cluster_dumps import LAYOUTS, written

from plugins.plugin_utils._check.command import main

Manifest = dict[str, Any]

RECORDED = json.loads(
    (Path(__file__).parents[2] / "module_utils/_diagnosis/recorded_faults.json").read_text(encoding="utf-8")
)


def recorded(fault: str) -> list[Manifest]:
    return [*RECORDED["common"], *RECORDED["faults"][fault]]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("fault", "link"), [("missing claim", "claim"), ("taint", "scheduling"), ("healthy", "")])
def test_the_dump_of_a_cluster_is_diagnosed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], fault: str, link: str, layout: str
) -> None:
    code = main([str(written(layout, tmp_path, recorded(fault)))])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.endswith("[does-not-run]")]
    assert len(lines) == code == (1 if link else 0)
    assert all(f"VirtualMachine shop/web: {link}: " in line for line in lines)


def test_the_newer_of_two_copies_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for index, fault in enumerate(("missing claim", "healthy")):
        for item in recorded(fault):
            item = {**item, "metadata": {**item["metadata"], "resourceVersion": str(index)}}
            path = tmp_path / str(1 - index) / f"{item['kind']}-{item['metadata']['name']}.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(item), encoding="utf-8")
    main([str(tmp_path)])
    assert "does-not-run" not in capsys.readouterr().out


@pytest.mark.parametrize("conditions", ["text", [5], [{"type": "Ready", "status": True}]])
def test_malformed_status_is_an_error_of_the_vm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], conditions: object
) -> None:
    items = recorded("missing claim")
    [vm] = (item for item in items if item["kind"] == "VirtualMachine")
    malformed = {**vm, "status": {**vm["status"], "conditions": conditions}}
    assert main([str(written("kubectl_yaml", tmp_path, [malformed, *(item for item in items if item is not vm)]))]) == 1
    assert "error: VirtualMachine shop/web: status.conditions" in capsys.readouterr().out


def test_declared_vms_are_not_diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items = [{key: value for key, value in item.items() if key != "status"} for item in recorded("missing claim")]
    main([str(written("kubectl_yaml", tmp_path, items))])
    assert "does-not-run" not in capsys.readouterr().out


def test_a_guest_without_its_vm_is_diagnosed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [vmi] = (item for item in recorded("paused") if item["kind"] == "VirtualMachineInstance")
    metadata = {**vmi["metadata"], "deletionTimestamp": "2026-11-28T01:00:00Z", "finalizers": ["example.com/hold"]}
    owner = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "web", "uid": "lost"}
    left = {**vmi, "metadata": {**metadata, "ownerReferences": [owner]}}
    assert main([str(written("kubectl_yaml", tmp_path, [left]))]) == 1
    assert "error: VirtualMachineInstance shop/web: deletion: " in capsys.readouterr().out


@pytest.mark.parametrize(
    "other",
    [
        "{kind: VirtualMachine, metadata: text, status: {created: true}}",
        "{kind: VirtualMachineInstance, metadata: {name: a, ownerReferences: 5}}",
    ],
)
def test_malformed_objects_do_not_stop_the_check(
    other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec: {runStrategy: Off}\n"
    (tmp_path / "a.yaml").write_text(f"{bad}---\n{other[:1]}apiVersion: kubevirt.io/v1, {other[1:]}\n")
    assert main([str(tmp_path)]) == 1
    assert "spec.runStrategy" in capsys.readouterr().out
