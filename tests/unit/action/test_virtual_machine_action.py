"""What the action of virtual_machine asks quotas and nodes before the module runs."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from ansible.errors import AnsibleActionFail

from ansible_collections.virtshape.instancetypes.plugins.action.virtual_machine import ActionModule

Answer = dict[str, Any]

MODULE = "virtshape.instancetypes.virtual_machine"
CAPACITY = "virtshape.instancetypes.capacity_info"
# The checks of CAPACITY, which runs once for each.
QUOTA, PLACEMENT = "quota", "placement"


def vm(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "memory": "2Gi", **more}


def unfit(name: str, judged: bool = True) -> Answer:
    return {"name": name, "namespace": "shop", "judged": judged, "fits": False, "problem": "too large"}


def answer(*vms: Answer) -> Answer:
    return {"virtual_machines": list(vms), "warnings": []}


def ran(answers: dict[str, Answer] | None = None, **options: Any) -> tuple[Answer, dict[str, Answer]]:
    """(the task's result, the options that each check and the module were run with)."""
    task = mock.Mock(args=options, action=MODULE, async_val=0, diff=False)
    action = ActionModule(task, mock.Mock(), mock.Mock(check_mode=False), mock.Mock(), mock.Mock(), mock.Mock())
    output = {MODULE: {"changed": True}, QUOTA: answer(), PLACEMENT: answer(), **(answers or {})}
    requested: dict[str, Answer] = {}

    def executed(module_name: str, module_args: Answer, **_more: Any) -> Answer:
        (name,) = module_args["checks"] if module_name == CAPACITY else [module_name]
        requested[name] = module_args
        return output[name]

    with mock.patch.object(action, "_execute_module", side_effect=executed):
        result = action.run(task_vars={})
    return result, requested


def names(requested: Answer) -> list[str]:
    return [manifest["metadata"]["name"] for manifest in requested["manifests"]]


def test_checks_are_off_by_default() -> None:
    for options in ({}, {"quota": "off"}, {"quota": False}, {"preflight_placement": True, "preflight": "off"}):
        result, requested = ran(namespace="shop", **vm("a"), **options)
        assert (result["changed"], list(requested)) == (True, [MODULE]), options


def test_both_checks_judge_the_vms_that_will_run() -> None:
    entries = [
        vm("a"),
        vm("b", run_strategy="Halted"),
        vm("c", state="absent"),
        vm("d", nonsense=1),
        vm("e", memory="lots"),
        vm("f", cloud_init={"user": "me", "password_file": "/etc/shadow"}),
        "g",
    ]
    result, requested = ran(
        api_key="k",
        verify_ssl=False,
        defaults={"labels": {"team": "shop"}},
        namespace="shop",
        virtual_machines=entries,
        quota="strict",
        preflight_placement="yes",
    )
    assert result["changed"] is True
    assert names(requested[QUOTA]) == names(requested[PLACEMENT]) == ["a", "f"]
    first, second = requested[QUOTA]["manifests"]
    assert first["metadata"] == {"name": "a", "namespace": "shop", "labels": {"team": "shop"}}
    assert first["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "2Gi"}
    assert not second["spec"]["template"]["spec"].get("volumes")
    assert {name: requested[QUOTA][name] for name in requested[QUOTA] if name not in ("manifests", "checks")} == {
        "api_key": "k",
        "verify_ssl": False,
    }


def test_strict_fails_before_anything_is_sent() -> None:
    result, requested = ran({QUOTA: answer(*map(unfit, "abcdefg"))}, namespace="shop", **vm("a"), quota="strict")
    assert result["failed"] and MODULE not in requested
    assert result["msg"].startswith("quota: shop/a: too large; shop/b: too large; ")
    assert result["msg"].endswith("shop/e: too large; and 2 more. Nothing was sent")


def test_warn_goes_on() -> None:
    refusals = {QUOTA: answer(unfit("a")), PLACEMENT: answer(unfit("a")), MODULE: {"changed": True, "warnings": ["w"]}}
    result, _asked = ran(
        refusals, namespace="shop", **vm("a"), quota="warn", preflight_placement=True, preflight="warn"
    )
    assert result["changed"] is True
    assert result["warnings"] == ["quota: shop/a: too large", "preflight_placement: shop/a: too large", "w"]


def test_a_vm_without_a_pod_is_a_warning() -> None:
    result, _asked = ran({QUOTA: answer(unfit("a", judged=False))}, namespace="shop", **vm("a"), quota="strict")
    assert (result["changed"], result["warnings"]) == (True, ["quota: shop/a: too large"])


def test_an_invalid_level_is_refused() -> None:
    failed = {PLACEMENT: {"failed": True, "msg": "cannot list nodes", "warnings": ["doubt"]}}
    result, requested = ran(failed, namespace="shop", **vm("a"), preflight_placement=True)
    assert (result["msg"], result["warnings"]) == (
        "preflight_placement: cannot list nodes. Nothing was sent",
        ["doubt"],
    )
    assert MODULE not in requested


def test_invalid_vms_are_not_judged() -> None:
    for options in ({"virtual_machines": "a"}, {"name": None, "virtual_machines": []}, {}):
        _result, requested = ran(namespace="shop", quota="strict", **options)
        assert list(requested) == [MODULE]


def test_invalid_option_combinations() -> None:
    with pytest.raises(AnsibleActionFail, match="quota: choose from strict, warn, off, not maybe"):
        ran(**vm("a"), quota="maybe")
    with pytest.raises(AnsibleActionFail, match="preflight_placement: "):
        ran(**vm("a"), preflight_placement="perhaps")


def test_each_vm_gets_its_answer() -> None:
    sent = {"changed": True, "results": [{"namespace": "shop", "name": name, "action": "create"} for name in "ab"]}
    unknown = {"name": "b", "namespace": "shop", "judged": False, "fits": False, "problem": "no such instancetype"}
    fit = {"name": "a", "namespace": "shop", "judged": True, "fits": True}
    message = {QUOTA: answer(fit, unknown), PLACEMENT: answer(fit, unfit("b")), MODULE: sent}
    entries = [vm("a"), vm("b")]
    result, _asked = ran(
        message, namespace="shop", virtual_machines=entries, quota="warn", preflight_placement=True, preflight="warn"
    )
    assert [item["will_run"] for item in result["results"]] == [
        {"judged": True, "fits": True, "problem": ""},
        # What nodes know for certain counts.
        {"judged": True, "fits": False, "problem": "no such instancetype; too large"},
    ]


def test_a_refused_task_has_the_verdicts_of_both_checks() -> None:
    fit = {"name": "a", "namespace": "shop", "judged": True, "fits": True}
    message = {QUOTA: answer(fit, unfit("b")), PLACEMENT: answer(unfit("a", judged=False), unfit("b"))}
    entries = [vm("a"), vm("b")]
    result, _asked = ran(message, namespace="shop", virtual_machines=entries, quota="strict", preflight_placement=True)
    assert result["msg"] == ("quota: shop/b: too large; preflight_placement: shop/b: too large. Nothing was sent")
    assert [(item["action"], item["failed"], item.get("msg")) for item in result["results"]] == [
        ("none", False, None),
        ("none", True, "too large"),
    ]
    warned, _asked = ran(
        message, namespace="shop", virtual_machines=entries, quota="strict", preflight_placement=True, preflight="warn"
    )
    assert [item["failed"] for item in warned["results"]] == [False, True]
    assert result["results"][0]["will_run"] == {"judged": False, "fits": False, "problem": "too large"}
