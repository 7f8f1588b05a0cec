"""Waiting for VMs: what heals, what does not, what is late, and what is gone."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from modules_support import Task, await_condition, by_name, claim_of, objects, vm
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.write import Write

NOWHERE = {"registry": {"url": "docker://127.0.0.1:1/disk"}}


def with_data_volume(name: str, source: dict[str, Any], **options: Any) -> dict[str, Any]:
    """A VM that starts once CDI has filled its disk."""
    volumes = [{"name": "root", "data_volume": "imported"}]
    spec = {"source": source, "storage": {"resources": {"requests": {"storage": "1Gi"}}}}
    templates = [{"metadata": {"name": "imported"}, "spec": spec}]
    return vm(name, volumes=volumes, data_volume_templates=templates, **options)


def names(api: Any, namespace: str, version: str, kind: str) -> list[str]:
    result = api.resources.get(api_version=version, kind=kind).get(namespace=namespace)
    return sorted(item.metadata.name for item in result.items)


def test_bad_vm_fails_without_ending_other_waits(task: Task, shop: str) -> None:
    entries = [vm("a"), vm("b", "nowhere", preference=None), vm("c", run_strategy="Halted")]
    done = task.refused("virtual_machine", virtual_machines=entries, preflight="off", wait=True)
    result = by_name(done["results"])
    assert [result[name]["failed"] for name in "abc"] == [False, True, False]
    assert [result[name]["status"] for name in "ac"] == ["Running", "Stopped"]
    assert result["b"]["msg"].startswith("FailedFindInstancetype: ") and '"nowhere" not found' in result["b"]["msg"]


def test_failure_before_the_change_is_ignored(task: Task, shop: str) -> None:
    task.refused("virtual_machine", **vm("web", "nowhere", preference=None), preflight="off", wait=True)
    healed = task("virtual_machine", **vm("web"), wait=True)
    assert healed["result"].get("status") == "Running", healed


def test_unchanged_vm_fails_with_its_condition(task: Task, shop: str) -> None:
    entry = vm("web", "nowhere", preference=None)
    task("virtual_machine", **entry, preflight="off")
    again = task.refused("virtual_machine", **entry, preflight="off", wait=True)
    assert not again["changed"]
    assert "FailedFindInstancetype" in again["msg"]


def test_timeout_reports_conditions_and_events(task: Task, shop: str, api: Any) -> None:
    assert task("virtual_machine", **with_data_volume("web", NOWHERE))["changed"]
    about = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "name": "web", "namespace": shop}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1", "namespace": shop},
        "involvedObject": about,
        "type": "Warning",
        "reason": "ImportFailed",
        "message": "no route to the image",
        "lastTimestamp": "2099-01-01T00:00:00Z",
    }
    api.resources.get(api_version="v1", kind="Event").create(namespace=shop, body=event)
    await_condition(api, shop, "web", "Ready")
    late = task.outcome("virtual_machine", **with_data_volume("web", NOWHERE), wait=True, wait_timeout=1)
    if not late.get("failed"):
        pytest.skip("this cluster fills volumes in no time")
    # virt-controller says DataVolumeError from when the first try has failed until CDI begins the next one.
    state = r"(, waiting for the VM to run \(now Provisioning\)|: DataVolumeError)"
    beginning = f"{shop}/web: not ready after 1 s{state}; DataVolume imported: "
    assert re.match(beginning, late["msg"]), late["msg"]
    assert "Ready=False (VMINotExists: VMI does not exist)" in late["msg"]
    assert late["msg"].endswith("ImportFailed: no route to the image")


@pytest.fixture
def requests(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The requests to the API server, `VERB resource`, in order."""
    seen: list[str] = []
    send, watch = Session.request, Session.watch

    def counted(self: Session, method: str, path: str, *more: Any, **options: Any) -> Any:
        seen.append(f"{method} {path.partition('/namespaces/')[2].partition('/')[2].partition('/')[0]}")
        return send(self, method, path, *more, **options)

    def watched(self: Session, kind: Any, *more: Any, **options: Any) -> Any:
        seen.append(f"WATCH {kind.plural}")
        return watch(self, kind, *more, **options)

    monkeypatch.setattr(Session, "request", counted)
    monkeypatch.setattr(Session, "watch", watched)
    return seen


def test_all_vms_share_a_watch(task: Task, shop: str, requests: list[str]) -> None:
    entries = [vm(f"web{index}") for index in range(12)]
    requests.clear()
    result = task("virtual_machine", virtual_machines=entries, wait=True)
    assert result["msg"] == "12 virtual machines: 12 created"
    counts = Counter(requests)
    # A watch that is cut off is begun again.
    assert (counts["PATCH virtualmachines"], 1 <= counts["WATCH virtualmachines"] <= 3) == (12, True)
    # One list shows the existing VMs, another one is the start of the watch.
    assert 2 <= counts["GET virtualmachines"] <= 4
    requests.clear()
    again = task("virtual_machine", virtual_machines=entries)
    assert (again["changed"], requests) == (False, ["GET virtualmachines"])
    requests.clear()
    gone = [{"name": entry["name"], "state": "absent"} for entry in entries]
    assert task("virtual_machine", virtual_machines=gone, wait=True)["changed"]
    counts = Counter(requests)
    assert counts["DELETE virtualmachines"] == 12
    assert 1 <= counts["WATCH virtualmachines"] <= 3
    assert counts["WATCH controllerrevisions"] <= 3


