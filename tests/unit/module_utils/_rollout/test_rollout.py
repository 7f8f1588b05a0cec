"""The decisions of a rollout: what becomes of each VM, batches, room, and the way back."""

from typing import Any

import pytest

from plugins.module_utils._rollout import rollout, vm_decision
from plugins.module_utils._rollout.rollout import Limits, Rollout
from plugins.module_utils._rollout.vm_decision import RolloutScope

Facts = dict[str, Any]
RUNNING: Facts = {
    "status": "Running",
    "ready": True,
    "run_strategy": "Always",
    "conditions": [],
    "vmi": {"phase": "Running", "guest": {"vcpus": 1}},
}
STOPPED: Facts = {"status": "Stopped", "ready": False, "run_strategy": "Halted", "conditions": []}
DOWN: Facts = {**RUNNING, "status": "ErrorPvcNotFound", "ready": False}


def part(state: str = "drifted", **more: Any) -> Facts:
    known = {"name": "small", "kind": "VirtualMachineInstancetype", "revision": "r-1", "generation": 1}
    return {**known, "current_generation": 2, "pinned": False, "problem": "", "state": state, **more}


def refresh(needs: str = "restart", **more: Any) -> Facts:
    facts = {"namespace": "shop", "name": "web", "needs": needs, "restart_required": False, "changes": []}
    facts |= {"guest_before": {"vcpus": 1}, "guest_after": {"vcpus": 2}, "changed": False, "failed": False}
    return {**facts, "instancetype": part(), **more}


@pytest.mark.parametrize(
    ("vm", "down", "stuck"),
    [
        (RUNNING, False, False),
        (STOPPED, False, False),
        ({**STOPPED, "run_strategy": "Manual"}, False, False),
        ({**STOPPED, "run_strategy": "Always"}, True, False),
        ({**RUNNING, "status": "Paused", "ready": False}, False, False),
        ({**RUNNING, "status": "Starting", "ready": False}, True, False),
        (DOWN, True, True),
        (
            {**STOPPED, "run_strategy": "Always", "conditions": [{"type": "Failure", "status": "True"}]},
            True,
            True,
        ),
    ],
)
def test_vm_is_down_if_it_should_run(vm: Facts, down: bool, stuck: bool) -> None:
    assert (vm_decision.is_down(vm), vm_decision.is_stuck(vm)) == (down, stuck)


@pytest.mark.parametrize(
    ("facts", "vm", "selection", "decision", "disruptive"),
    [
        (refresh(), RUNNING, RolloutScope(), "refresh", True),
        (refresh(), RUNNING, RolloutScope(restart="never"), "refresh", False),
        (refresh("live_update"), RUNNING, RolloutScope(), "refresh", True),
        (refresh("nothing"), RUNNING, RolloutScope(), "refresh", False),
        (refresh("nothing"), RUNNING, RolloutScope(restart="always"), "refresh", True),
        (refresh("nothing"), STOPPED, RolloutScope(), "refresh", False),
        (refresh(instancetype=part("current")), RUNNING, RolloutScope(), "none", False),
        (refresh(instancetype=part("current"), restart_required=True), RUNNING, RolloutScope(), "restart", True),
        (refresh(instancetype=part("revision_lost")), RUNNING, RolloutScope(), "refresh", True),
        (refresh(), RUNNING, RolloutScope(matchers=("preference",)), "none", False),
        (refresh(instancetype=part(pinned=True)), RUNNING, RolloutScope(), "pinned", True),
        (refresh(instancetype=part("unknown", problem="no")), RUNNING, RolloutScope(), "unreadable", False),
        (refresh(refusal="it conflicts"), RUNNING, RolloutScope(), "refused", True),
        (refresh(), {**RUNNING, "run_strategy": "Once"}, RolloutScope(), "refused", True),
        (refresh(changed=True), RUNNING, RolloutScope(moves=True), "refresh", True),
        (refresh(), RUNNING, RolloutScope(moves=True), "none", False),
        (refresh(failed=True, msg="it cannot move"), RUNNING, RolloutScope(moves=True), "refused", True),
    ],
)
def test_decision_for_a_vm(facts: Facts, vm: Facts, selection: RolloutScope, decision: str, disruptive: bool) -> None:
    result = vm_decision.planned_vm(facts, vm, selection)
    assert (result["decision"], result["disruptive"]) == (decision, disruptive)
    assert bool(result["complaint"]) is (decision in ("pinned", "refused", "unreadable"))
    assert result["complaint"].startswith("shop/web: " if result["complaint"] else "")


