"""Modules about existing VMs, where these cannot be read or not be changed."""

from typing import Any

import pytest
from halted_vms import store, vm

from scripted_server import Run, Store, forbidden, status

ABOUT_VMS = ("virtual_machine_info", "controller_revision")
EXPECTED = "expected a dictionary with the keys instancetype and preference, or one of them"


@pytest.mark.parametrize("module", ABOUT_VMS)
def test_vms_that_may_not_be_listed(run: Run, module: str) -> None:
    denied = Store({}, {("GET", "/virtualmachines"): forbidden("virtualmachines")})
    refused = run(module, denied, namespace="shop")
    assert refused["failed"]
    assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["list"]}' in refused["msg"]


@pytest.mark.parametrize("module", ABOUT_VMS)
def test_a_connection_that_is_cut(run: Run, module: str) -> None:
    refused = run(module, Store({}, {("GET", "/virtualmachines"): None}), namespace="shop")
    assert refused["msg"].startswith("cannot reach the API server http://127.0.0.1:")


@pytest.mark.parametrize("module", ABOUT_VMS)
def test_names_need_a_namespace_and_existing_vms(run: Run, module: str) -> None:
    refused = run(module, store(vm("a")), names=["a"])
    assert refused["msg"] == "namespace: required with names"
    missing = run(module, store(vm("a")), names=["a", "b", "c"], namespace="shop")
    if module == "virtual_machine_info":
        assert [item["name"] for item in missing["virtual_machines"]] == ["a"]
    else:
        assert missing["msg"] == "names: no such virtual machine in shop: b, c"


def test_unlistable_revisions_fail_the_task(run: Run) -> None:
    denied = store(vm("a"))
    denied.answers["GET", "/controllerrevisions"] = forbidden("controllerrevisions")
    for module in ("virtual_machine_info", "controller_revision"):
        refused = run(module, denied, namespace="shop")
        assert refused["failed"]
        assert 'resources: ["controllerrevisions"], verbs: ["list"]' in refused["msg"]


@pytest.mark.parametrize(
    ("revisions", "names", "message"),
    [
        *((given, None, f"revisions: a: {EXPECTED}") for given in ("x", {}, {"disk": "x"})),
        ({"instancetype": "x"}, ["a", "b", "c"], "revisions: no entry for b, c; give every VM of names an entry"),
    ],
)
def test_revisions_that_say_too_little(run: Run, revisions: Any, names: Any, message: str) -> None:
    nothing = store(vm("a"))
    options = {"state": "pinned", "namespace": "shop", "revisions": {"a": revisions}, "names": names}
    refused = run("controller_revision", nothing, **options)
    assert (refused["msg"], nothing.asked) == (message, [])


def test_pruning_applies_to_a_whole_namespace(run: Run) -> None:
    chosen = run("controller_revision", store(), state="pruned", namespace="shop", names=["a"])
    assert chosen["msg"] == "state: pruned applies to a whole namespace; remove names and label_selectors"


def test_a_message_names_five_vms_that_cannot_stop(run: Run) -> None:
    running = store(*(vm(name, "Always") for name in "abcdefg"))
    running.answers["PUT", "/stop"] = status(409, "not today", "Conflict")
    refused = run("virtual_machine_power", running, state="stopped", namespace="shop", names=[*"abcdefg"])
    assert refused["msg"].startswith("7 of 7 virtual machines failed: shop/a, shop/b, ")
    assert refused["msg"].endswith("shop/e and 2 more: not today")


def test_power_of_vms_that_cannot_be_chosen(run: Run) -> None:
    denied = store()
    denied.answers["GET", "/virtualmachines"] = forbidden("virtualmachines")
    refused = run("virtual_machine_power", denied, state="stopped", namespace="shop", label_selectors=["app=web"])
    assert refused["msg"].endswith('["virtualmachines"], verbs: ["list"]} in a Role of the namespace shop')
    nowhere = run("virtual_machine_power", store(), state="stopped", namespace="shop", names=["a"], host="none://")
    assert nowhere["failed"] and "\n" not in nowhere["msg"]


def test_expansion_needs_the_right_to_expand(run: Run) -> None:
    denied = store(vm("a"))
    denied.answers["GET", "/expand-spec"] = forbidden("virtualmachines/expand-spec")
    refused = run("virtual_machine_info", denied, namespace="shop", include=["expansion"])
    assert refused["msg"].endswith('["virtualmachines/expand-spec"], verbs: ["get"]} in a Role of the namespace shop')
    assert run("virtual_machine_info", store(), namespace="shop", include=["expansion"])["virtual_machines"] == []
