"""virtual_machine_info with a refresh: what it costs, and and a user with few rights."""

from collections.abc import Callable
from typing import Any

import pytest

from modules_support import Task, vm
from plugins.module_utils._cluster.client.session import Session

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


def test_one_namespace_costs_four_lists(task: Task, shop: str, sent: list[str]) -> None:
    for count in (1, 6):
        entries = [plain(f"vm-{number}") for number in range(count)]
        task("virtual_machine", virtual_machines=entries, wait=True)
        sent.clear()
        result = task("virtual_machine_info", include=["refresh"])
        assert len(result["virtual_machines"]) == count
        assert sorted(sent) == LISTS
    # The module asks for guests only if there are any.
    assert task("virtual_machine_power", names=["vm-0"], state="started", wait=True)["changed"]
    sent.clear()
    task("virtual_machine_info", include=["refresh"])
    assert sorted(sent) == sorted([*LISTS, "GET virtualmachineinstances"])


def test_each_referenced_kind_costs_one_list(task: Task, shop: str, sent: list[str]) -> None:
    entries = [vm(f"vm-{number}", run_strategy="Halted") for number in range(3)]
    task("virtual_machine", virtual_machines=entries, wait=True)
    for place in (shop, None):
        sent.clear()
        result = task("virtual_machine_info", namespace=place, include=["refresh"])
        assert {f"vm-{number}" for number in range(3)} <= {item["name"] for item in result["virtual_machines"]}
        # Without a namespace other tests' VMs are seen, too, which may refer to cluster-wide kinds.
        assert len(sent) == len(set(sent)) <= 8
        assert {"GET virtualmachines", "GET controllerrevisions", "GET virtualmachinepreferences"} <= set(sent)


def test_rights_to_list_vms_and_revisions_suffice(
    task: Task, shop: str, user_with: Callable[..., dict[str, Any]], sent: list[str]
) -> None:
    task("virtual_machine", virtual_machines=[plain("a"), plain("b")], wait=True)
    assert task("instancetype", name="medium", cpu={"guest": 4}, memory={"guest": "8Gi"})["changed"]
    user = user_with(VMS, REVISIONS)
    sent.clear()
    result = task("virtual_machine_info", **user, include=["refresh"])
    assert sorted(sent) == LISTS
    for item in result["virtual_machines"]:
        kept = item["instancetype"]
        assert (kept["state"], kept["generation"], kept["current_generation"]) == ("unknown", 1, None)
        assert (item["drifted"], item["guest_before"]["vcpus"], item["guest_before"]["memory"]) == (False, 2, "4Gi")
    # The task refreshes nothing that it cannot see.
    assert not task("controller_revision", **user)["changed"]
