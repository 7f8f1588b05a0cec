"""VMs of a repository that make or use the same disk, or have the same MAC address."""

from collections.abc import Callable
from typing import Any

import pytest
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


def test_folders_decide_of_vms_without_namespace(check: Check) -> None:
    def bare(name: str) -> dict[str, Any]:
        manifest = vm(name)
        del manifest["metadata"]["namespace"]
        return manifest

    assert told(check({"dev/vm.yml": bare("web-dev"), "prod/vm.yml": bare("web-prod")})[1]) == []
    assert len(told(check({"dev/vm.yml": bare("web-dev"), "dev/b.yml": bare("b")})[1])) == 2
    files = {"dev/vm.yml": bare("web-dev"), "prod/vm.yml": bare("web-prod")}
    assert len(told(check(files, "--namespace", "shop")[1])) == 2


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


SOURCE = {"source": {"blank": {}}, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
OWNER = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "uid": "1", "controller": True}
TEXT = "KubeVirt uses it for this VM with its content, and deletes it with the VM; choose another name for one of them"


def disk(kind: str, owner: str = "", **metadata: Any) -> dict[str, Any]:
    version = "v1" if kind == "PersistentVolumeClaim" else "cdi.kubevirt.io/v1beta1"
    metadata = {"name": "data", "namespace": "shop", **metadata}
    if owner:
        metadata["ownerReferences"] = [{**OWNER, "name": owner}]
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": SOURCE}


@pytest.mark.parametrize("kind", ["DataVolume", "PersistentVolumeClaim"])
def test_declared_disk_is_taken_over(check: Check, kind: str) -> None:
    volume = kind[0].lower().replace("d", "dataVolume").replace("p", "persistentVolumeClaim")
    remedy = f"use it as it is with a {volume} volume instead of the template"
    message = f"spec.dataVolumeTemplates[0]: disk.yml declares the {kind} shop/data: {TEXT}, or {remedy}"
    code, lines = check({"vm.yml": made("a"), "disk.yml": disk(kind)})
    assert code == 0 and [f"warning: VirtualMachine shop/a: {message}" in line for line in told(lines)] == [True]
    size = {"storage": {"resources": {"requests": {"storage": "{{ size }}"}}}}
    task = {"kubernetes.core.k8s": {"definition": {**disk(kind), "spec": size}}}
    _code, lines = check({"vm.yml": made("a"), "disk.yml": yaml.safe_dump([{"hosts": "all", "tasks": [task]}])})
    assert [message in line for line in told(lines)] == [True]


def test_disks_of_other_folders_are_no_collision(check: Check) -> None:
    files = {"dev/disk.yml": disk("DataVolume", namespace="default"), "prod/vm.yml": made("web", namespace="default")}
    assert told(check(files)[1]) == []
    assert len(told(check({**files, "dev/vm.yml": made("web-dev", namespace="default")})[1])) == 1


def test_disks_of_other_names_are_no_collision(check: Check) -> None:
    for other in ({"name": "other"}, {"namespace": "web"}):
        assert told(check({"vm.yml": made("a"), "disk.yml": disk("DataVolume", **other)})[1]) == []
    # Two templates may be two namespaces.
    objects = (made("a", namespace="{{ shop }}"), disk("DataVolume", namespace="{{ golden }}"))
    tasks = [{"kubernetes.core.k8s": {"definition": manifest}} for manifest in objects]
    assert told(check({"play.yml": yaml.safe_dump([{"hosts": "all", "tasks": tasks}])})[1]) == []


@pytest.mark.parametrize(("adopts", "found"), [(False, 1), (True, 0)])
def test_task_adopts_a_declared_disk(check: Check, adopts: bool, found: int) -> None:
    spec = made("a")["spec"]
    templates = {"data_volume_templates": spec.pop("dataVolumeTemplates"), "spec": spec}
    options = {"name": "a", "namespace": "shop", "adopt_disks": adopts, **templates}
    task = {"virtshape.instancetypes.virtual_machine": options}
    play = yaml.safe_dump([{"hosts": "localhost", "tasks": [task]}])
    lines = told(check({"play.yml": play, "disk.yml": disk("DataVolume")})[1])
    assert len(lines) == found
    assert all("or use it as it is with data_volume, or set adopt_disks: true" in line for line in lines)


def test_disks_of_the_cluster_belong_to_others(check: Check) -> None:
    for kind in ("DataVolume", "PersistentVolumeClaim"):
        for owner in ("", "a"):
            files = {"vm.yml": made("a"), "live.yml": disk(kind, owner)}
            assert told(check(files, "--objects", "live.yml", paths=["vm.yml"])[1]) == []
        (line,) = told(check({"live.yml": disk(kind, "db")}, "--objects", "live.yml", paths=["vm.yml"])[1])
        assert f"the {kind} shop/data belongs to the VirtualMachine db: KubeVirt uses it with its content" in line


@pytest.mark.parametrize("claim", [False, True])
def test_upload_makes_a_disk(check: Check, claim: bool) -> None:
    upload = {"path": "disk.img", "volume": "data", "claim": claim}
    task = {"virtshape.instancetypes.boot_source": {"name": "os", "namespace": "shop", "size": "1Gi", "upload": upload}}
    play = yaml.safe_dump([{"hosts": "localhost", "tasks": [task]}])
    (line,) = told(check({"vm.yml": made("a"), "play.yml": play})[1])
    assert f"play.yml declares the {'PersistentVolumeClaim' if claim else 'DataVolume'} shop/data" in line


def test_dump_has_the_disks_of_its_vms(check: Check) -> None:
    claim = disk("PersistentVolumeClaim")
    claim["metadata"]["ownerReferences"] = [{**OWNER, "kind": "DataVolume", "name": "data"}]
    assert told(check({"live.yml": [made("a"), disk("DataVolume", "a"), claim]})[1]) == []
    # CDI has not made the claim yet.
    assert told(check({"live.yml": [made("a"), disk("DataVolume", "a")]})[1]) == []
    assert len(told(check({"live.yml": [made("a"), disk("DataVolume", "b")]})[1])) == 1
