"""The page of a refresh."""

import re
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

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


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", page.partition("</style>")[2]).split())


def test_page_says_why_the_run_is_unfinished() -> None:
    report = {**result(), "out_of_time": "no maintenance window is open"}
    assert "Not finished. no maintenance window is open" in words(refresh_page(report))


def test_a_vm_has_a_row() -> None:
    shown = words(refresh_page(result(), "namespaces shop"))
    assert "UTC · namespaces shop 1 virtual machines 1 refreshed" in shown
    assert "1 shop/web refreshed restarted as &lt;asked&gt; Running Always" in shown
    assert "2 vCPU, 2Gi, gpu0, nic0 u1.small, generation 1 (pinned)" in shown
    assert "2 vCPU, 4Gi, gpu0, nic0 u1.small, generation 2" in shown
    assert "domain.memory.guest : not set → 4Gi" in shown


def test_page_shows_whether_the_vm_will_run() -> None:
    assert "Will run" not in refresh_page(result())
    for evaluated, fits, shown in (
        (True, True, "yes"),
        (True, False, "no quota <full>"),
        (False, False, "unknown quota <full>"),
    ):
        outcome = {"evaluated": evaluated, "fits": fits, "problem": "" if fits else "quota <full>"}
        text = words(refresh_page(result(will_run=outcome)))
        assert "Will run" in text and shown.replace("<full>", "&lt;full&gt;") in text


def test_the_page_shows_when_a_refresh_takes_effect() -> None:
    assert "needs a restart" in refresh_page(result(restarted=False, restart_required=True))
    later = result(restarted=False, needs="restart", after={}, changes=[])
    assert "refreshed takes effect at its next start as &lt;asked&gt; gone Always" in words(refresh_page(later))


def test_the_page_shows_why_a_run_stopped() -> None:
    shown = words(refresh_page({**result(), "stopped": "1 failed, at most 0 may"}))
    assert "Stopped. 1 failed, at most 0 may" in shown


def test_vms_differing_only_by_name_share_one_row() -> None:
    report = result()
    (vm,) = report["virtual_machines"]
    other = {**vm, "name": "other", "msg": "shop/other: as <asked>", "before": state(1, "2Gi")}
    other["before"]["instancetype"]["revision"] = "other-1"
    report["virtual_machines"] += [other, {**vm, "name": "odd", "restarted": False}]
    shown = words(refresh_page(report))
    assert "2 shop/web, shop/other refreshed restarted as" in shown and "1 shop/odd refreshed takes effect" in shown


def test_unchanged_vms_are_folded() -> None:
    shown = refresh_page(result(outcome="unchanged", restarted=False, needs="nothing"))
    assert "No VM was changed." in shown.partition("<details>")[0]
    assert "<summary>1 unchanged</summary>" in shown and "<tr>" not in shown.partition("<details>")[0]


def test_plan_is_written_in_the_conditional() -> None:
    shown = words(refresh_page({**result(), "check_mode": True}))
    assert "1 would be refreshed" in shown and "Now Would be Changes" in shown and "would be restarted" in shown
    later = {**result(restarted=False), "check_mode": True}
    assert "would take effect at its next start" in words(refresh_page(later))
    restarts = {**result(outcome="restarted"), "check_mode": True}
    assert words(refresh_page(restarts)).count("would be restarted") == 1


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
