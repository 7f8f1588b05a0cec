"""virtual_machine: what a change means for the guest, before and after, and the restarts that it takes."""

import importlib
from typing import Any

import pytest
import yaml
from waiting import wait_until

from modules_support import MODULES, Run, Task, by_name, claim_of, network_of, objects, vm, warned

OTHER_FIELD = "a non-live-updatable field was changed in the template spec"
MEMORY = "memory updated in template spec. Memory-hotplug is only available for migratable VMs"


@pytest.fixture
def declare(task: Task, shop: str) -> Run:
    """declare(*entries, **options): the module's result, which is no failure; with one entry, its result."""

    def one(*entries: dict[str, Any], **options: Any) -> dict[str, Any]:
        done = task("virtual_machine", virtual_machines=list(entries), **options)
        return {**done["results"][0], "msg": done["msg"]} if len(entries) == 1 else done

    return one


def uid(task: Task, namespace: str, name: str = "web") -> str:
    result = task("virtual_machine_info", names=[name])["virtual_machines"]
    return str(result[0]["vmi"]["uid"])


def test_change_restarts_the_guest_when_requested(task: Task, shop: str, declare: Run) -> None:
    declare(vm("web"), wait=True)
    before = uid(task, shop)
    entry = vm("web", "medium")
    for options in ({"check": True}, {"wait": True}):
        result = declare(entry, **options)
        assert (result["changed"], result["needs"], result["restart_reason"]) == (True, "restart", OTHER_FIELD)
        assert [result[part]["memory"] for part in ("guest_before", "guest_after")] == ["2Gi", "4Gi"]
        assert {"field": "domain.memory.guest", "before": "2Gi", "after": "4Gi"} in result["changes"]
        assert (result["restart_required"], result["restarted"]) == (True, False)
        assert result["msg"].endswith(f"1 changed; 1 {'would need' if 'check' in options else 'needs'} a restart")
    # Only the restart is left to do, which is a change of its own.
    result = declare(entry, check=True, restart="if_required")
    assert (result["changed"], result["action"], result["restarted"]) == (True, "none", True)
    assert uid(task, shop) == before
    done = declare(entry, restart="if_required")
    assert done["msg"] == "1 virtual machine: 1 unchanged; 1 restarted"
    assert (done["changed"], done["restarted"], done["restart_required"]) == (True, True, False), done
    assert (done["status"], uid(task, shop) != before) == ("Running", True)
    again = declare(entry, restart="if_required")
    assert (again["changed"], again["restarted"]) == (False, False)


def test_one_warning_says_that_guests_lack_the_change(task: Task, shop: str) -> None:
    names = ("a", "b", "c")

    def declare(*sizes: str, **options: Any) -> list[str]:
        entries = [vm(name, size) for name, size in zip(names, sizes)]
        done = task("virtual_machine", virtual_machines=entries, **options)
        return warned(done)

    assert declare("small", "small", "small", wait=True) == []
    result = "a restart for this; set restart: if_required"
    assert declare("medium", "small", check=True) == [f"{shop}/a would need {result}"]
    assert declare("medium", "small") == [f"{shop}/a needs {result}"]
    assert declare("medium", "medium", "small", wait=True) == [f"2 VMs need {result}"]
    # The guests lack it in later runs, too, until they are restarted or declared as before.
    assert declare("medium", "medium", "small", wait=True) == [f"2 VMs need {result}"]
    assert declare("medium", "medium", "medium", check=True, restart="if_required") == []
    assert declare("medium", "medium", "medium", restart="if_required") == []
    assert declare("medium", "medium", "medium") == []


def test_only_guests_that_need_it_are_restarted(task: Task, shop: str, declare: Run) -> None:
    assert task("instancetype", name="two", cpu={"guest": 2}, memory={"guest": "2Gi"})["changed"]
    declare(vm("big"), vm("more"), vm("label"), vm("off", run_strategy="Halted"), wait=True)
    before = {name: uid(task, shop, name) for name in ("big", "more", "label")}
    entries = [vm("big", "medium"), vm("more", "two"), vm("label", labels={"a": "b"}), vm("off", "medium")]
    for check in (True, False):
        done = declare(*entries, check=check, restart="if_required", wait=True)
        result = by_name(done["results"])
        assert {name: item["needs"] for name, item in result.items()} == {
            "big": "restart",
            "more": "live_update",
            "label": "nothing",
            "off": "nothing",
        }
        assert {name: item["restarted"] for name, item in result.items()} == {
            **dict.fromkeys(result, False),
            "big": True,
        }
        assert result["off"]["guest_after"]["memory"] == "4Gi"
        assert result["label"]["changes"] == []
    assert done["msg"] == "4 virtual machines: 4 changed; 1 restarted"
    assert {name: uid(task, shop, name) == item for name, item in before.items()} == {
        "big": False,
        "more": True,
        "label": True,
    }
    matches = task.vms()
    assert matches["more"]["vmi"]["guest"]["sockets"] == 2
    assert (matches["off"]["status"], matches["big"]["vmi"]["guest"]["memory"]) == ("Stopped", "4Gi")