def test_plan_of_a_vm_says_what_to_expect() -> None:
    running, stopped, down, paused = (
        vm_decision.planned_vm(refresh("nothing"), vm, RolloutScope())
        for vm in (RUNNING, STOPPED, DOWN, {**RUNNING, "status": "Paused"})
    )
    assert [vm["expected"] for vm in (running, stopped, down, paused)] == [True, False, False, False]
    assert (down["down"], down["broken"], down["touched"]) == (True, True, True)
    starting = vm_decision.planned_vm(refresh("nothing"), {**DOWN, "status": "Starting"}, RolloutScope())
    assert (starting["down"], starting["broken"], starting["expected"]) == (True, False, True)
    assert stopped["state"]["guest"] == {"vcpus": 1}
    asked = vm_decision.planned_vm(refresh(restart_reason="memory"), RUNNING, RolloutScope())
    assert asked["still_asked"].startswith("KubeVirt still asks for a restart (memory)")


def fleet(*down: str, count: int = 6, decision: str = "refresh", broken: bool = False) -> dict[str, Facts]:
    return {
        f"shop/{name}": {
            "namespace": "shop",
            "name": name,
            "decision": decision,
            "complaint": f"shop/{name}: no" if decision == "refused" else "",
            "disruptive": True,
            "down": name in down,
            "broken": broken and name in down,
            "touched": True,
            "previous": {"spec": {}},
            "state": {"instancetype": part()},
        }
        for name in "abcdefghij"[:count]
    }


def planned(vms: dict[str, Facts], limits: Limits, *stuck: str, shared: bool = False) -> Rollout:
    found = dict.fromkeys(stuck, "ErrorPvcNotFound")
    return rollout.plan(vms, found, len(vms) + len(stuck), limits, "if_required", shared)


def names(batches: list[list[str]]) -> list[str]:
    return ["".join(label[-1] for label in batch) for batch in batches]


def test_batches_begin_with_canary_and_unavailable_vms() -> None:
    state = planned(fleet("e"), Limits("50%", "50%"))
    assert names(state.batches) == ["e", "abc", "df"]
    assert rollout.summary(state) == (
        "6 virtual machines, 6 due, in 3 batches; at most 3 (50 % of the 6 selected VMs) may be down at a time"
        " and 0 may fail"
    )
    # A VM that no refresh heals comes last, and is no canary.
    assert names(planned(fleet("e", broken=True), Limits("50%", "50%")).batches) == ["a", "bcd", "f", "e"]


def test_batch_takes_the_room_that_others_leave() -> None:
    state = planned(fleet(), Limits("6", "4", canary=0), "shop/x", "shop/y", shared=True)
    assert (names(state.batches), state.stopped) == (["ab", "cd", "ef"], "")
    full = planned(fleet(), Limits("6", "2"), "shop/x", "shop/y")
    assert full.ended and full.stopped == (
        "at most 2 VMs may be down, and 2 are down that no refresh heals: shop/x (ErrorPvcNotFound), shop/y"
        " (ErrorPvcNotFound); repair or stop them, or set revision_refresh_max_unavailable to more than 2"
    )
    one = planned(fleet(count=1), Limits(max_unavailable="20%"), "shop/x", shared=True)
    assert "at most 1 VM may be down (20 % of the 2 VMs that the runs share), and 1 is down" in one.stopped


def test_wave_takes_what_there_is_room_for() -> None:
    state = planned(fleet("c"), Limits("6", "3"))
    left = list(state.vms)
    assert rollout.next_wave(state, left, {"shop/c"}) == ["shop/c", "shop/a", "shop/b"]
    assert rollout.next_wave(state, left, {"shop/c", "shop/x", "shop/y"}) == ["shop/c"]
    assert rollout.next_wave(state, ["shop/a"], {"shop/x", "shop/y", "shop/z"}) == []
    state.vms["shop/a"]["touched"] = False
    assert rollout.next_wave(state, ["shop/a"], {"shop/x", "shop/y", "shop/z"}) == ["shop/a"]
    assert rollout.room_timeout(state, ["shop/b"], [f"shop/{name}" for name in "uvwxyz"], 300) == (
        "6 others are down for 300 s, and 1 more would be; at most 3 may: shop/u, shop/v, shop/w, shop/x, shop/y, ..."
    )