def test_absent_waits_for_vmi_and_revisions(task: Task, shop: str, api: Any) -> None:
    entries = [vm("a"), vm("b"), vm("c")]
    task("virtual_machine", virtual_machines=entries, wait=True)
    assert names(api, shop, "kubevirt.io/v1", "VirtualMachineInstance") == ["a", "b", "c"]
    gone = [{"name": name, "state": "absent"} for name in "ab"]
    done = task("virtual_machine", virtual_machines=gone, wait=True)
    assert done["msg"] == "2 virtual machines: 2 deleted", done
    for kind in ("VirtualMachine", "VirtualMachineInstance"):
        assert names(api, shop, "kubevirt.io/v1", kind) == ["c"]
    left = objects(api, "ControllerRevision").get(namespace=shop).items
    assert {item.metadata.ownerReferences[0].name for item in left} == {"c"}
    assert not task("virtual_machine", virtual_machines=gone)["changed"]


def hold(api: Any, namespace: str, version: str, kind: str, name: str, held: bool) -> Any:
    """Puts a finalizer on an object, or removes it: it stands for a garbage collector that is late."""
    body = {"metadata": {"name": name, "finalizers": ["example.com/held"] if held else None}}
    objects = api.resources.get(api_version=version, kind=kind)
    return objects.patch(namespace=namespace, body=body, content_type="application/merge-patch+json")


def test_create_waits_for_leftovers_of_its_name(task: Task, shop: str, api: Any) -> None:
    entry = with_data_volume("web", {"blank": {}}, preference=None, run_strategy="Halted")
    captured = task("virtual_machine", **entry, wait=True)["result"]["instancetype_revision"]
    revision = ("apps/v1", "ControllerRevision", captured)
    volume = ("cdi.kubevirt.io/v1beta1", "DataVolume", "imported")
    # virt-controller makes it a little later.
    next(iter(api.resources.get(api_version=volume[0], kind=volume[1]).watch(namespace=shop, timeout=60)))
    for held in (revision, volume):
        hold(api, shop, *held, True)
    assert task.refused("virtual_machine", name="web", state="absent", wait=True, wait_timeout=3)["changed"]
    for kind, held in (("ControllerRevision", revision), ("DataVolume", volume)):
        late = task.refused("virtual_machine", **entry, wait_timeout=1)
        assert not late["changed"]
        assert f"web: {kind} {held[2]} of the deleted virtual machine: not ready after" in late["msg"]
        if held == revision:
            hold(api, shop, *held, False)

    def collect() -> list[str]:
        time.sleep(0.5)
        there = names(api, shop, "kubevirt.io/v1", "VirtualMachine")
        hold(api, shop, *volume, False)
        return there

    with ThreadPoolExecutor(1) as pool:
        there = pool.submit(collect)
        result = task("virtual_machine", **entry, wait=True)
        assert there.result() == []
    assert result["result"]["instancetype_revision"] == captured
    machine = objects(api, "VirtualMachine").get(namespace=shop, name="web")
    owner = hold(api, shop, *revision, False).metadata.ownerReferences[0].uid
    assert owner == machine.metadata.uid


def test_terminating_vm_is_recreated_after_its_deletion(task: Task, shop: str, api: Any) -> None:
    entry = vm("web", run_strategy="Halted")
    machine = ("kubevirt.io/v1", "VirtualMachine", "web")
    task("virtual_machine", **entry, wait=True)
    before = hold(api, shop, *machine, True).metadata.uid
    assert task("virtual_machine", name="web", state="absent")["changed"]
    assert not task("virtual_machine", name="web", state="absent")["changed"]
    assert task("virtual_machine", **entry, check=True)["result"]["action"] == "create"
    late = task.refused("virtual_machine", **entry, wait_timeout=1)
    assert not late["changed"]
    held = "waiting for the deletion of the existing object; the finalizer example.com/held, set by"
    assert late["msg"].startswith(f"{shop}/web: not ready after 1 s, {held}")

    def end() -> None:
        time.sleep(0.5)
        hold(api, shop, *machine, False)

    with ThreadPoolExecutor(1) as pool:
        pool.submit(end)
        result = task("virtual_machine", **entry, wait=True)
    assert (result["changed"], result["result"]["action"]) == (True, "create"), result
    live = api.resources.get(api_version=machine[0], kind=machine[1]).get(namespace=shop, name="web")
    assert live.metadata.uid != before
    assert "deletionTimestamp" not in live.metadata