ROOT = ({"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}, {"name": "root", "disk": {}})
NETWORKS = pytest.mark.needs("networks")
DRIVE = (None, {"name": "iso", "cdrom": {"bus": "sata"}})


def medium(claim: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"name": "iso", "persistentVolumeClaim": {"claimName": claim, "hotpluggable": True}}, DRIVE[1]


def lan(name: str, network: str = "lan", **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return {"name": name, "bridge": {}, **fields}, {"name": name, "multus": {"networkName": network}}


def with_disks(name: str, *disks: tuple[dict[str, Any] | None, dict[str, Any]]) -> dict[str, Any]:
    volumes = [volume for volume, _disk in disks if volume is not None]
    return with_devices(name, {"disks": [disk for _volume, disk in disks]}, volumes=volumes)


def with_interfaces(name: str, *interfaces: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Any]:
    networks = [network for _interface, network in interfaces]
    return with_devices(name, {"interfaces": [interface for interface, _network in interfaces]}, networks=networks)


def with_devices(name: str, devices: dict[str, Any], **fields: Any) -> dict[str, Any]:
    instancetype = vm(name)["instancetype"]
    spec = {"template": {"spec": {"domain": {"devices": devices}, **fields}}}
    return {"name": name, "instancetype": instancetype, "spec": spec}


def with_memory(name: str, **memory: Any) -> dict[str, Any]:
    domain = {"devices": {}, "resources": {"requests": {"memory": "1Gi"}}, **memory}
    return {"name": name, "spec": {"template": {"spec": {"domain": domain}}}}


@pytest.mark.parametrize(
    ("make", "before", "after", "needs"),
    [
        (with_disks, (ROOT, DRIVE), (ROOT, medium("one")), "live_update"),
        (with_disks, (ROOT, medium("one")), (ROOT, medium("two")), "live_update"),
        (with_disks, (ROOT, medium("one")), (ROOT, DRIVE), "live_update"),
        (with_disks, (ROOT, medium("one")), (ROOT,), "restart"),
        pytest.param(with_interfaces, (lan("one"),), (lan("one"), lan("two")), "live_update", marks=NETWORKS),
        pytest.param(with_interfaces, (lan("one"),), (lan("one", "wan"),), "live_update", marks=NETWORKS),
        pytest.param(with_interfaces, (lan("one"),), (lan("one", state="down"),), "live_update", marks=NETWORKS),
        pytest.param(with_interfaces, (lan("one"),), (lan("one", model="e1000"),), "restart", marks=NETWORKS),
        (with_memory, {"memory": {"guest": "2Gi"}}, {}, "restart"),
    ],
)
def test_devices_of_a_running_guest_follow_kubevirt(
    task: Task, shop: str, declare: Run, api: Any, make: Any, before: Any, after: Any, needs: str
) -> None:
    for claim in ("one", "two"):
        claim_of(api, shop, claim)
    for network in ("lan", "wan") if make is with_interfaces else ():
        network_of(api, shop, network)
    first, then = (make("web", **item) if isinstance(item, dict) else make("web", *item) for item in (before, after))
    declare(first, wait=True)
    guest = uid(task, shop)
    foreseen = declare(then, check=True)
    assert (foreseen["needs"], foreseen["restart_required"]) == (needs, needs == "restart")
    result = declare(then, wait=True, restart="if_required")
    assert (result["needs"], result["restarted"]) == (needs, needs == "restart"), result
    assert (uid(task, shop) == guest) is (needs != "restart")


@pytest.mark.parametrize("devices", [{"preferred_disk_bus": "scsi"}, {"preferred_interface_model": "e1000"}])
def test_preference_for_default_device_needs_restart(
    task: Task, shop: str, declare: Run, devices: dict[str, str]
) -> None:
    def seen() -> dict[str, Any]:
        (matches,) = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
        return {"restart_reason": None, **matches}

    assert task("preference", name="other", devices=devices)["changed"]
    other = vm("web", preference={"name": "other", "kind": "VirtualMachinePreference"})
    declare(vm("web"), wait=True)
    before = uid(task, shop)
    for check in (True, False):
        result = declare(other, check=check, wait=True)
        assert (result["needs"], result["restart_required"]) == ("restart", True), result
        assert result["restart_reason"].startswith(
            "KubeVirt does not ask for a restart, but the guest gets domain.devices."
        )
    assert (seen()["restart_required"], seen()["restart_reason"]) == (True, result["restart_reason"])
    assert declare(vm("web"), wait=True)["needs"] == "nothing"
    assert (seen()["restart_required"], uid(task, shop)) == (False, before)
    for check in (True, False):
        result = declare(other, check=check, restart="if_required", wait=True)
        assert (result["needs"], result["restarted"]) == ("restart", True), result
    assert (seen()["restart_required"], uid(task, shop) == before) == (False, False)


def test_memory_hotplug_needs_a_migratable_guest(task: Task, shop: str, declare: Run) -> None:
    task("instancetype", name="wide", cpu={"guest": 1}, memory={"guest": "4Gi"})
    declare(vm("web"), wait=True)
    web = task.vm("web")
    migrates = any((item["type"], item["status"]) == ("LiveMigratable", "True") for item in web["conditions"])
    needs, reason = ("live_update", None) if migrates else ("restart", MEMORY)
    for check in (True, False):
        result = declare(vm("web", "wide"), check=check)
        assert (result["needs"], result.get("restart_reason")) == (needs, reason), result
    # Whether or not virt-controller has asked for it by now.
    done = declare(vm("web", "wide"), restart="if_required", wait=True)
    assert done["restarted"] is not migrates, done
    assert (uid(task, shop) == web["vmi"]["uid"]) is migrates

    def grown() -> bool:
        now = task.vm("web")
        return bool(now["vmi"]["guest"]["memory"] == "4Gi")

    wait_until(grown)


def test_reverted_change_needs_no_restart(task: Task, shop: str, declare: Run) -> None:
    task("instancetype", name="wide", cpu={"guest": 1}, memory={"guest": "4Gi", "max_guest": "4Gi"})
    declare(vm("web"), wait=True)
    assert declare(vm("web", "wide"), wait=True)["restart_required"]
    back = declare(vm("web"), restart="if_required")
    result = [back[name] for name in ("changed", "needs", "restarted", "restart_required")]
    assert result == [True, "nothing", False, False], back


def test_vm_without_its_revision_can_change(task: Task, shop: str, declare: Run, api: Any) -> None:
    def web(instancetype: str = "small", **options: Any) -> dict[str, Any]:
        return vm("web", instancetype, **{"preference": None, **options})

    def lose(entry: dict[str, Any]) -> str:
        name = str(declare(entry)["instancetype_revision"])
        objects(api, "ControllerRevision").delete(name=name, namespace=shop)
        words = "so KubeVirt can neither start, stop nor restart the VM"
        return f"spec.instancetype: the captured revision {name} was deleted, {words}"

    grace = {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 5}}}}
    declare(web(), wait=True)
    guest = uid(task, shop)
    lost = lose(web())
    # The last takes a restart, once there is a revision again.
    for entry in (web(labels={"a": "b"}), web("medium"), web(**grace)):
        for check in (True, False):
            result = declare(entry, check=check, restart="if_required")
            assert (result["changed"], result["restarted"]) == (True, False)
            assert result["warnings"] == [f"{lost}; refresh the VM (controller_revision, state: refreshed)"]
    # KubeVirt refuses what lacks the memory of the instancetype.
    for check in (True, False):
        preference = vm("web")["preference"]
        refused = task.outcome("virtual_machine", check=check, **web(preference=preference, **grace))
        # An earlier task of the play may refresh the VM.
        text = refused["msg"] if not check else " ".join(warned(refused))
        assert refused.get("failed", False) is not check
        assert "insufficient Memory resources of 0" in text and lost in text
    assert uid(task, shop) == guest
    task("controller_revision", names=["web"])
    result = declare(web(**grace), restart="if_required", wait=True)
    assert (result["restarted"], uid(task, shop) == guest) == (True, False)
    lose(web(**grace))
    for check in (True, False):
        assert declare(web(run_strategy="Halted", **grace), check=check)["changed"]


