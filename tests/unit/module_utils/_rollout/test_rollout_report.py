"""The report of a rollout: records, counts, the message and the table."""

import io
from typing import Any

import yaml

from plugins.module_utils._rollout.rollout import Rollout
from plugins.module_utils._rollout.rollout_report import report, table

Facts = dict[str, Any]


def state(memory: str, generation: int, **more: Any) -> Facts:
    known = {"kind": "VirtualMachineInstancetype", "state": "drifted", "pinned": False, "current_generation": 2}
    part = {**known, "name": "small", "revision": f"r-{generation}", "generation": generation}
    return {"status": "Running", "guest": {"vcpus": 4, "memory": memory}, "instancetype": {**part, **more}}


def vm(name: str, decision: str = "refresh", **more: Any) -> Facts:
    known = {"namespace": "shop", "name": name, "decision": decision, "complaint": "", "needs": "restart"}
    known |= {"changes": [{"field": "x"}], "guest_after": {"vcpus": 4, "memory": "8Gi"}, "spec": {}}
    return {**known, "state": state("4Gi", 1), **more}


def done(**more: Any) -> Facts:
    return {"changed": True, "restarted": False, "needs": "restart", "failed": False, **more}


def rollout(*vms: Facts, **more: Any) -> Rollout:
    return Rollout({f"shop/{item['name']}": item for item in vms}, [], 1, 0, **more)


def after(name: str, **more: Any) -> dict[str, Facts]:
    now = {"decision": "none", "restart_required": False, "restart_reason": "", "still_asked": ""}
    return {f"shop/{name}": {**now, "state": state("8Gi", 2), **more}}


def outcome(run: Rollout, now: dict[str, Facts], moves: bool = False, check_mode: bool = False) -> Facts:
    (record,) = report(run, now, moves, check_mode)["virtual_machines"]
    return dict(record)


def test_each_outcome_of_a_vm() -> None:
    failed = done(failed=True, complaint="shop/a: no")
    back = done(failed=False, complaint="")
    for run, now, expected in (
        (rollout(vm("a"), outcomes={"shop/a": done()}), after("a"), ("refreshed", "")),
        (rollout(vm("a", "restart"), outcomes={"shop/a": done()}), after("a"), ("restarted", "")),
        (rollout(vm("a"), outcomes={"shop/a": done(changed=False)}), after("a"), ("unchanged", "")),
        (rollout(vm("a", "none")), after("a"), ("unchanged", "")),
        (rollout(vm("a")), after("a"), ("not_reached", "")),
        (rollout(vm("a", "pinned", complaint="shop/a: pinned")), after("a"), ("pinned", "shop/a: pinned")),
        (rollout(vm("a"), outcomes={"shop/a": failed}), {}, ("failed", "shop/a: no")),
        (
            rollout(vm("a"), outcomes={"shop/a": failed}, rollbacks={"shop/a": back}),
            after("a"),
            ("rolled_back", "shop/a: no"),
        ),
        (
            rollout(vm("a"), outcomes={"shop/a": failed}, rollbacks={"shop/a": {**failed, "complaint": "shop/a: ill"}}),
            after("a"),
            ("rollback_failed", "shop/a: ill"),
        ),
        (
            rollout(vm("a"), outcomes={"shop/a": done()}),
            after("a", decision="restart"),
            ("due_again", "shop/a: has changed meanwhile; run it again"),
        ),
        (
            rollout(vm("a"), outcomes={"shop/a": done()}),
            after("a", still_asked="KubeVirt still asks"),
            ("refreshed", "shop/a: KubeVirt still asks"),
        ),
    ):
        record = outcome(run, now)
        assert (record["outcome"], record["msg"]) == expected
    assert outcome(rollout(vm("a"), outcomes={"shop/a": done()}), after("a"), moves=True)["outcome"] == "moved"


