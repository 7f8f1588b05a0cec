"""The status of a VM tells the state of its guest."""

from typing import Any

import pytest

from plugins.module_utils._resolver.kubevirt.vm.readiness import has_guest, restart_required, same_status


def vm(strategy: str = "Always", **status: Any) -> dict[str, Any]:
    return {"spec": {"runStrategy": strategy}, "status": status}


def condition(kind: str, status: str = "False") -> dict[str, Any]:
    return {"type": kind, "status": status}


NOT_READY = condition("Ready")


@pytest.mark.parametrize(
    ("observed", "runs"),
    [
        (vm("Always", created=True), True),
        (vm("Halted", created=True), False),
        (vm("Always", created=False), False),
        (vm("Always"), False),
        ({"spec": {"running": True}, "status": {"created": True}}, True),
        ({"spec": {"running": True}}, False),
    ],
)
def test_status_shows_whether_a_guest_exists(observed: dict[str, Any], runs: bool) -> None:
    assert has_guest(observed) is runs


def test_a_required_restart_is_read_from_its_condition() -> None:
    waits = condition("RestartRequired", "True")
    assert restart_required(vm(conditions=[NOT_READY, waits])) == waits
    assert restart_required(vm(conditions=[condition("RestartRequired")])) is None
    assert restart_required({"spec": {}}) is None


def test_same_status_compares_conditions_and_printable_status() -> None:
    before = vm(conditions=[NOT_READY], printableStatus="ErrImagePull")
    assert same_status(before, {**before, "spec": {}})
    assert not same_status(before, vm(conditions=[], printableStatus="ErrImagePull"))
    assert not same_status(before, vm(conditions=[NOT_READY], printableStatus="Stopped"))
