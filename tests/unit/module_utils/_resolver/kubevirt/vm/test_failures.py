"""Remedies for the failures of VMs."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.keys import RETRIED_ANNOTATION
from plugins.module_utils._resolver.api.manifest import Progress
from plugins.module_utils._resolver.kubevirt.vm import failures, readiness


def vm(reason: str, message: str = "no", status: str = "True", **more: Any) -> dict[str, Any]:
    conditions = [{"type": "Failure", "status": status, "reason": reason, "message": message}]
    return {
        "metadata": {"name": "web", "namespace": "shop", "resourceVersion": "7", "generation": 1},
        "spec": {"runStrategy": "Always"},
        "status": {"conditions": conditions, "printableStatus": "Running", "ready": True, "created": True, **more},
    }


@pytest.mark.parametrize("reason", ["HotPlugVolumeError", "HotPlugNetworkInterfaceError", "VolumesUpdateError"])
def test_a_guest_runs_on_without_a_change(reason: str) -> None:
    assert readiness.readiness(vm(reason)).done
    text = failures.unfinished_change(vm(reason, "it is\nnot possible"))
    assert text is not None and f"({reason}: it is not possible); the guest gets the change at its next restart" in text
    assert failures.retry_patch(vm(reason)) is None


def test_a_volume_without_a_disk_has_a_remedy() -> None:
    text = failures.unfinished_change(
        vm("HotPlugVolumeError", "mismatch between volumes declared (2) and required (1)")
    )
    assert text is not None and text.endswith("give each hotpluggable volume an entry of its name in disks")


@pytest.mark.parametrize("reason", ["FailedCreate", "FailedFindInstancetype"])
def test_what_was_missing_may_be_there_now(reason: str) -> None:
    patch = failures.retry_patch(vm(reason))
    assert patch == {"metadata": {"annotations": {RETRIED_ANNOTATION: "7"}}}
    assert readiness.readiness(vm(reason)).failed == f"{reason}: no"
    assert failures.unfinished_change(vm(reason)) is None


def test_a_lost_race_passes() -> None:
    state = readiness.readiness(vm("FailedCreate", "the object has been modified"))
    assert state == Progress(pending="FailedCreate: the object has been modified")
    assert failures.retry_patch(vm("FailedCreate", "the object has been modified")) is None


def test_unknown_failures_are_final() -> None:
    assert readiness.readiness(vm("NewError")).failed == "NewError: no"
    assert failures.retry_patch(vm("NewError")) is None
    assert failures.unfinished_change(vm("NewError")) is None


def test_a_failure_that_is_over_is_none() -> None:
    over = vm("FailedCreate", status="False")
    assert readiness.readiness(over).done
    assert (failures.failure_of(over)[0], failures.retry_patch(over), failures.unfinished_change(over)) == (
        {},
        None,
        None,
    )