def test_refused_restart_reports_the_server_message(task: Task, shop: str, declare: Run) -> None:
    declare(vm("web", run_strategy="Once"), wait=True)
    done = task.refused("virtual_machine", **vm("web", "medium", run_strategy="Once"), restart="if_required")
    assert (done["changed"], done["result"]["changed"]) == (True, True)
    assert done["msg"].startswith(f"{shop}/web: the restart failed: ")
    assert done["msg"].endswith("RunStategy Once does not support manual restart requests")


def test_return_values_are_documented(task: Task, shop: str) -> None:
    def documented(module: str, of: str = "results") -> set[str]:
        text = importlib.import_module(f"{MODULES}.{module}").RETURN
        return set(yaml.safe_load(text)[of]["contains"])

    entries = [vm("a"), vm("b", "tiny"), vm("c", "nowhere")]
    created = task.refused("virtual_machine", virtual_machines=entries, wait=True)
    changed = task("virtual_machine", **vm("a", "medium"), restart="if_required")
    gone = task("virtual_machine", name="a", state="absent", check=True)
    result = [*created["results"], *changed["results"], *gone["results"]]
    shared = documented("instancetype")
    assert {key for item in result for key in item} <= shared | documented("virtual_machine")
    done = task.refused("virtual_machine_power", wait=True, names=["a", "b"], state="stopped")
    assert {key for item in done["results"] for key in item} <= documented("virtual_machine_power")
    matches = task("virtual_machine_info")["virtual_machines"]
    assert {key for item in matches for key in item} <= documented("virtual_machine_info", "virtual_machines")


def test_change_report_hides_secrets(declare: Run) -> None:
    def with_password(text: str) -> dict[str, Any]:
        volumes = [{"name": "init", "cloud_init": {"user_data": f"password: {text}"}}]
        return vm("web", volumes=volumes)

    declare(with_password("hunter2-secret"), wait=True)
    result = declare(with_password("another-secret"))
    assert [change["field"] for change in result["changes"]] == ["volumes"]
    assert result["needs"] == "restart"
    assert "-secret" not in str(result)
