"""virtual_machine_info with a refresh: what it costs, and and a user with few rights."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import vm
from plugins.module_utils._cluster.client.session import Session

Run = Callable[..., dict[str, Any]]

VMS = {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["list"]}
REVISIONS = {"apiGroups": ["apps"], "resources": ["controllerrevisions"], "verbs": ["list"]}


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests that are sent from now on, `GET plural` for a LIST."""
    result: list[str] = []
    original = Session.request

    def request(self: Session, method: str, path: str, *rest: Any, **options: Any) -> Any:
        result.append(f"{method} {path.rpartition('/')[2]}")
        return original(self, method, path, *rest, **options)

    monkeypatch.setattr(Session, "request", request)
    return result


# VMs, what they have captured and refer to, and the cluster's KubeVirt; of halted VMs there are no guests to read.
LISTS = [
    "GET controllerrevisions",
    "GET kubevirts",
    "GET virtualmachineinstancetypes",
    "GET virtualmachines",
]


def plain(name: str, **options: Any) -> dict[str, Any]:
    """A VM with an instancetype and no preference."""
    return {**vm(name, "medium", run_strategy="Halted", **options), "preference": None}


def test_one_namespace_costs_four_lists(run: Run, shop: str, sent: list[str]) -> None:
    for count in (1, 6):
        entries = [plain(f"vm-{number}") for number in range(count)]
        created = run("virtual_machine", namespace=shop, virtual_machines=entries, wait=True)
        assert not created.get("failed"), created["msg"]
        sent.clear()
        result = run("virtual_machine_info", namespace=shop, include=["refresh"])
        assert len(result["virtual_machines"]) == count
        assert sorted(sent) == LISTS
    # The module asks for guests only if there are any.
    started = run("virtual_machine_power", namespace=shop, names=["vm-0"], state="started", wait=True)
    assert started["changed"], started
    sent.clear()
    run("virtual_machine_info", namespace=shop, include=["refresh"])
    assert sorted(sent) == sorted([*LISTS, "GET virtualmachineinstances"])


def test_each_referenced_kind_costs_one_list(run: Run, shop: str, sent: list[str]) -> None:
    entries = [vm(f"vm-{number}", run_strategy="Halted") for number in range(3)]
    run("virtual_machine", namespace=shop, virtual_machines=entries, wait=True)
    for options in ({"namespace": shop}, {}):
        sent.clear()
        result = run("virtual_machine_info", **options, include=["refresh"])
        assert {f"vm-{number}" for number in range(3)} <= {item["name"] for item in result["virtual_machines"]}
        # Without a namespace other tests' VMs are seen, too, which may refer to cluster-wide kinds.
        assert len(sent) == len(set(sent)) <= 8
        assert {"GET virtualmachines", "GET controllerrevisions", "GET virtualmachinepreferences"} <= set(sent)


def test_rights_to_list_vms_and_revisions_suffice(
    run: Run, shop: str, user_with: Callable[..., dict[str, Any]], sent: list[str]
) -> None:
    run("virtual_machine", namespace=shop, virtual_machines=[plain("a"), plain("b")], wait=True)
    created = run("instancetype", namespace=shop, name="medium", cpu={"guest": 4}, memory={"guest": "8Gi"})
    assert created["changed"], created
    user = user_with(VMS, REVISIONS)
    sent.clear()
    result = run("virtual_machine_info", namespace=shop, **user, include=["refresh"])
    assert sorted(sent) == LISTS
    for item in result["virtual_machines"]:
        kept = item["instancetype"]
        assert (kept["state"], kept["generation"], kept["current_generation"]) == ("unknown", 1, None)
        assert (item["drifted"], item["guest_before"]["vcpus"], item["guest_before"]["memory"]) == (False, 2, "4Gi")
    # The task refreshes nothing that it cannot see.
    assert not run("controller_revision", namespace=shop, **user)["changed"]


@pytest.mark.parametrize(("right", "missing"), [(VMS, "controllerrevisions"), (REVISIONS, "virtualmachines")])
def test_a_missing_right_is_named(
    run: Run, shop: str, user_with: Callable[..., dict[str, Any]], right: dict[str, Any], missing: str
) -> None:
    run("virtual_machine", namespace=shop, **plain("a"), wait=True)
    refused = run("virtual_machine_info", namespace=shop, include=["refresh"], **user_with(right))
    assert f'resources: ["{missing}"], verbs: ["list"]' in refused["msg"]
