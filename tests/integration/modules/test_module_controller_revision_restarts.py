"""A refresh ends: one restart at most, and none by a second run, whatever has changed and whoever may do it."""

import time
from typing import Any

from waiting import wait_until

from modules_support import Task, by_name, objects

SIZE: dict[str, Any] = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}
# The new instancetype or preference, by the name of its VM, and the need of the guest.
SIZES: dict[str, tuple[dict[str, Any], str]] = {
    "max-sockets": ({"cpu": {"guest": 1, "max_sockets": 8}}, "restart"),
    "cpu-model": ({"cpu": {"guest": 1, "model": "EPYC"}}, "restart"),
    "fewer": ({"cpu": {"guest": 2}}, "restart"),
    "memory": ({"memory": {"guest": "3Gi", "max_guest": "3Gi"}}, "restart"),
    "io-threads": ({"io_threads_policy": "shared"}, "restart"),
    "sockets": ({"cpu": {"guest": 2}}, "live_update"),
    "annotations": ({"vm_annotations": {"example.com/size": "two"}}, "nothing"),
}
PREFERENCES: dict[str, tuple[dict[str, Any], str]] = {
    "disk-bus": ({"devices": {"preferred_disk_bus": "scsi"}}, "restart"),
    "interface-model": ({"devices": {"preferred_interface_model": "e1000"}}, "restart"),
    "machine": ({"machine": {"preferred_machine_type": "pc-q35-9.2"}}, "nothing"),
}
NAMES = [*SIZES, *PREFERENCES]
FIRST = {"fewer": {"cpu": {"guest": 4}}}


def declare(task: Task, changed: bool) -> None:
    """The instancetypes and preferences as they are at first, or changed."""
    sizes = {name: {**SIZE, **(SIZES[name][0] if changed else FIRST.get(name, {}))} for name in SIZES}
    likes = {
        name: PREFERENCES[name][0] if changed else {"cpu": {"preferred_cpu_topology": "sockets"}}
        for name in PREFERENCES
    }
    for module, entries in (("instancetype", {"plain": SIZE, **sizes}), ("preference", likes)):
        options = [{"name": name, **options} for name, options in entries.items()]
        assert task(module, **{f"{module}s": options})["changed"]


def create(task: Task) -> None:
    entries = [
        {
            "name": name,
            "instancetype": {"name": name if name in SIZES else "plain", "kind": "VirtualMachineInstancetype"},
            **({"preference": {"name": name, "kind": "VirtualMachinePreference"}} if name in PREFERENCES else {}),
        }
        for name in NAMES
    ]
    volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    assert task("virtual_machine", virtual_machines=entries, volumes=volumes, wait=True)["changed"]


def guests(api: Any, namespace: str) -> dict[str, str]:
    """The uids of the VMIs."""
    result = objects(api, "VirtualMachineInstance").get(namespace=namespace)
    return {item.metadata.name: item.metadata.uid for item in result.items}


def specs(api: Any, namespace: str) -> dict[str, Any]:
    result = objects(api, "VirtualMachine").get(namespace=namespace)
    return {item["metadata"]["name"]: item["spec"] for item in result.to_dict()["items"]}


def test_each_guest_is_restarted_once_at_most(task: Task, namespace: str, api: Any) -> None:
    declare(task, changed=False)
    create(task)
    declare(task, changed=True)
    before, declared = guests(api, namespace), specs(api, namespace)
    foreseen = task.vms(include=["refresh"])
    needs = {name: need for name, (_change, need) in {**SIZES, **PREFERENCES}.items()}
    assert {name: item["needs"] for name, item in foreseen.items()} == needs

    done = task("controller_revision", restart="if_required")
    results = by_name(done["results"])
    assert {name: item["needs"] for name, item in results.items()} == needs
    assert {name: item["restarted"] for name, item in results.items()} == {
        name: need == "restart" for name, need in needs.items()
    }
    assert not any(item["restart_required"] or item.get("warnings") for item in results.values()), results
    after = guests(api, namespace)
    assert {name for name in NAMES if before[name] != after[name]} == {
        name for name, need in needs.items() if need == "restart"
    }
    # No trace of the refresh in what users have declared.
    assert specs(api, namespace) == declared

    assert not task("controller_revision", restart="if_required")["changed"]
    assert guests(api, namespace) == after
    seen = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
    assert all(item["guest_current"] and not item["restart_required"] for item in seen), seen


def test_guest_restarted_by_a_user_is_skipped(task: Task, namespace: str, api: Any) -> None:
    """Refreshed by the status and restarted without raising the generation: KubeVirt asks for a restart for ever."""
    task("instancetype", name="plain", **SIZE)
    size = {"name": "plain", "kind": "VirtualMachineInstancetype"}
    options = {"namespace": namespace, "name": "db", "instancetype": size}
    options["volumes"] = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
    task("virtual_machine", **options, wait=True)
    task("instancetype", name="plain", cpu={"guest": 1, "max_sockets": 8}, memory=SIZE["memory"])
    vms = objects(api, "VirtualMachine")
    # virt-controller's cache of instancetypes lags behind a little.
    wait_until(lambda: "-2" in release(vms, namespace))
    wait_until(lambda: condition(vms, namespace))
    assert task("virtual_machine_power", names=["db"], state="restarted", wait=True)["changed"]
    left = guests(api, namespace)
    # KubeVirt 1.7 and later keep the condition; before, nothing is left to ask for.
    stuck = condition(vms, namespace)

    for _time in range(2):
        result = task("controller_revision", restart="if_required")
        assert not result["results"][0]["restarted"], result
        assert (result["results"][0]["guest_current"], result["results"][0]["restart_required"]) == (True, False)
        assert bool(result["results"][0].get("warnings")) is stuck
        declared = task("virtual_machine", **options, restart="if_required", wait=True)
        assert not declared["changed"], declared
        assert bool(declared["result"].get("warnings")) is stuck
    assert guests(api, namespace) == left
    seen = task.vm("db")
    assert (seen["restart_required"], "restart_reason" in seen) == (False, stuck)

    # The generation was raised meanwhile, so that the next restart ends it.
    task("virtual_machine_power", names=["db"], state="restarted", wait=True)
    wait_until(lambda: not condition(vms, namespace))


def release(vms: Any, namespace: str) -> str:
    """Takes the reference out of the VM's status; the revision that is captured then."""
    body = {"status": {"instancetypeRef": {"controllerRevisionRef": None}}}
    vms.status.patch(name="db", namespace=namespace, body=body, content_type="application/merge-patch+json")
    result: dict[str, str] = {}

    def captured() -> bool:
        status = vms.get(name="db", namespace=namespace).to_dict()["status"]
        result.update(status["instancetypeRef"].get("controllerRevisionRef") or {})
        return bool(result)

    wait_until(captured)
    return result["name"][-2:]


def condition(vms: Any, namespace: str) -> bool:
    """Whether KubeVirt asks for a restart, once the VM has been left alone for a while."""
    seen = ""
    while seen != (now := vms.get(name="db", namespace=namespace).to_dict())["metadata"]["resourceVersion"]:
        seen = now["metadata"]["resourceVersion"]
        time.sleep(2)
    return any(item["type"] == "RestartRequired" for item in now["status"].get("conditions") or [])
