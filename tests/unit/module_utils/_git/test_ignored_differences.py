"""Fields that Argo CD should not revert. test_git_holds_the_fleet.py asks its own engine about such VMs."""

from typing import Any

from plugins.module_utils._git.ignored_differences import ignored_differences

VM = {"group": "kubevirt.io", "kind": "VirtualMachine"}


def vm(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachine", "metadata": {"name": name, "namespace": "shop"}, "spec": spec}


def test_users_start_and_stop_vms() -> None:
    assert ignored_differences([vm(runStrategy="Always"), vm("db", runStrategy="Halted")], power=True) == [
        {**VM, "jsonPointers": ["/spec/runStrategy"]}
    ]
    assert ignored_differences([vm(running=True)], power=True) == [{**VM, "jsonPointers": ["/spec/running"]}]
    assert ignored_differences([vm(runStrategy="Always")], power=False) == []


def test_admission_replaces_an_inference() -> None:
    inferred = vm(instancetype={"inferFromVolume": "root"}, preference={"inferFromVolume": "root"})
    named = vm("db", instancetype={"name": "u1.small"}, preference={"name": "fedora"})
    assert ignored_differences([named, inferred], power=True) == [
        {**VM, "namespace": "shop", "name": "web", "jsonPointers": ["/spec/instancetype", "/spec/preference"]}
    ]


def test_an_absent_interface_is_written() -> None:
    interfaces = [{"name": "default"}, {"name": "backup", "state": "absent"}]
    absent = vm(template={"spec": {"domain": {"devices": {"interfaces": interfaces}}}})
    assert ignored_differences([absent], power=True) == []


def test_without_vms_nothing_differs() -> None:
    assert ignored_differences([], power=True) == []
    assert ignored_differences([{"kind": "VirtualMachine"}], power=True) == []
