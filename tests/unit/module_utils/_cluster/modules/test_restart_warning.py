"""virtual_machine warns once for a task of changes that do not reach running guests."""

from typing import Any

import pytest

from plugins.module_utils._cluster.modules.declaration import Declaration
from plugins.module_utils._cluster.modules.virtual_machine import vm_details
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.change.declared import NOT_PLANNED, DeclareJob, declare_job
from plugins.module_utils._resolver.change.step import Seen
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.guest.effect import LIVE, NOTHING, RESTART, GuestEffect

REMEDY = "set restart: if_required"
WAITS = {"created": True, "conditions": [{"type": "RestartRequired", "status": "True"}]}


def result(name: str, effect: GuestEffect | None, action: str = plan.APPLY, status: Any = None) -> DeclareJob:
    key = ObjectKey("VirtualMachine", "shop", name)
    live = {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"runStrategy": "Always"},
        "status": status or {"created": True},
    }
    job = declare_job(key, "present", {})
    job.goal.plan, job.goal.effect = NOT_PLANNED._replace(action=action), effect
    job.seen = Seen(live)
    return job


def warnings(*results: DeclareJob, check: bool = False, restart: str = "never") -> list[str]:
    declaration = Declaration("virtual_machines", {"name": {}, "state": {}}, dict, describe=vm_details)
    params = {"name": None, "restart": restart, "results_on_failure": "failed"}
    task = Task(check_mode=check)
    declaration._result(params, task, list(results))
    return task.warnings


def test_single_vm_is_named() -> None:
    grows, plugged, same = (
        result("a", GuestEffect(RESTART)),
        result("b", GuestEffect(LIVE)),
        result("c", None, plan.NONE),
    )
    assert warnings(grows, plugged, same) == [f"shop/a needs a restart for this; {REMEDY}"]
    assert warnings(grows, plugged, same, check=True) == [f"shop/a would need a restart for this; {REMEDY}"]
    assert warnings(plugged, same) == []


def test_several_are_counted_those_of_earlier_runs_included() -> None:
    grows, earlier = result("a", GuestEffect(RESTART)), result("b", None, plan.NONE, WAITS)
    assert warnings(grows, earlier) == [f"2 VMs need a restart for this; {REMEDY}"]
    assert warnings(grows, earlier, check=True) == [f"2 VMs would need a restart for this; {REMEDY}"]


def test_warning_beside_failures_does_not_count_them() -> None:
    grows, failed = result("a", GuestEffect(RESTART)), result("b", GuestEffect(RESTART))
    failed.failed = "no"
    assert warnings(grows, failed) == [f"shop/a needs a restart for this; {REMEDY}"]


@pytest.mark.parametrize("check", [True, False])
def test_requested_or_useless_restart_gives_no_warning(check: bool) -> None:
    done = result("a", GuestEffect(RESTART))
    done.restart = True
    assert warnings(done, check=check, restart="if_required") == []
    complete = result("a", GuestEffect(NOTHING, requested=True), plan.NONE, WAITS)
    deleted = result("b", None, plan.DELETE, WAITS)
    assert warnings(complete, deleted, check=check) == []
