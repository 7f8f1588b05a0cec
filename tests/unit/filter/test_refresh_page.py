"""The page of a refresh."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

import approved

page = FILTERS["_page"]


def refresh_page(actual: Any, scope: str = "", rows: int = 1000) -> str:
    return page(actual, "refresh", "Revision refresh", scope, rows)


def state(generation: int, memory: str) -> dict[str, Any]:
    captured = {
        "name": "u1.small",
        "revision": f"web-{generation}",
        "generation": generation,
        "pinned": generation == 1,
    }
    return {
        "status": "Running",
        "run_strategy": "Always",
        "guest": {"vcpus": 2, "memory": memory, "gpus": [{"name": "gpu0"}], "host_devices": ["nic0"]},
        "instancetype": {**captured, "pinned": generation == 1},
    }


def result(**more: Any) -> dict[str, Any]:
    vm = {
        "namespace": "shop",
        "name": "web",
        "outcome": "refreshed",
        "restarted": True,
        "restart_required": False,
        "needs": "restart",
        "msg": "shop/web: as <asked>",
        "before": state(1, "2Gi"),
        "after": state(2, "4Gi"),
        "changes": [{"field": "domain.memory.guest", "before": None, "after": "4Gi"}],
    }
    return {
        "check_mode": False,
        "stopped": "",
        "out_of_time": "",
        "counts": {"refreshed": 1, "failed": 0},
        "virtual_machines": [{**vm, **more}],
    }


def test_pages_of_a_run_and_a_plan() -> None:
    report = result()
    (vm,) = report["virtual_machines"]
    later = {"restarted": False, "after": {}, "changes": []}
    verdict = {"evaluated": True, "fits": False, "problem": "quota <full>"}
    # Only the names differ.
    alike = {**vm, "name": "alike", "msg": "shop/alike: as <asked>", "before": state(1, "2Gi")}
    alike["before"]["instancetype"]["revision"] = "alike-1"
    report["virtual_machines"] += [
        alike,
        {**vm, **later, "name": "next-start"},
        {**vm, **later, "name": "live", "needs": "live_update"},
        {**vm, "name": "waits", "restarted": False, "restart_required": True},
        {**vm, "name": "restarted", "outcome": "restarted", "will_run": {**verdict, "fits": True}},
        {**vm, "name": "refused", "outcome": "refused", "msg": "", "will_run": verdict},
        {**vm, "name": "failed", "outcome": "rollback_failed", "will_run": {**verdict, "evaluated": False}},
        {**vm, **later, "name": "same", "outcome": "unchanged"},
    ]
    report["counts"] = {"refreshed": 6, "failed": 0, "rollback_failed": 1, "refused": 1, "restarted": 1}
    approved.check_page(
        "refresh.html", refresh_page({**report, "stopped": "1 failed, at most 0 may"}, "of <shop>"), True
    )
    plan = {**report, "check_mode": True, "out_of_time": "no maintenance window is open"}
    approved.check_page("refresh_plan.html", refresh_page(plan, "of <shop>"), True)


def test_unchanged_vms_are_folded() -> None:
    shown = refresh_page(result(outcome="unchanged", restarted=False, needs="nothing"))
    assert "No VM was changed." in shown.partition("<details>")[0]
    assert "<summary>1 unchanged</summary>" in shown and "<tr>" not in shown.partition("<details>")[0]


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        (([],), "_page: expected the data of the report refresh, found []"),
        (({},), "_page: not the data of the report refresh: 'dict object' has no attribute"),
        ((result(), "", 0), "_page: rows: expected a whole number, 1 or more, found 0"),
    ],
)
def test_bad_input_is_one_line(arguments: tuple[Any, ...], outcome: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        refresh_page(*arguments)
    assert str(caught.value).startswith(outcome)
