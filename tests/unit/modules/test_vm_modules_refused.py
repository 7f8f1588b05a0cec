"""Modules about existing VMs, where these cannot be read or not be changed."""

from typing import Any

import pytest
from halted_vms import store, vm

from scripted_server import Run, Store, status

ABOUT_VMS = ("virtual_machine_info", "controller_revision")
EXPECTED = "expected a dictionary with the keys instancetype and preference, or one of them"


@pytest.mark.parametrize("module", ABOUT_VMS)
def test_a_connection_that_is_cut(run: Run, module: str) -> None:
    refused = run(module, Store({}, {("GET", "/virtualmachines"): None}), namespace="shop")
    assert refused["msg"].startswith("cannot reach the API server http://127.0.0.1:")


@pytest.mark.parametrize("module", ABOUT_VMS)
def test_names_need_a_namespace(run: Run, module: str) -> None:
    refused = run(module, store(vm("a")), names=["a"])
    assert refused["msg"] == "namespace: required with names"


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


def test_address_that_is_no_address(run: Run) -> None:
    nowhere = run("virtual_machine_power", store(), state="stopped", namespace="shop", names=["a"], host="none://")
    assert nowhere["failed"] and "\n" not in nowhere["msg"]
