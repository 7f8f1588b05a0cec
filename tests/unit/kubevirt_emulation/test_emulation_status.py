"""A VM's status."""

from __future__ import annotations

from typing import Any

import pytest

from kubevirt_emulation.controllers.context import Failure, Work
from kubevirt_emulation.controllers.status import compute

Manifest = dict[str, Any]


def vm(strategy: str = "Always", status: Manifest | None = None, **metadata: Any) -> Manifest:
    return {
        "metadata": {"name": "a", "namespace": "ns", "uid": "vm-uid", "generation": 3, **metadata},
        "spec": {"runStrategy": strategy, "template": {"spec": {"domain": {"devices": {}}}}},
        "status": status or {},
    }


def vmi(phase: str = "Running", ready: bool = True, **metadata: Any) -> Manifest:
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    metadata = {"uid": "vmi-uid", "annotations": {"kubevirt.io/vm-generation": "2"}, **metadata}
    return {"metadata": metadata, "status": {"phase": phase, "conditions": conditions}}


def conditions(status: Manifest) -> dict[str, Any]:
    return {entry["type"]: entry for entry in status["conditions"]}


def test_a_vm_that_never_ran() -> None:
    status = compute(Work(vm("Halted"), None))
    assert status.keys() == {"conditions", "printableStatus"}
    assert status["printableStatus"] == "Stopped"
    assert conditions(status)["Ready"]["reason"] == "VMINotExists"


def test_a_running_vm() -> None:
    status = compute(Work(vm(), vmi()))
    assert (status["created"], status["ready"], status["printableStatus"]) == (True, True, "Running")
    assert (status["desiredGeneration"], status["observedGeneration"], status["runStrategy"]) == (3, 2, "Always")


def test_what_was_observed_of_a_vmi_stays_after_it() -> None:
    status = compute(Work(vm("Halted", compute(Work(vm(), vmi()))), None))
    assert "created" not in status and "ready" not in status
    assert (status["runStrategy"], status["observedGeneration"]) == ("Halted", 2)


@pytest.mark.parametrize(
    ("work", "expected"),
    [
        (Work(vm(deletionTimestamp="x"), vmi()), "Terminating"),
        (Work(vm(), vmi(deletionTimestamp="x")), "Stopping"),
        (Work(vm(), vmi("Scheduling", ready=False)), "Starting"),
        (Work(vm(), vmi("Succeeded", ready=False)), "Stopped"),
        (Work(vm(), None, provisioning=True), "Provisioning"),
    ],
)
def test_printable_status(work: Work, expected: str) -> None:
    assert compute(work)["printableStatus"] == expected


def test_paused() -> None:
    instance = vmi()
    instance["status"]["conditions"].append({"type": "Paused", "status": "True", "reason": "PausedByUser"})
    status = compute(Work(vm(), instance))
    assert status["printableStatus"] == "Paused"
    assert conditions(status)["Paused"]["reason"] == "PausedByUser"


def test_a_vm_has_what_its_vmi_says_but_not_what_is_said_of_itself() -> None:
    instance = vmi()
    for name in ("HotVCPUChange", "StorageLiveMigratable", "RestartRequired"):
        instance["status"]["conditions"].append({"type": name, "status": "True"})
    assert conditions(compute(Work(vm(), instance))).keys() == {"Ready", "HotVCPUChange", "StorageLiveMigratable"}


def test_failure_comes_and_goes() -> None:
    status = compute(Work(vm(), vmi(), failure=Failure("FailedFindInstancetype", "gone")))
    assert conditions(status)["Failure"]["reason"] == "FailedFindInstancetype"
    assert conditions(compute(Work(vm(status=status), vmi()))).keys() == {"Ready"}


def test_a_new_message_alone_is_not_taken_over() -> None:
    status = compute(Work(vm(), vmi(), failure=Failure("FailedCreate", "one")))
    again = compute(Work(vm(status=status), vmi(), failure=Failure("FailedCreate", "two")))
    assert conditions(again)["Failure"]["message"] == "one"
    other = compute(Work(vm(status=status), vmi(), failure=Failure("HotPlugCPUError", "two")))
    assert conditions(other)["Failure"]["message"] == "two"


def test_restart_required_is_the_vm_s_own() -> None:
    required = {"type": "RestartRequired", "status": "True", "message": "memory"}
    status = compute(Work(vm(status={"conditions": [required]}), vmi()))
    assert conditions(status)["RestartRequired"] == required


def test_a_vm_keeps_what_its_vmi_said_last() -> None:
    instance = vmi()
    instance["status"]["conditions"].append({"type": "LiveMigratable", "status": "True"})
    stopped = compute(Work(vm(status=compute(Work(vm(), instance))), None))
    assert conditions(stopped).keys() == {"Ready", "LiveMigratable"}
    assert conditions(stopped)["Ready"]["status"] == "False"
    assert conditions(compute(Work(vm(status=stopped), vmi()))).keys() == {"Ready"}


def test_a_vmi_that_says_nothing_is_not_ready() -> None:
    silent = {"metadata": {"uid": "u"}, "status": {"phase": "Scheduled"}}
    assert conditions(compute(Work(vm(), silent)))["Ready"]["reason"] == "VMIConditionMissing"


def test_an_unchanged_condition_keeps_its_time() -> None:
    status = compute(Work(vm("Halted"), None))
    status["conditions"][0]["lastTransitionTime"] = "2020-01-01T00:00:00Z"
    again = compute(Work(vm("Halted", status), None))
    assert again["conditions"] == status["conditions"]


@pytest.mark.parametrize(
    ("requests", "instance", "left"),
    [
        ([{"action": "Stop", "uid": "vmi-uid"}, {"action": "Start"}], vmi(), 2),
        ([{"action": "Stop", "uid": "vmi-uid"}, {"action": "Start"}], None, 1),
        ([{"action": "Stop", "uid": "another"}], vmi(), 0),
        ([{"action": "Start"}], vmi(), 0),
        ([{"action": "Start"}], vmi(deletionTimestamp="x"), 1),
        ([{"action": "Start"}], vmi("Succeeded"), 1),
        ([{"action": "Start"}], None, 1),
    ],
)
def test_requests_that_are_done_go(requests: list[Manifest], instance: Manifest | None, left: int) -> None:
    status = compute(Work(vm("Manual", {"stateChangeRequests": requests}), instance))
    assert status.get("stateChangeRequests", []) == requests[len(requests) - left :]
