"""The check finds what breaks a limit that the files write, or that policies of the cluster have."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from plugins.module_utils._governance.language import Limit
from plugins.module_utils._governance.policy import policies
from plugins.plugin_utils._check.command import main

STANDARD = {"name": "standard", "namespaces": ["shop"], "series": ["u1"], "max_cpu": 1}
REFUSED = "spec.instancetype.name: u1.large is not permitted here; choose from u1.medium, u1.micro, u1.nano, u1.small"


def vm(instancetype: str = "u1.large") -> dict[str, Any]:
    spec = {"domain": {"devices": {}}}
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"runStrategy": "Halted", "instancetype": {"name": instancetype}, "template": {"spec": spec}},
    }


def namespace(**labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}


def findings(tmp_path: Path, capsys: pytest.CaptureFixture[str], *documents: Any, objects: Any = None) -> list[str]:
    """`level: message [rule]` of each finding."""
    (tmp_path / "a.yml").write_text(yaml.safe_dump_all(documents))
    options = []
    if objects is not None:
        (tmp_path / "objects.yaml").write_text(yaml.safe_dump_all(objects))
        options = ["--objects", str(tmp_path / "objects.yaml")]
    main(["--format", "json", *options, str(tmp_path / "a.yml")])
    report = json.loads(capsys.readouterr().out)
    return [f"{item['level']}: {item['field']}: {item['message']} [{item['rule']}]" for item in report["findings"]]


@pytest.mark.parametrize(
    "limits",
    [
        {"limits": [STANDARD]},
        {"common_instancetypes_limits": [STANDARD]},
        [{"hosts": "all", "tasks": [{"virtshape.instancetypes.catalog": {"limits": [STANDARD]}}]}],
        [{"hosts": "all", "vars": {"common_instancetypes_limits": [STANDARD]}}],
    ],
)
def test_limits_of_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], limits: Any) -> None:
    assert findings(tmp_path, capsys, limits, vm()) == [f"error: {REFUSED} (limit standard) [limit]"]
    assert findings(tmp_path, capsys, limits, vm("u1.small")) == []


def test_limits_of_other_tools_are_not_ours(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(tmp_path, capsys, {"resources": {"limits": ["cpu"]}}, vm()) == []


def test_limits_of_the_clusters_policies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limit = Limit("standard", instancetypes=["u1.small"], own_instancetypes=False, action="warn")
    assert findings(tmp_path, capsys, vm(), objects=policies(limit, "common", "x")) == [
        "warning: spec.instancetype.name: u1.large is not permitted here; choose from u1.small (limit standard) [limit]"
    ]


def test_labels_of_namespaces_must_be_known(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = {"limits": [{"name": "gold", "namespace_labels": {"tier": "gold"}, "series": ["u1"], "max_cpu": 1}]}
    assert findings(tmp_path, capsys, gold, vm()) == [
        "note: : the limit gold depends on the labels of the namespace shop, which is not among the checked files; pass"
        " its manifest with --objects [unchecked]"
    ]
    assert findings(tmp_path, capsys, gold, vm(), objects=[namespace(tier="silver")]) == []
    assert findings(tmp_path, capsys, gold, vm(), namespace(tier="gold")) == [f"error: {REFUSED} (limit gold) [limit]"]


def test_instancetypes_of_a_namespace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "own", "namespace": "shop"},
        "spec": {"cpu": {"guest": 4}, "memory": {"guest": "1Gi"}},
    }
    assert findings(tmp_path, capsys, {"limits": [{"name": "small", "max_cpu": 2}]}, own) == [
        "error: spec.cpu.guest: 4 is more than 2 vCPUs (limit small) [limit]"
    ]


def test_bad_limits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [text] = findings(tmp_path, capsys, {"limits": [{"name": "a", "series": ["u9"]}]}, vm())
    assert text.startswith("error: : limits: 'a': series: nothing in the catalog matches 'u9'")


@pytest.mark.parametrize("namespace", [123, ["shop"]])
def test_a_wrong_namespace_chooses_no_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str], namespace: Any) -> None:
    machine = vm()
    machine["metadata"]["namespace"] = namespace
    [text] = findings(tmp_path, capsys, {"limits": [STANDARD]}, machine)
    assert text.startswith("error: metadata.namespace: expected a string")
