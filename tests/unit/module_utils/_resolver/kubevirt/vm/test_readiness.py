"""Readiness of VMs."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.manifest import Progress
from plugins.module_utils._resolver.kubevirt.vm.readiness import observed, readiness

CAPTURED = {"name": "u1.small", "controllerRevisionRef": {"name": "r"}}


def vm(strategy: str = "Always", **status: Any) -> dict[str, Any]:
    return {"spec": {"runStrategy": strategy, "instancetype": {"name": "u1.small"}}, "status": status}


@pytest.mark.parametrize(
    "ready",
    [
        vm(instancetypeRef=CAPTURED, printableStatus="Running", ready=True),
        vm("Halted", instancetypeRef=CAPTURED, printableStatus="Stopped"),
        vm("Manual", instancetypeRef=CAPTURED),
        # KubeVirt 1.4 and older keep the revision in the spec.
        {
            "spec": {"runStrategy": "Halted", "instancetype": {"name": "a", "revisionName": "r"}},
            "status": {"printableStatus": "Stopped"},
        },
        {"spec": {"running": True}, "status": {"printableStatus": "Running", "ready": True}},
        # The guest says so before the printed status does.
        vm(instancetypeRef=CAPTURED, printableStatus="Starting", ready=True),
        # Paused on purpose, after it was started.
        vm(instancetypeRef=CAPTURED, printableStatus="Paused"),
        # These start a VM once: what has ended or was stopped stays so.
        vm("Once", instancetypeRef=CAPTURED, printableStatus="Stopped", runStrategy="Once"),
        vm("RerunOnFailure", instancetypeRef=CAPTURED, printableStatus="Stopped", runStrategy="RerunOnFailure"),
    ],
)
def test_ready(ready: dict[str, Any]) -> None:
    assert readiness(ready).done


@pytest.mark.parametrize(
    ("pending", "reason"),
    [
        (vm(printableStatus="Running"), "KubeVirt to capture the revision of its instancetype"),
        (
            vm(instancetypeRef={"name": "u1.large", "controllerRevisionRef": {"name": "r"}}),
            "KubeVirt to capture the revision of its instancetype",
        ),
        (vm(instancetypeRef=CAPTURED, printableStatus="Starting"), "the VM to run (now Starting)"),
        # Its readiness probe has not succeeded yet.
        (vm(instancetypeRef=CAPTURED, printableStatus="Running", ready=False), "the VM to be ready (now Running)"),
        # Its VMI has ended and is still there.
        (
            vm("Halted", instancetypeRef=CAPTURED, printableStatus="Stopped", created=True),
            "the VM to stop (now Stopped)",
        ),
        (vm("Once", instancetypeRef=CAPTURED, printableStatus="Stopped"), "the VM to run (now Stopped)"),
        (
            vm("Always", instancetypeRef=CAPTURED, printableStatus="Stopped", runStrategy="Always"),
            "the VM to run (now Stopped)",
        ),
        (vm("Halted", instancetypeRef=CAPTURED, printableStatus="Stopping"), "the VM to stop (now Stopping)"),
        (vm("Halted", instancetypeRef=CAPTURED), "the VM to stop (now without status)"),
        (vm(instancetypeRef=CAPTURED), "the VM to run (now without status)"),
        # It was asked to start once more.
        (
            vm(
                "Once",
                instancetypeRef=CAPTURED,
                printableStatus="Stopped",
                runStrategy="Once",
                stateChangeRequests=[{"action": "Start"}],
            ),
            "the VM to run (now Stopped)",
        ),
        (
            {"spec": {"instancetype": {"name": "a"}, "preference": {"name": "b"}}},
            "KubeVirt to capture the revision of its instancetype and preference",
        ),
        # A synchronized VM has not failed, whatever the reason is called.
        (
            vm(
                instancetypeRef=CAPTURED,
                printableStatus="Starting",
                conditions=[{"type": "Synchronized", "status": "True", "reason": "FailedOnce"}],
            ),
            "the VM to run (now Starting)",
        ),
        (
            vm(instancetypeRef=CAPTURED, conditions=[{"type": "Synchronized", "status": "False"}]),
            "the VM to run (now without status)",
        ),
    ],
)
def test_pending(pending: dict[str, Any], reason: str) -> None:
    assert readiness(pending) == Progress(pending=reason)


@pytest.mark.parametrize("reason", ["FailedFindInstancetype", "FailedFindPreference"])
def test_failure_condition_ends_wait_with_its_reason(reason: str) -> None:
    failing = vm(conditions=[{"type": "Failure", "status": "True", "reason": reason, "message": "nope"}])
    assert readiness(failing).failed == f"{reason}: nope"


def condition(kind: str, reason: str, message: str = "", status: str = "False") -> dict[str, Any]:
    return {"type": kind, "status": status, "reason": reason, "message": message}


NOT_READY = condition("Ready", "GuestNotRunning", "Guest VM is not reported as running")


@pytest.mark.parametrize(
    ("printable", "conditions", "reason"),
    [
        ("CrashLoopBackOff", [], "CrashLoopBackOff"),
        ("Stopped", [condition("Failure", "", "it broke", "True")], "Failure: it broke"),
        # The pod was refused; the VM is said to be starting for ever.
        (
            "Starting",
            [NOT_READY, condition("Synchronized", "FailedCreate", "exceeded quota: small")],
            "FailedCreate: exceeded quota: small",
        ),
        (
            "Stopped",
            [condition("Failure", "FailedCreate", "admission denied", "True")],
            "FailedCreate: admission denied",
        ),
    ],
)
def test_permanent_failure_ends_wait(printable: str, conditions: list[dict[str, Any]], reason: str) -> None:
    manifest = vm(instancetypeRef=CAPTURED, printableStatus=printable, conditions=conditions)
    assert readiness(manifest) == Progress(failed=reason)


@pytest.mark.parametrize(
    ("printable", "conditions", "reason"),
    [
        ("ErrImagePull", [], "ErrImagePull"),
        (
            "ImagePullBackOff",
            [NOT_READY, condition("Synchronized", "ImagePullBackOff", "Back-off pulling image")],
            "ImagePullBackOff: Back-off pulling image",
        ),
        (
            "DataVolumeError",
            [condition("DataVolumesReady", "DVError", "DataVolume disk")],
            "DataVolumeError: DataVolume disk",
        ),
        ("ErrorPvcNotFound", [NOT_READY], "ErrorPvcNotFound"),
        # Only an unmet condition with words for it says why.
        (
            "ErrImagePull",
            [condition("Synchronized", "", "all is well", "True"), condition("Ready", "", "no guest")],
            "ErrImagePull: no guest",
        ),
        ("ErrImagePull", [condition("Synchronized", "")], "ErrImagePull"),
    ],
)
def test_missing_volumes_and_images_have_grace(printable: str, conditions: list[dict[str, Any]], reason: str) -> None:
    manifest = vm(instancetypeRef=CAPTURED, printableStatus=printable, conditions=conditions)
    assert readiness(manifest) == Progress(stuck=reason, grace=20.0)


@pytest.mark.parametrize(("failures", "grace"), [(1, 20.0), (2, 0.0)])
def test_first_start_failure_has_grace(failures: int, grace: float) -> None:
    """Recorded: KubeVirt counts the restart of a guest that waits for a node as a failed start."""
    manifest = vm(
        instancetypeRef=CAPTURED, printableStatus="CrashLoopBackOff", startFailure={"consecutiveFailCount": failures}
    )
    result = readiness(manifest)
    text = f"CrashLoopBackOff: {failures} failed start{'s' if failures > 1 else ''} in a row"
    assert (result.stuck or result.failed, result.grace) == (text, grace)


def test_temporary_failure_has_grace() -> None:
    conditions = [NOT_READY, condition("PodScheduled", "Unschedulable", "0/3 nodes are available")]
    result = readiness(vm(instancetypeRef=CAPTURED, printableStatus="ErrorUnschedulable", conditions=conditions))
    assert (result.failed, result.stuck, result.grace > 0) == (
        None,
        "ErrorUnschedulable: 0/3 nodes are available",
        True,
    )


def test_lost_race_is_pending_without_limit() -> None:
    text = "storing: the server rejected our request due to an error in our request"
    race = condition("Failure", "FailedCreate", text, "True")
    assert readiness(vm(printableStatus="Stopped", conditions=[race])) == Progress(pending=f"FailedCreate: {text}")


def test_failed_hotplug_does_not_fail_running_vm() -> None:
    conditions = [condition("Synchronized", "FailedHotplug", "no such volume")]
    assert readiness(vm(instancetypeRef=CAPTURED, printableStatus="Running", ready=True, conditions=conditions)).done


def test_readiness_waits_until_change_is_observed() -> None:
    running = vm(instancetypeRef=CAPTURED, printableStatus="Running", ready=True, created=True, desiredGeneration=2)
    changed = {**running, "metadata": {"generation": 3}}
    assert not observed(changed)
    assert readiness(changed) == Progress(pending="virt-controller to look at the change")
    assert readiness({**running, "metadata": {"generation": 2}}).done
    stopped = vm("Halted", instancetypeRef=CAPTURED, printableStatus="Stopped", desiredGeneration=2)
    assert readiness({**stopped, "metadata": {"generation": 3}}).done


def test_vm_without_generation_is_observed() -> None:
    running = vm(instancetypeRef=CAPTURED, printableStatus="Running", created=True, desiredGeneration=0)
    assert observed({**running, "metadata": {}})


def test_deleted_vm_ends_wait() -> None:
    assert readiness(None).failed == "the VM was deleted while the task waited for it"