@pytest.mark.parametrize("successor", [False, True])
def test_change_does_not_recreate_a_deleted_vm(
    task: Task, shop: str, api: Any, monkeypatch: pytest.MonkeyPatch, successor: bool
) -> None:
    entry = vm("web", run_strategy="Halted")
    task("virtual_machine", **entry, wait=True)
    machines = objects(api, "VirtualMachine")
    write = Session.write

    def late(session: Session, change: Write) -> dict[str, Any]:
        machines.delete(namespace=shop, name="web")
        while names(api, shop, "kubevirt.io/v1", "VirtualMachine"):
            time.sleep(0.05)
        if successor:
            template = {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}
            body = {"metadata": {"name": "web"}, "spec": {"runStrategy": "Halted", "template": template}}
            machines.create(namespace=shop, body={**body, "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"})
        return write(session, change)

    with monkeypatch.context() as patched:
        patched.setattr(Session, "write", late)
        result = task.refused("virtual_machine", **entry, labels={"tier": "one"})
    assert not result["changed"]
    assert result["msg"] == f"{shop}/web: the object was deleted while the task ran; run the task again"
    assert names(api, shop, "kubevirt.io/v1", "VirtualMachine") == ["web"] * successor


def test_objects_that_outlive_a_vm_are_named(task: Task, shop: str, api: Any) -> None:
    claim_of(api, shop, "mine")
    entry = with_data_volume("web", {"blank": {}})
    entry["volumes"] += [{"name": "more", "persistent_volume_claim": "mine"}]
    entry["volumes"] += [{"name": "gone", "persistent_volume_claim": "missing"}]
    task("virtual_machine", **entry, run_strategy="Halted", wait=True)
    volumes = objects(api, "DataVolume")
    # virt-controller makes it a little later.
    volume = next(iter(volumes.watch(namespace=shop, timeout=60)))["object"]
    claim_of(api, shop, "imported", volume)
    for check in (True, False):
        done = task("virtual_machine", check=check, name="web", state="absent", wait=True)
        assert done["changed"], done
        assert done["result"]["retained"] == [{"kind": "PersistentVolumeClaim", "name": "mine"}]
    assert "mine" in names(api, shop, "v1", "PersistentVolumeClaim")
    assert "retained" not in task("virtual_machine", name="web", state="absent")["result"]


def test_failure_quotes_the_event_of_the_pod(task: Task, shop: str, api: Any) -> None:
    """The pod of a container that could not start is soon gone."""
    crashes = {"metadata": {"annotations": {"instancetypes.virtshape.io/simulated-guest": "crashes"}}}
    about = {"apiVersion": "v1", "kind": "Pod", "name": "virt-launcher-web-x7k2p", "namespace": shop}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "web.1", "namespace": shop},
        "involvedObject": about,
        "type": "Warning",
        "reason": "Failed",
        "message": "Error: failed to create containerd task",
        "lastTimestamp": "2099-01-01T00:00:00Z",
    }
    # An event that is older than the VM would be about an earlier one.
    task("virtual_machine", **vm("web", template=crashes, run_strategy="Halted"))
    objects_of_events = api.resources.get(api_version="v1", kind="Event")
    objects_of_events.create(namespace=shop, body=event)
    failed = task.refused("virtual_machine", **vm("web", template=crashes, run_strategy="Always"), wait=True)
    assert "CrashLoopBackOff: " in failed["msg"] and " in a row" in failed["msg"]
    assert "Error: failed to create containerd task" in failed["msg"]
    assert "VMI does not exist" not in failed["msg"] and "is terminating" not in failed["msg"]


def test_finalizer_that_holds_a_deletion_is_named(task: Task, shop: str, api: Any) -> None:
    vms, guests = (objects(api, kind) for kind in ("VirtualMachine", "VirtualMachineInstance"))
    for name, strategy in (("held", "Halted"), ("guest", "Always")):
        task("virtual_machine", **vm(name, run_strategy=strategy), wait=True)
    keep = {"metadata": {"finalizers": ["backup.example.com/keep"]}}
    vms.patch(name="held", namespace=shop, body=keep, content_type="application/merge-patch+json")
    guests.patch(name="guest", namespace=shop, body=keep, content_type="application/merge-patch+json")
    text = r"the finalizer backup\.example\.com/keep, set by \S+, holds it until the tool of backup\.example\.com"
    names = ["held", "guest"]
    gone = task.refused("virtual_machine", names=names, state="absent", wait=True, wait_timeout=4)
    found = by_name(gone["results"])
    assert re.search(rf"waiting for the object to disappear; {text}", found["held"]["msg"])
    assert re.search(rf"VirtualMachineInstance guest: is being deleted, and {text}", found["guest"]["msg"])
    again = task.refused("virtual_machine", **vm("held"), wait_timeout=2)
    assert re.search(rf"waiting for the deletion of the existing object; {text}", again["msg"])
    for resource, name in ((vms, "held"), (guests, "guest")):
        body = {"metadata": {"finalizers": None}}
        resource.patch(name=name, namespace=shop, body=body, content_type="application/merge-patch+json")
    assert not task("virtual_machine", names=names, state="absent", wait=True).get("failed")
