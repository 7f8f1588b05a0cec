"""The condition RestartRequired. What needs a restart `_resolver` says."""

from __future__ import annotations

from typing import Any

from _resolver.instancetype.find.lookup import Objects
from kubevirt_emulation.controllers.context import Work
from kubevirt_emulation.controllers.restart_required import compare, is_set, require, settle

Manifest = dict[str, Any]

VMI: Manifest = {"spec": {"domain": {"devices": {}}}}


def vm(**spec: Any) -> Manifest:
    template = {"spec": {"architecture": "amd64", "domain": {"devices": {}}, **spec}}
    return {"metadata": {"name": "a", "namespace": "ns"}, "spec": {"template": template}, "status": {}}


def test_a_vm_is_compared_with_its_start() -> None:
    changed = vm(terminationGracePeriodSeconds=5)
    assert compare(changed, vm()["spec"], VMI, Objects([]), True) is True
    assert compare(changed, changed["spec"], VMI, Objects([]), True) is False
    unknown = {**vm()["spec"], "instancetype": {"name": "lost", "kind": "VirtualMachineInstancetype"}}
    assert compare(changed, unknown, VMI, Objects([]), True) is None


def test_the_condition_keeps_its_first_message_until_it_goes() -> None:
    work = Work(vm(), None)
    assert not is_set(work)
    require(work, "one")
    require(work, "two")
    assert is_set(work)
    assert [entry["message"] for entry in work.vm["status"]["conditions"]] == ["one"]
    settle(work)
    assert not is_set(work)
    require(work, "two")
    assert [entry["message"] for entry in work.vm["status"]["conditions"]] == ["two"]
