"""virtual_machine_power: every state, twice; refusals; many at once."""

from typing import Any

import pytest

from modules_support import Task, by_name, objects, vm, warned
from plugins.module_utils._resolver.change.step import CHANGE_UNKNOWN_IN_CHECK_MODE as CHANGES

NOT_RUNNING = 'Operation cannot be fulfilled on virtualmachine.kubevirt.io "web": '


@pytest.fixture
def web(task: Task, shop: str) -> str:
    """The namespace of a running VM `web`."""
    result = task("virtual_machine", **vm("web"), wait=True)
    assert result["result"]["status"] == "Running", result
    return shop


def test_stop_and_start_are_idempotent(task: Task, web: str) -> None:
    for state, verb, status in (("stopped", "stop", "Stopped"), ("started", "start", "Running")):
        done = task("virtual_machine_power", wait=True, name="web", state=state)
        assert (done["changed"], done["msg"]) == (True, "1 virtual machine: 1 changed, 0 unchanged"), done
        result = done["results"][0]
        assert (result["verb"], result["status"]) == (verb, status)
        assert ("vmi" in result) is (state == "started")
        again = task("virtual_machine_power", wait=True, name="web", state=state)
        assert (again["changed"], again["results"][0]["verb"]) == (False, ""), again


def test_a_restart_waits_for_the_new_vmi(task: Task, web: str) -> None:
    before = task("virtual_machine_power", wait=True, name="web", state="started")["results"][0]["vmi"]
    done = task("virtual_machine_power", wait=True, name="web", state="restarted")
    after = done["results"][0]["vmi"]
    assert done["changed"]
    assert (after["phase"], after["uid"] != before["uid"]) == ("Running", True)
    parts = [done["diff"][0][part]["vmi"] for part in ("before", "after")]
    assert parts == [before["uid"], after["uid"]]


def test_forced_restart_with_refused_grace_period(task: Task, web: str) -> None:
    assert task("virtual_machine_power", wait=True, name="web", state="restarted", force=True)["changed"]
    refused = task.refused(
        "virtual_machine_power", wait=True, name="web", state="restarted", force=True, grace_period=5
    )
    assert not refused["changed"]
    assert refused["msg"] == f"{web}/web: For force restart, only gracePeriod=0 is supported for now"


def test_a_forced_stop(task: Task, web: str) -> None:
    done = task("virtual_machine_power", wait=True, name="web", state="stopped", force=True, grace_period=0)
    assert (done["changed"], done["results"][0]["status"]) == (True, "Stopped")


def test_pause_and_unpause_are_idempotent(task: Task, web: str) -> None:
    for state, status in (("paused", "Paused"), ("unpaused", "Running")):
        done = task("virtual_machine_power", wait=True, name="web", state=state)
        assert (done["changed"], done["results"][0]["status"]) == (True, status), done
        assert not task("virtual_machine_power", wait=True, name="web", state=state)["changed"]


def test_a_paused_vm_is_started(task: Task, web: str) -> None:
    task("virtual_machine_power", wait=True, name="web", state="paused")
    done = task("virtual_machine_power", wait=True, name="web", state="started")
    assert (done["changed"], done["results"][0]["status"]) == (False, "Paused")


def test_started_paused(task: Task, web: str, api: Any) -> None:
    task("virtual_machine_power", wait=True, name="web", state="stopped")
    done = task("virtual_machine_power", wait=True, name="web", state="started", paused=True)
    assert (done["changed"], done["results"][0]["vmi"]["phase"]) == (True, "Running"), done
    instances = objects(api, "VirtualMachineInstance")
    assert instances.get(name="web", namespace=web).spec.startStrategy == "Paused"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("restarted", f"{NOT_RUNNING}RunStategy Halted does not support manual restart requests"),
        ("paused", 'virtualmachineinstance.kubevirt.io "web" not found'),
        ("unpaused", 'virtualmachineinstance.kubevirt.io "web" not found'),
    ],
)
def test_refusal_reports_the_server_message(task: Task, web: str, state: str, words: str) -> None:
    task("virtual_machine_power", wait=True, name="web", state="stopped")
    refused = task.refused("virtual_machine_power", wait=True, name="web", state=state)
    assert not refused["changed"]
    assert refused["msg"] == f"{web}/web: {words}"


