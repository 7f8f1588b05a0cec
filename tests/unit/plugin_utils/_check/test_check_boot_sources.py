"""The check's findings about boot sources: workloads, and sources of disks."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from checked_files import CHECKED, vm

Check = Callable[..., tuple[int, list[str]]]

QUIET = ("--ignore", "must-exist")


def workload_task(**options: Any) -> list[dict[str, Any]]:
    task = {"name": "web", "namespace": "shop", "workload": "fedora", "boot": {"pvc": "disk"}, **options}
    return [[{"virtshape.instancetypes.virtual_machine": task}]]


def named(kind: str, name: str, spec: dict[str, Any], **labels: str) -> dict[str, Any]:
    group = "cdi.kubevirt.io" if kind == "DataSource" else "instancetype.kubevirt.io"
    labels = {f"instancetype.kubevirt.io/{key.replace('_', '-')}": value for key, value in labels.items()}
    metadata = {"name": name, "labels": labels, **({} if "Cluster" in kind else {"namespace": "golden"})}
    return {"apiVersion": f"{group}/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


FEDORA = named("DataSource", "fedora", {"source": {}}, default_preference="fedora", default_instancetype="u1.nano")


def test_source_without_an_image_is_reported(check: Check) -> None:
    condition = {"type": "Ready", "status": "False", "reason": "NoSource", "message": "No source PVC set"}
    source = {
        "apiVersion": "cdi.kubevirt.io/v1beta1",
        "kind": "DataSource",
        "metadata": {"name": "fedora", "namespace": "shop"},
        "spec": {"source": {}},
        "status": {"conditions": [condition]},
    }
    disk = {
        "metadata": {"name": "disk"},
        "spec": {"sourceRef": {"kind": "DataSource", "name": "fedora"}, "storage": {}},
    }
    template = {
        "domain": {"devices": {}, "memory": {"guest": "1Gi"}},
        "volumes": [{"name": "d", "dataVolume": {"name": "disk"}}],
    }
    _code, lines = check({"vm.yaml": [source, vm(template=template, dataVolumeTemplates=[disk])]})
    assert "the DataSource shop/fedora has no image yet (NoSource: No source PVC set)" in lines[0]


def test_the_check_reads_no_registry_and_no_cluster(check: Check) -> None:
    task = {"name": "web", "boot": {"container_disk": "quay.io/a/b"}, "infer_from_registry": True}
    named = {"name": "named", **task, "instancetype": "u1.huge", "preference": "fedora"}
    for options, result in (
        (
            task,
            "note: virtual machine web: infer_from_registry: the image quay.io/a/b decides on the"
            " instancetype; the check asks no registry",
        ),
        ({"name": "web", "size": "small"}, "error: virtual machine web: size: requires workload"),
        (named, "error: "),
    ):
        code, lines = check({"tasks.yml": yaml.safe_dump([{"virtshape.instancetypes.virtual_machine": options}])})
        assert result in lines[0] and code == ("error" in result)


@pytest.mark.parametrize(
    ("options", "objects", "result"),
    [
        ({"size": "medium"}, [], f"1 object {CHECKED}: nothing found"),
        ({"size": "medium", "boot": None}, [FEDORA], f"1 object {CHECKED}: nothing found"),
        ({"size": "medium", "boot": None}, [], "note: virtual machine web: workload: no DataSource is among the"),
        ({"size": "medum"}, [], "error: virtual machine web: size: the class general.purpose has no size 'medum'; did"),
        ({"workload": "fedroa"}, [], "warning: virtual machine web: workload: no preference and no DataSource is"),
        (
            {"workload": "Own A"},
            [named("VirtualMachineClusterPreference", name, {}) for name in ("own.a", "owna")],
            "error: virtual machine web: workload: 'Own A' means several preferences: own.a, owna; choose one",
        ),
        ({"boot": None}, [FEDORA], "error: virtual machine web: size: fedora cannot have the default instancetype of"),
        ({"instancetype": "u1.small"}, [], "error: virtual machine web: parameters are mutually exclusive: workload|"),
        (
            {"workload": "own", "template": {"spec": {"domain": {"cpu": {"cores": 2}}}}},
            [named("VirtualMachineClusterPreference", "own", {})],
            "error: VirtualMachine shop/web: spec.template.spec.domain.cpu.cores: VM field(s)",
        ),
    ],
    ids=str,
)
def test_workloads_are_chosen_from_the_known_objects(
    check: Check, options: dict[str, Any], objects: list[dict[str, Any]], result: str
) -> None:
    Path("objects.yml").write_text(yaml.safe_dump_all(objects))
    code, lines = check({"tasks.yml": workload_task(**options)}, "--objects", "objects.yml", *QUIET)
    assert result in lines[0] and code == ("error: " in result), lines


def test_workloads_are_chosen_from_own_catalog(check: Check) -> None:
    catalog = {
        "series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}, "large": {"cpu": 4, "memory": "4Gi"}}}},
        "families": {"acme": {"requires": {"memory": "2Gi"}, "preferences": {"acme.9": {}}}},
    }
    files = {"catalog.yml": catalog, "tasks.yml": workload_task(workload="acme.9")}
    assert check(files, "--catalog", "none", *QUIET) == (0, [f"4 objects {CHECKED}: nothing found"])
    files["tasks.yml"] = workload_task(workload="acme.9", size="small")
    code, lines = check(files, "--catalog", "none")
    assert code == 1 and "acme.9 cannot have the instancetypes of the class web and the size small" in lines[0]


def test_vm_keeps_workload_choice_of_the_base(check: Check) -> None:
    older = named("VirtualMachineClusterInstancetype", "own.small", {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}})
    newer = named("VirtualMachineClusterInstancetype", "own.tiny", {"cpu": {"guest": 1}, "memory": {"guest": "3Gi"}})
    check({"base/all.yml": [older, *workload_task(size={"performance": "own"})]})
    head = [older, newer, *workload_task(size={"performance": "own"})]
    assert check({"head.yml": head}, "--base", "base", *QUIET) == (
        0,
        [f"3 objects {CHECKED}: nothing found", "1 to add, 0 to change, 0 to delete, 0 restarts"],
    )
    head = [older, newer, *workload_task(size={"performance": "own", "name": "tiny"})]
    _code, lines = check({"head.yml": head}, "--base", "base", *QUIET)
    assert "VirtualMachine shop/web: spec.instancetype: a running guest gets" in lines[0]


def test_tasks_and_variables_declare_data_sources(check: Check) -> None:
    """The options of an entry win over those of its task, and these over the defaults."""
    source = {"kind": "DataSource", "namespace": "golden"}
    disks = [
        {"metadata": {"name": f"disk-{name}"}, "spec": {"sourceRef": {**source, "name": name}, "storage": {}}}
        for name in ("one", "two", "three", "gone")
    ]
    module = "virtshape.instancetypes.boot_source"
    files = {
        "tasks.yml": [
            [
                {module: {"name": "one", "namespace": "golden", "image": "quay.io/a/b"}},
                {module: {"namespace": "golden", "boot_sources": [{"name": "two"}, "odd"]}},
                {module: {"namespace": "golden", "name": "gone", "state": "absent"}},
            ]
        ],
        "vars.yml": {"boot_sources_list": [{"name": "three"}], "boot_sources_defaults": {"namespace": "golden"}},
        "vm.yml": vm(dataVolumeTemplates=disks),
    }
    _code, lines = check(files)
    assert [line.partition("the DataSource ")[2] for line in lines if "must-exist" in line] == [
        "golden/gone must exist on the cluster [must-exist]"
    ]
