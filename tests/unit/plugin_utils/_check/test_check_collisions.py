"""VMs of a repository that make or use the same disk, or have the same MAC address."""

from collections.abc import Callable
from typing import Any

import yaml

Check = Callable[..., tuple[int, list[str]]]

CLAIM = {"name": "root", "persistentVolumeClaim": {"claimName": "data"}}


def vm(name: str, namespace: str = "shop", **spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}, "volumes": [CLAIM]}}
    metadata = {"name": name, "namespace": namespace}
    spec = {"runStrategy": "Always", "template": template, **spec}
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata, "spec": spec}


def made(name: str, **more: Any) -> dict[str, Any]:
    source = {"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
    return vm(name, runStrategy="Halted", dataVolumeTemplates=[{"metadata": {"name": "data"}, "spec": source}], **more)


def told(lines: list[str]) -> list[str]:
    return [line for line in lines if "[collision]" in line]


def test_vms_of_several_files_share_a_disk(check: Check) -> None:
    _code, lines = check({"a.yml": vm("a"), "b.yml": [vm("b"), vm("c", "other")]})
    first, second = told(lines)
    text = "spec.template.spec.volumes[0]: shop/a and shop/b use the disk data: QEMU refuses the second guest"
    assert first.startswith(f"a.yml:15: warning: VirtualMachine shop/a: {text}")
    assert second.startswith(f"b.yml:15: warning: VirtualMachine shop/b: {text}")


def test_vms_of_one_file_make_one_disk(check: Check) -> None:
    code, lines = check({"a.yml": [made("a"), made("b")]})
    assert code == 1 and [": error: " in line for line in told(lines)] == [True, True]
    code, lines = check({"b.yml": made("b")}, "--objects", "a.yml")
    assert code == 0 and [": warning: " in line for line in told(lines)] == [True]
    # The same VM for another cluster.
    assert told(check({"a.yml": made("a"), "b.yml": made("a")})[1]) == []


def test_entries_of_a_task_share_a_disk(check: Check) -> None:
    entries = {"virtual_machines": [{"name": "a"}, {"name": "b"}], "run_strategy": "Always", "namespace": "shop"}
    task = {"virtshape.instancetypes.virtual_machine": {**entries, "boot": {"pvc": "data"}, "memory": "1Gi"}}
    _code, lines = check({"play.yml": yaml.safe_dump([{"hosts": "localhost", "tasks": [task]}])})
    assert len(told(lines)) == 2, lines
