"""VMs with the values of their instancetype, on a cluster with the rules of Harvester since 1.7, and on one without."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import config
from webhook_support import Manifest, Webhook, webhook

from modules_support import Task, live, objects, vm, warned

# The webhook is on this machine.
pytestmark = pytest.mark.needs("cdi_here")

DOMAIN = "instancetypes.virtshape.io"
EXPANDED = {"sizes": "expanded", "wait": True}


def domain_of(item: Manifest) -> Manifest:
    return dict(item["spec"]["template"]["spec"]["domain"])


def record_of(item: Manifest, name: str = "instancetype") -> Manifest:
    return dict(json.loads(item["metadata"]["annotations"][f"{DOMAIN}/{name}"]))


def fill_in(new: Manifest, old: Manifest) -> None:
    """Writes into VMs as Harvester is known to do."""
    if new["kind"] != "VirtualMachine":
        return
    domain = new["spec"]["template"]["spec"]["domain"]
    domain.setdefault("cpu", {"cores": 1, "sockets": 1, "threads": 1})
    strategy = new["spec"].get("runStrategy")
    if old and old["spec"].get("runStrategy") == "Halted" and strategy != "Halted":
        new["spec"]["runStrategy"] = "RerunOnFailure"
    limit = ((domain.get("resources") or {}).get("limits") or {}).get("memory")
    annotations = new["metadata"].get("annotations") or {}
    if limit == "1Gi" and "harvesterhci.io/enableCPUAndMemoryHotplug" not in annotations:
        domain["memory"] = {"guest": "924Mi"}
        domain["cpu"]["maxSockets"] = domain["cpu"]["sockets"]


def refuse_without_memory(new: Manifest) -> str:
    if new["kind"] != "VirtualMachine":
        return ""
    domain = new["spec"]["template"]["spec"]["domain"]
    limits = (domain.get("resources") or {}).get("limits") or {}
    has_memory = (domain.get("memory") or {}).get("guest") or limits.get("memory")
    return "" if has_memory else "either memory.guest or limits.memory must be set"


@pytest.fixture
def harvester(cluster: Path, shop: str, tmp_path: Path) -> Iterator[Webhook]:
    """The rules of Harvester for the VMs of `shop`."""
    with (
        config.new_client_from_config(str(cluster)) as connection,
        webhook(connection, shop, tmp_path, validates=True) as hook,
    ):
        hook.mutate, hook.refuse = fill_in, refuse_without_memory
        yield hook


def resize(task: Task, memory: str) -> None:
    task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": memory})


def test_harvester_takes_only_expanded_sizes(task: Task, harvester: Webhook, shop: str, api: Any) -> None:
    refused = task.refused("virtual_machine", **vm("web"))
    assert "memory" in refused["msg"] or "conflicts" in refused["msg"]
    made = task("virtual_machine", **vm("web", **EXPANDED))
    assert (made["result"]["action"], made["result"]["sizes"]) == ("create", "expanded")
    item = live(api, shop)
    assert "instancetype" not in item["spec"] and "preference" not in item["spec"]
    assert domain_of(item)["memory"] == {"guest": "2Gi"}
    record = record_of(item)
    kept = live(api, shop, "small", "VirtualMachineInstancetype")["metadata"]
    assert record["kind"] == "VirtualMachineInstancetype"
    assert record["metadata"] == {name: kept[name] for name in ("name", "uid", "generation")}
    before = item["metadata"]["generation"]
    for check in (True, False):
        same = task("virtual_machine", **vm("web", **EXPANDED), check=check)
        assert (same["changed"], warned(same)) == (False, []), same
    assert live(api, shop)["metadata"]["generation"] == before


def test_auto_asks_the_cluster_once(task: Task, harvester: Webhook, shop: str, api: Any) -> None:
    entries = [vm(f"web-{number}", run_strategy="Halted") for number in range(20)]
    harvester.seen.clear()
    done = task("virtual_machine", virtual_machines=entries, defaults={"sizes": "auto"})
    assert {result["sizes"] for result in done["results"]} == {"expanded"}
    # By name, and with the values; KubeVirt's own webhook has the API server ask again.
    asked = {json.dumps(item["object"]["spec"].get("instancetype")) for item in harvester.seen if item["dryRun"]}
    assert len(asked) == 2 and sum(item["dryRun"] for item in harvester.seen) <= 4
    same = task("virtual_machine", virtual_machines=entries, defaults={"sizes": "auto"})
    assert same["msg"] == "20 virtual machines: 20 unchanged"


def test_auto_names_sizes_where_it_can(task: Task, shop: str, api: Any) -> None:
    made = task("virtual_machine", **vm("web", sizes="auto"))
    assert made["result"]["sizes"] == "named"
    assert live(api, shop)["spec"]["instancetype"]["name"] == "small"


def test_changed_instancetype_is_drift(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", **EXPANDED))
    resize(task, "3Gi")
    same = task("virtual_machine", **vm("web", **EXPANDED))
    assert (same["changed"], domain_of(live(api, shop))["memory"]["guest"]) == (False, "2Gi")
    seen = task.vm("web", "refresh")
    part = seen["instancetype"]
    assert (seen["drifted"], part["state"], part["expanded"], part["name"]) == (True, "drifted", True, "small")
    assert part["changes"] == [{"field": "memory.guest", "before": "2Gi", "after": "3Gi"}]
    assert seen["guest_after"]["memory"] == "3Gi"
    for check in (True, False):
        done = task("controller_revision", names=["web"], state="refreshed", check=check)["results"][0]
        assert (done["changed"], done["needs"], done["guest_after"]["memory"]) == (True, seen["needs"], "3Gi"), done
    item = live(api, shop)
    assert domain_of(item)["memory"]["guest"] == "3Gi"
    current = live(api, shop, "small", "VirtualMachineInstancetype")["metadata"]["generation"]
    assert record_of(item)["metadata"]["generation"] == current
    assert not task.vm("web", "refresh")["drifted"]
    for module, options in (("controller_revision", {"names": ["web"]}), ("virtual_machine", vm("web", **EXPANDED))):
        assert not task(module, **options)["changed"], module


@pytest.mark.parametrize("first", ["named", "expanded"])
def test_guest_does_not_notice_another_form(task: Task, shop: str, api: Any, first: str) -> None:
    forms = [first, "expanded" if first == "named" else "named", first]
    starts = set()
    for form in forms:
        for check in (True, False):
            done = task("virtual_machine", **vm("web", sizes=form, wait=True), check=check)
        assert done["changed"] and warned(done) == [], done
        assert not done["result"].get("restart_required"), done
        item = live(api, shop)
        assert ("instancetype" in item["spec"]) == (form == "named")
        conditions = {entry["type"] for entry in item["status"]["conditions"]}
        assert "RestartRequired" not in conditions
        guest = live(api, shop, kind="VirtualMachineInstance")
        starts.add(guest["metadata"]["uid"])
        assert guest["spec"]["domain"]["memory"]["guest"] == "2Gi"
        assert not task("virtual_machine", **vm("web", sizes=form, wait=True))["changed"]
    assert len(starts) == 1


def test_captured_revision_is_kept_in_another_form(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", wait=True))
    revision = live(api, shop)["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
    resize(task, "3Gi")
    task("virtual_machine", **vm("web", **EXPANDED))
    item = live(api, shop)
    kept = record_of(item)["metadata"]
    assert revision.endswith(f"{kept['uid']}-{kept['generation']}")
    assert domain_of(item)["memory"]["guest"] == "2Gi"
    task("virtual_machine", **vm("web", wait=True))
    assert live(api, shop)["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] == revision
    # A refresh between the two counts, too.
    task("virtual_machine", **vm("web", **EXPANDED))
    task("controller_revision", names=["web"], state="refreshed")
    assert domain_of(live(api, shop))["memory"]["guest"] == "3Gi"
    task("virtual_machine", **vm("web", wait=True))
    assert live(api, shop)["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] != revision
    assert not task.vm("web", "refresh")["drifted"]


def test_name_that_would_resize_is_refused(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", **EXPANDED))
    resize(task, "3Gi")
    for check in (True, False):
        refused = task.refused("virtual_machine", **vm("web"), check=check)
        assert "VirtualMachineInstancetype small has changed since the VM got its values" in refused["msg"]
    # With auto, the VM keeps its values.
    same = task("virtual_machine", **vm("web", sizes="auto"))
    assert (same["changed"], same["result"]["sizes"]) == (False, "expanded")


def test_own_memory_beside_a_size_is_refused(task: Task, shop: str) -> None:
    own = {"spec": {"domain": {"cpu": {"cores": 4}}}}
    words = task.refused("virtual_machine", **vm("web", sizes="expanded", template=own))["msg"]
    assert "spec.template.spec.domain.cpu.cores conflicts with selected instance type" in words, words
    assert "\n" not in words and "remove these fields from the VM" in words
    missing = task.refused("virtual_machine", **vm("web", "none", sizes="expanded"))["msg"]
    assert '"none" not found; the cluster has 3 VirtualMachineInstancetypes' in missing
    small = task.refused("virtual_machine", **vm("web", "tiny", sizes="expanded"))["msg"]
    assert "preference requires 2Gi; " in small


def test_run_strategy_of_harvester_is_no_eternal_change(task: Task, harvester: Webhook, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", **EXPANDED, run_strategy="Halted"))
    outcomes = [task("virtual_machine", **vm("web", **EXPANDED, run_strategy="Always")) for _run in range(3)]
    assert [outcome["changed"] for outcome in outcomes][-1] is False, outcomes
    assert live(api, shop)["spec"]["runStrategy"] == "Always"


def test_users_of_an_instancetype_have_its_values(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", **EXPANDED, run_strategy="Halted"))
    refused = task.outcome("instancetype", name="small", state="absent")
    assert "1 virtual machine" in refused.get("msg", "") + " ".join(warned(refused)), refused
    assert objects(api, "VirtualMachine").get(name="web", namespace=shop)