def test_vm_of_a_broken_off_batch_failed() -> None:
    state = planned(fleet(count=2), Limits("100%", "2", max_failures="1", canary=0))
    assert rollout.begin(state, "2026-05-01 22:00:00") == ["shop/a", "shop/b"]
    rollout.mark_in_progress(state, ["shop/a"])
    assert state.failures == ["shop/a: its batch was broken off"]
    result = {"changed": True, "restarted": True, "needs": "restart", "failed": False}
    rollout.record_results(state, {"shop/a": result, "shop/b": {**result, "failed": True, "msg": "no"}}, {})
    assert (state.outcomes["shop/a"]["failed"], state.failures) == (False, ["shop/b: no"])
    assert rollout.batch_summary(state) == "batch 1 of 1: 2 VMs, 2 changed, 2 restarted, 1 failed"
    rollout.end_batch(state, "it does not answer", 7.5)
    assert (state.longest, state.begun) == (7.5, "")
    assert state.stopped == ("2 failed, at most 1 may: shop/a: health check: it does not answer; shop/b: no")
    # A batch is judged once.
    rollout.end_batch(state, "again", 99)
    assert state.longest == 7.5


def test_unhealthy_vm_fails_and_says_why() -> None:
    state = planned(fleet(count=1), Limits())
    rollout.begin(state, "")
    rollout.record_results(state, {"shop/a": {"changed": True, "failed": False}}, {"shop/a": "not ready (Starting)"})
    assert state.failures == ["shop/a: not ready (Starting)"]
    rollout.record_rollbacks(state, {"shop/a": {"changed": True, "failed": False}}, {"shop/a": "not ready (Starting)"})
    assert state.rollbacks["shop/a"]["complaint"] == "shop/a: not ready (Starting)"


@pytest.mark.parametrize("asked", [True, False])
def test_unhealthy_vms_say_why(asked: bool) -> None:
    ready = {"type": "Ready", "status": "True", "message": ""}
    starting = {"type": "Ready", "status": "False", "message": "Guest VM is not reported as running"}
    agent = {"type": "AgentConnected", "status": "True"}
    missing = "its guest agent is not connected" if asked else ""
    for vm, why in (
        ({"status": "Running", "ready": True, "conditions": [ready, agent]}, ""),
        ({"status": "Running", "ready": True, "conditions": [ready]}, missing),
        ({"status": "Running", "ready": True, "conditions": [ready, {**agent, "status": "False"}]}, missing),
        (
            {"status": "Starting", "ready": False, "conditions": [starting]},
            "not ready (Starting): Guest VM is not reported as running",
        ),
        ({"status": "Starting", "ready": False, "conditions": []}, "not ready (Starting)"),
        (None, "not ready (gone)"),
    ):
        assert vm_decision.unhealthy(vm, asked) == why


def test_failed_vms_are_rolled_back_first() -> None:
    state = planned(fleet(count=4), Limits("100%", "4", canary=0))
    rollout.begin(state, "")
    done = {"changed": True, "failed": False}
    rollout.record_results(
        state, {"shop/a": done, "shop/b": {**done, "failed": True}, "shop/c": {**done, "changed": False}}, {}
    )
    now = {label: {"instancetype": part(revision=f"r-{2 if label != 'shop/c' else 1}")} for label in state.vms}
    assert rollout.previous_revisions(state, now, moves=False) == {
        "shop/b": {"instancetype": "r-1"},
        "shop/a": {"instancetype": "r-1"},
    }
    assert list(rollout.previous_revisions(state, now, moves=True)) == ["shop/b", "shop/a"]
    del now["shop/b"]
    assert list(rollout.previous_revisions(state, now, moves=False)) == ["shop/a"]


def test_refused_vms_stop_a_run_before_it_begins() -> None:
    state = planned(fleet(count=7, decision="refused"), Limits(max_failures="6"))
    assert state.stopped.startswith("7 failed, at most 6 may: shop/a: no; shop/b: no;")
    assert state.stopped.endswith("; ...")
    assert planned(fleet(count=7, decision="refused"), Limits(max_failures="100%")).stopped == ""