def test_stopped_once_vm_is_not_started(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("web", run_strategy="Once"), wait=True)
    refused = task.refused("virtual_machine_power", wait=True, name="web", state="restarted")
    assert refused["msg"].endswith("RunStategy Once does not support manual restart requests"), refused


@pytest.mark.parametrize("strategy", ["Manual", "RerunOnFailure"])
def test_run_strategies_that_power_requests_keep(task: Task, shop: str, strategy: str) -> None:
    task("virtual_machine", **vm("web", run_strategy=strategy), wait=True)
    task("virtual_machine_power", wait=True, name="web", state="started")
    for state, status in (("stopped", "Stopped"), ("started", "Running"), ("restarted", "Running")):
        done = task("virtual_machine_power", wait=True, name="web", state=state)
        assert done["changed"], done
        assert (done["results"][0]["status"], done["results"][0]["run_strategy"]) == (status, strategy)
    assert not task("virtual_machine_power", wait=True, name="web", state="started")["changed"]


def test_check_mode_predicts_and_changes_nothing(task: Task, web: str) -> None:
    for state, changed in (("stopped", True), ("restarted", True), ("paused", True), ("started", False)):
        result = task("virtual_machine_power", wait=True, check=True, name="web", state=state)
        assert result["changed"] is changed, result
    matches = task.vm("web")
    assert (matches["status"], matches["run_strategy"]) == ("Running", "Always")


def test_soft_reboots_and_a_migration(task: Task, web: str, api: Any) -> None:
    for _time in range(2):
        assert task("virtual_machine_power", wait=True, name="web", state="soft_rebooted")["changed"]
    seen = task.vm("web")
    fixed = any((item["type"], item["status"]) == ("LiveMigratable", "False") for item in seen["conditions"])
    # Whether it ends is up to the cluster's other nodes.
    done = task("virtual_machine_power", name="web", state="migrated")
    assert (done.get("failed", False), done["changed"]) == (fixed, not fixed), done
    assert not fixed or "igrat" in done["msg"]
    migrations = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachineInstanceMigration")
    assert [item.spec.vmiName for item in migrations.get(namespace=web).items] == ["web"] * (not fixed)


def test_entries_with_own_states_and_missing_vm(task: Task, shop: str) -> None:
    names = [f"vm{index}" for index in range(6)]
    task("virtual_machine", virtual_machines=[vm(name) for name in names], wait=True)
    entries = [{"name": name, "state": "stopped" if index % 2 else "paused"} for index, name in enumerate(names)]
    entries += [{"name": "gone"}]
    done = task.refused("virtual_machine_power", wait=True, state="started", virtual_machines=entries)
    assert done["msg"] == f"1 of 7 virtual machines failed: {shop}/gone: the virtual machine does not exist; 6 changed"
    result = by_name(done["results"])
    assert list(result) == [*names, "gone"]
    assert [result[name]["status"] for name in names] == ["Paused", "Stopped"] * 3
    again = task("virtual_machine_power", wait=True, virtual_machines=entries[:-1])
    assert (again["changed"], again["msg"]) == (False, "6 virtual machines: 0 changed, 6 unchanged")


def test_vms_by_label(task: Task, shop: str) -> None:
    entries = [vm("a", labels={"tier": "batch"}), vm("b", labels={"tier": "batch"}), vm("c")]
    task("virtual_machine", virtual_machines=entries, wait=True)
    done = task("virtual_machine_power", wait=True, label_selectors=["tier=batch"], state="stopped")
    assert {name: result["status"] for name, result in by_name(done["results"]).items()} == {
        "a": "Stopped",
        "b": "Stopped",
    }
    matches = task("virtual_machine_info", names=["c"])["virtual_machines"]
    assert matches[0]["status"] == "Running"