def test_message_names_what_failed_first() -> None:
    failed = done(failed=True, complaint="shop/b: no")
    run = rollout(vm("a"), vm("b"), outcomes={"shop/a": done(), "shop/b": failed})
    result = report(run, {**after("a"), **after("b")}, False, False)
    assert (result["failed"], result["msg"]) == (True, "2 virtual machines: 1 refreshed, 1 failed; shop/b: no")
    run.stopped, run.out_of_time, run.rollback_stopped = "1 failed", "the window ends", "others are down"
    run.rollbacks["shop/b"] = {**failed, "complaint": "shop/b: ill"}
    assert report(run, {}, False, False)["msg"] == (
        "2 virtual machines: 1 refreshed, 1 rollback failed; stopped: 1 failed; the window ends; not rolled back:"
        " shop/b: ill; rollback stopped: others are down"
    )
    assert report(Rollout({}, [], 1, 0), {}, False, False)["msg"] == "0 virtual machines"


def test_check_mode_shows_what_would_be() -> None:
    run = rollout(vm("a"), outcomes={"shop/a": done()})
    record = outcome(run, {}, check_mode=True)
    assert (record["after"]["guest"]["memory"], record["after"]["instancetype"]["generation"]) == ("8Gi", 2)
    moved = rollout(vm("a", spec={"instancetype": {"name": "large"}}), outcomes={"shop/a": done()})
    after_move = outcome(moved, {}, moves=True, check_mode=True)["after"]["instancetype"]
    assert (after_move["name"], after_move["generation"]) == ("large", None)
    plain = outcome(rollout(vm("a"), outcomes={"shop/a": done()}), {}, moves=True, check_mode=True)
    assert plain["after"]["instancetype"]["generation"] == 1
    assert outcome(rollout(vm("a", "none")), {}, check_mode=True)["after"]["guest"]["memory"] == "4Gi"
    assert report(run, {}, False, True)["msg"].endswith("(check mode: this is what would be)")


def rows(*records: Facts, check_mode: bool = False) -> list[str]:
    return table({"virtual_machines": list(records), "check_mode": check_mode, "msg": "done"}, "if_required")


def refreshed(name: str, **more: Any) -> Facts:
    flags = {"outcome": "refreshed", "restarted": False, "restart_required": False, "needs": "restart"}
    return {"namespace": "shop", "name": name, "before": state("4Gi", 1), "after": state("8Gi", 2), **flags, **more}


def will_run(evaluated: bool, fits: bool, problem: str = "") -> Facts:
    return {"will_run": {"evaluated": evaluated, "fits": fits, "problem": problem}}


def squeezed(lines: list[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def test_table_has_a_row_for_each_changed_vm() -> None:
    assert squeezed(rows(refreshed("web"), refreshed("same", outcome="unchanged"), check_mode=True)) == [
        "NAMESPACE VM WOULD BE STATUS BEFORE AFTER RESTART CHANGE",
        "shop web refreshed Running 4x4Gi 4x8Gi planned instancetype generation 1 to 2",
        "",
        "done",
    ]
    assert rows(refreshed("same", outcome="unchanged")) == ["done"]


def test_last_columns_say_why() -> None:
    lines = squeezed(
        rows(
            refreshed("a", restarted=True, **will_run(True, True)),
            refreshed("b", restart_required=True, **will_run(True, False, "no room")),
            refreshed("c", needs="live_update", **will_run(False, False, "no such type")),
            refreshed("d", needs="nothing", after={}),
            refreshed("e", after=state("4Gi", 1, name="large")),
            refreshed("f", after=state("4Gi", 1, revision="other")),
            refreshed("g", after=state("4Gi", 1)),
        )
    )
    assert [line.partition("x4Gi ")[2] for line in lines[1:8]] == [
        "4x8Gi restarted yes instancetype generation 1 to 2",
        "4x8Gi required no instancetype generation 1 to 2, no room",
        "4x8Gi live unknown instancetype generation 1 to 2, no such type",
        "- - - -",
        "4x4Gi needed - instancetype small to large",
        "4x4Gi needed - instancetype of a new object",
        "4x4Gi needed - -",
    ]


def test_rows_are_unbroken_in_yaml_output() -> None:
    """Ansible shows results as YAML, which breaks a line at a space behind column 80."""
    line = rows(refreshed("a-database-with-a-very-very-long-name", restarted=True))[1]
    shown = io.StringIO()
    yaml.safe_dump([line], shown, width=80)
    first = shown.getvalue().splitlines()[0]
    assert "restarted" in first
