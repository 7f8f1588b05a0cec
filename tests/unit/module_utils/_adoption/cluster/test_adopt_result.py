"""The result of virtual_machine_adopt for many VMs."""

from typing import Any

import pytest

from plugins.module_utils._adoption.adopt import Adoption, Candidate
from plugins.module_utils._adoption.cluster import virtual_machine_adopt
from plugins.module_utils._adoption.cluster.adopt import AdoptGoal, AdoptJob, adopt_job
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.step import Job
from plugins.module_utils._resolver.guest.effect import LIVE, RESTART, GuestEffect


class Alone(Job[AdoptGoal]):
    """A result that is not compared with others, which takes long."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("results are compared")


def test_refused_vms_are_counted_without_comparing_results() -> None:
    a, b, c = (Alone(ObjectKey("VirtualMachine", "shop", name), AdoptGoal(vm(name))) for name in "abc")
    a.failed, b.acted = "no", True
    returned = virtual_machine_adopt._task_result({"results_on_failure": "all"}, Task(), [a, b, c])
    assert returned["failed"]
    assert [result["failed"] for result in returned["results"]] == [True, False, False]
    assert returned["msg"] == "1 of 3 virtual machines failed: shop/a: no; 1 adopted, 1 unchanged"


def vm(name: str, manager: str = "kubectl") -> dict[str, Any]:
    owned = {"manager": manager, "operation": "Update", "fieldsV1": {"f:spec": {"f:running": {}}}}
    return {"metadata": {"name": name, "namespace": "shop", "managedFields": [owned]}, "spec": {}}


CHOSEN = Candidate({"name": "small"}, None, vm("chosen"), {}, ())


def warnings(results: list[AdoptJob], task: Task) -> list[str]:
    virtual_machine_adopt._task_result({}, task, results)
    return task.warnings


@pytest.mark.parametrize("check", [True, False])
def test_adoption_warns_once_about_needed_restarts(check: bool) -> None:
    results = [
        adopt_job(vm(name), Adoption(CHOSEN), GuestEffect(needs)) for name, needs in zip("abcd", (RESTART, *3 * [LIVE]))
    ]
    results[3].goal.effect = GuestEffect(RESTART)
    for result in results[:3]:
        result.acted = True
    need, remedy = "would need" if check else "needs", "use virtual_machine_power with state: restarted"
    assert warnings(results, Task(check_mode=check)) == [f"shop/a {need} a restart for this; {remedy}"]
    results[1].goal.effect = GuestEffect(RESTART)
    need = "would need" if check else "need"
    assert warnings(results, Task(check_mode=check)) == [f"2 VMs {need} a restart for this; {remedy}"]


def test_check_mode_explains_refused_adoptions() -> None:
    nearest = Candidate({"name": "small"}, None, {}, {}, ({"field": "domain.cpu.cores", "before": 2, "after": 1},))
    result = adopt_job(vm("a"), Adoption(nearest=(nearest,), remedy="set accept: [domain.cpu]"))
    result.failed = "no instancetype"
    task = Task(check_mode=True)
    returned = virtual_machine_adopt._task_result({}, task, [result])
    why = "no instancetype; the nearest match is small: differs in domain.cpu.cores; set accept: [domain.cpu]"
    assert (returned.get("failed", False), task.warnings) == (
        False,
        [f"1 virtual machine cannot be adopted: shop/a: {why}"],
    )
    assert returned["results"][0]["msg"] == why


def test_vms_declared_elsewhere_are_named_once() -> None:
    results = [adopt_job(vm(name), Adoption(CHOSEN)) for name in "abc"]
    for result in results:
        result.goal.declared_elsewhere = "Argo CD declares it too"
        result.acted = result.key.name != "c"
    assert warnings(results, Task()) == ["shop/a, shop/b: Argo CD declares it too"]