def test_start_failure_names_the_cause(task: Task, shop: str) -> None:
    task("virtual_machine", **vm("web", "nowhere", preference=None), preflight="off")
    failed = task.refused("virtual_machine_power", wait=True, name="web", state="started", wait_timeout=60)
    assert '"nowhere" not found; create it' in failed["msg"]


def test_missing_right_names_the_rule(task: Task, web: str, user_with: Any) -> None:
    user = user_with(
        {
            "apiGroups": ["kubevirt.io"],
            "resources": ["virtualmachines", "virtualmachineinstances"],
            "verbs": ["get", "list", "watch"],
        }
    )
    refused = task.refused("virtual_machine_power", wait=True, name="web", state="stopped", **user)
    assert refused["msg"].endswith(
        'grant {apiGroups: ["subresources.kubevirt.io"], resources: ["virtualmachines/stop"], verbs: ["update"]}'
        f" in a Role of the namespace {web}"
    ), refused


@pytest.mark.parametrize("strategy", ["Always", "RerunOnFailure", "Manual"])
def test_lost_revision_leaves_the_guest(task: Task, shop: str, api: Any, strategy: str) -> None:
    """KubeVirt accepts the requests, and then neither stops nor starts such a VM: nothing is sent."""
    declared = task("virtual_machine", **vm("web", run_strategy=strategy), wait=True)
    power = {"namespace": shop, "name": "web", "wait": True}
    task("virtual_machine_power", state="started", **power)
    name = declared["result"]["instancetype_revision"]
    objects(api, "ControllerRevision").delete(name=name, namespace=shop)
    line = (
        f"{shop}/web: spec.instancetype: the captured revision {name} was deleted, so KubeVirt can neither start, stop"
        " nor restart the VM; refresh the VM (controller_revision, state: refreshed)"
    )
    for state in ("stopped", "restarted"):
        refused = task.refused("virtual_machine_power", state=state, **power)
        assert (refused["changed"], refused["msg"]) == (False, line)
        checked = task("virtual_machine_power", check=True, state=state, **power)
        assert (checked["changed"], warned(checked)) == (False, [f"{line}; {CHANGES}"])
    vms = objects(api, "VirtualMachine")
    live = vms.get(namespace=shop, name="web").to_dict()
    assert (live["spec"]["runStrategy"], live["status"].get("stateChangeRequests")) == (strategy, None)
    # The guest runs on, as it should.
    assert not task.outcome("virtual_machine_power", state="started", **power)["changed"]
    task("controller_revision", names=["web"], state="refreshed")
    assert task("virtual_machine_power", state="restarted", **power)["changed"]
    assert task("virtual_machine_power", state="stopped", **power)["changed"]


@pytest.mark.parametrize("strategy", ["Halted", "Manual"])
def test_lost_revision_is_not_started(task: Task, shop: str, api: Any, strategy: str) -> None:
    declared = task("virtual_machine", **vm("web", run_strategy=strategy), wait=True)
    name = declared["result"]["instancetype_revision"]
    objects(api, "ControllerRevision").delete(name=name, namespace=shop)
    refused = task.refused("virtual_machine_power", name="web", state="started", wait=True)
    assert not refused["changed"], refused
    assert f"the captured revision {name} was deleted" in refused["msg"]
    for check in (True, False):
        # It has no guest.
        assert not task("virtual_machine_power", check=check, name="web", state="stopped")["changed"]


def test_vm_without_its_instancetype_is_not_started(task: Task, shop: str) -> None:
    entry = vm("web", "nothing", run_strategy="Halted", preference=None)
    task("virtual_machine", **entry, preflight="off")
    refused = task.refused("virtual_machine_power", name="web", state="started")
    assert '"nothing" not found; create it' in refused["msg"], refused
    (warning,) = warned(task("virtual_machine_power", check=True, name="web", state="started"))
    assert '"nothing" not found; create it' in warning and warning.endswith(CHANGES)
