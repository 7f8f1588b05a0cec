"""virtual_machine_snapshot: sizes, guests, retention, restores, clones and what KubeVirt says when it cannot."""

from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, live, manifest, objects, vm, warned

pytestmark = pytest.mark.needs("cdi_here", "snapshots")

MODULE = "virtual_machine_snapshot"
SNAPSHOT, RESTORE, CLONE = "VirtualMachineSnapshot", "VirtualMachineRestore", "VirtualMachineClone"


def with_disk(name: str = "web", **options: Any) -> dict[str, Any]:
    disk = {"name": "root", "import": {"blank": True, "size": "1Gi"}}
    return {**vm(name, **{"run_strategy": "Halted", **options}), "volumes": [disk]}


@pytest.fixture
def web(task: Task, shop: str, api: Any) -> str:
    """The namespace of a stopped VM `web` whose disk is there."""
    return declared(task, shop, api)


def declared(task: Task, namespace: str, api: Any, name: str = "web", **options: Any) -> str:
    task("virtual_machine", **with_disk(name, **options), wait="run_strategy" in options)
    claims = objects(api, "PersistentVolumeClaim")
    wait_until(
        lambda: any((item.status or {}).get("phase") == "Bound" for item in claims.get(namespace=namespace).items)
    )
    return namespace


def grow(task: Task) -> None:
    """Gives the instancetype small another generation, which VMs would capture now."""
    task("instancetype", name="small", cpu={"guest": 4}, memory={"guest": "8Gi"})


def size(api: Any, namespace: str, name: str = "web") -> int:
    """The vCPUs of the captured instancetype of a VM."""
    vm = live(api, namespace, name)
    pinned = vm["spec"]["instancetype"].get("revisionName")
    revision = pinned or vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
    return int(live(api, namespace, revision, "ControllerRevision")["data"]["spec"]["cpu"]["guest"])


def names(api: Any, namespace: str, kind: str = SNAPSHOT) -> set[str]:
    return {item.metadata.name for item in objects(api, kind).get(namespace=namespace).items}


def made_by_hand(api: Any, namespace: str, name: str, source: str = "web") -> None:
    """A snapshot of KubeVirt that this collection has not taken, once it is ready."""
    reference = {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": source}
    objects(api, SNAPSHOT).create(namespace=namespace, body=manifest(SNAPSHOT, name, {"source": reference}))
    wait_until(lambda: (live(api, namespace, name, SNAPSHOT).get("status") or {}).get("readyToUse"))


def test_snapshot_of_a_stopped_vm_keeps_its_size(task: Task, web: str, api: Any) -> None:
    foretold = task(MODULE, check=True, name="web", snapshot="before")
    assert foretold["changed"] and foretold["results"][0]["pinned"] and not names(api, web)
    assert "revisionName" not in live(api, web)["spec"]["instancetype"]
    done = task(MODULE, name="web", snapshot="before")
    (result,) = done["results"]
    assert (result["changed"], result["ready"], result["pinned"], result["indications"]) == (True, True, True, [])
    assert "quiesced" not in result
    assert done["diff"][0]["after"] == {"snapshot": "before", "pinned": True}
    again = task(MODULE, name="web", snapshot="before")
    assert (again["changed"], again["results"][0]["ready"]) == (False, True)
    grow(task)
    task("controller_revision", name="web", state="unpinned")
    task("controller_revision", name="web", state="refreshed")
    assert size(api, web) == 4
    restored = task(MODULE, name="web", snapshot="before", state="restored")
    assert restored["changed"] and size(api, web) == 1
    assert restored["results"][0]["revisions"]["instancetype"].startswith("web-small-")


def test_snapshot_without_a_pin_loses_the_size(task: Task, web: str, api: Any) -> None:
    """What KubeVirt does, for which the module pins."""
    made_by_hand(api, web, "by-hand")
    content = live(api, web, "by-hand", SNAPSHOT)["status"]["virtualMachineSnapshotContentName"]
    kind = api.resources.get(api_version="snapshot.kubevirt.io/v1beta1", kind="VirtualMachineSnapshotContent")
    copied = kind.get(name=content, namespace=web).spec.source.virtualMachine
    assert copied.spec.instancetype.name == "small" and not copied.spec.instancetype.revisionName
    grow(task)
    task(MODULE, name="web", snapshot="by-hand", state="cloned", target="copy")
    assert size(api, web, "copy") == 4
    # The snapshot exists, and the module leaves it as it is.
    assert not task(MODULE, name="web", snapshot="by-hand")["changed"]


def test_guest_with_an_agent_is_quiesced(task: Task, shop: str, api: Any) -> None:
    declared(task, shop, api, run_strategy="Always")
    wait_until(lambda: "AgentConnected" in str(live(api, shop, kind="VirtualMachineInstance").get("status")))
    done = task(MODULE, name="web", snapshot="running")
    (result,) = done["results"]
    assert (result["indications"], result["quiesced"], result["pinned"]) == (["GuestAgent", "Online"], True, False)
    assert not warned(done)
    grow(task)
    refused = task.refused(MODULE, name="web", snapshot="running", state="restored")
    assert "the VM runs, and KubeVirt restores only a stopped one; stop it" in refused["msg"]
    assert not names(api, shop, RESTORE)
    task(MODULE, name="web", snapshot="running", state="restored", stop=True)
    assert (live(api, shop)["status"]["printableStatus"], size(api, shop)) == ("Stopped", 1)


def test_guest_without_agent_is_said_unquiesced(task: Task, shop: str, api: Any) -> None:
    silent = {"metadata": {"annotations": {"instancetypes.virtshape.io/simulated-guest": "silent"}}}
    declared(task, shop, api, run_strategy="Always", template=silent)
    done = task(MODULE, name="web", snapshot="running")
    assert (done["results"][0]["indications"], done["results"][0]["quiesced"]) == (["NoGuestAgent", "Online"], False)
    assert "not quiesced" in "".join(warned(done))


def test_only_own_snapshots_are_not_kept(task: Task, web: str, api: Any) -> None:
    declared(task, web, api, "db")
    made_by_hand(api, web, "by-hand")
    for number in range(3):
        task(MODULE, names=["web", "db"], snapshot=f"{{name}}-{number}")
    foretold = task(MODULE, check=True, names=["web", "db"], snapshot="{name}-3", keep={"newest": 2})
    assert [item["deleted"] for item in foretold["results"]] == [["web-0", "web-1"], ["db-0", "db-1"]]
    assert len(names(api, web)) == 7
    done = task(MODULE, names=["web"], snapshot="{name}-3", keep={"newest": 2})
    assert done["results"][0]["deleted"] == ["web-0", "web-1"]
    wait_until(lambda: names(api, web) == {"by-hand", "web-2", "web-3", "db-0", "db-1", "db-2"})
    assert not task(MODULE, names=["web", "db"], snapshot="{name}-2", keep={"days": 1})["changed"]
    kept = task(MODULE, names=["web"], snapshot="{name}-2", keep={"newest": 1})
    assert (kept["changed"], kept["results"][0]["deleted"]) == (False, [])


def test_snapshot_is_deleted_twice(task: Task, web: str, api: Any) -> None:
    made_by_hand(api, web, "web-1")
    task("virtual_machine", **with_disk("db"))
    refused = task.refused(MODULE, name="db", snapshot="web-1", state="absent")
    assert refused["msg"] == f"{web}/db: the snapshot web-1 is of the VM web; choose another name"
    assert task(MODULE, check=True, name="web", snapshot="web-1", state="absent")["changed"]
    assert names(api, web) == {"web-1"}
    assert task(MODULE, name="web", snapshot="web-1", state="absent")["changed"]
    assert not names(api, web)
    assert not task(MODULE, names=["web", "db"], snapshot="{name}-1", state="absent")["changed"]


def test_deleted_vm_comes_back_from_its_snapshot(task: Task, web: str, api: Any) -> None:
    task(MODULE, name="web", snapshot="before")
    grow(task)
    task("virtual_machine", name="web", state="absent", wait=True)
    task(MODULE, name="web", snapshot="before", state="restored")
    assert size(api, web) == 1
    # The snapshot is one of the new VM too, though keep counts only what the module took of the new one.
    done = task(MODULE, name="web", snapshot="after", keep={"newest": 1})
    assert not done["results"][0]["deleted"] and names(api, web) == {"before", "after"}
    assert task(MODULE, name="web", snapshot="before", state="restored")["changed"]


def test_restored_vm_gets_a_named_size(task: Task, web: str, api: Any) -> None:
    task(MODULE, name="web", snapshot="before")
    refused = task.refused(MODULE, name="web", snapshot="before", state="restored", instancetype="none")
    assert "none" in refused["msg"] and not names(api, web, RESTORE)
    # The preference of the VM asks for more.
    refused = task.refused(MODULE, name="web", snapshot="before", state="restored", instancetype="tiny")
    assert "KubeVirt would reject the VM" in refused["msg"] and not names(api, web, RESTORE)
    for _run in range(2):
        done = task(MODULE, name="web", snapshot="before", state="restored", instancetype="medium")
        assert done["changed"] and size(api, web) == 2
        assert done["results"][0]["revisions"]["instancetype"].startswith("web-medium-")
    assert len(names(api, web, RESTORE)) == 2


def test_clone_is_another_machine_of_the_same_size(task: Task, shop: str, api: Any) -> None:
    mac = "02:00:00:00:00:01"
    interfaces = [{"name": "default", "masquerade": {}, "macAddress": mac}]
    spec = {"domain": {"devices": {"interfaces": interfaces}}, "networks": [{"name": "default", "pod": {}}]}
    declared(task, shop, api, template={"spec": spec})
    foretold = task(MODULE, check=True, name="web", state="cloned", target="{name}-2")
    assert foretold["changed"] and names(api, shop, "VirtualMachine") == {"web"}
    first = task(MODULE, name="web", state="cloned", target="{name}-2")
    assert first["changed"] and first["results"][0]["pinned"]
    task(MODULE, name="web", snapshot="before")
    grow(task)
    second = task(MODULE, name="web", snapshot="before", state="cloned", target="{name}-3", instancetype="medium")
    assert second["results"][0]["revisions"]["instancetype"].startswith("web-3-medium-")
    assert [size(api, shop, name) for name in ("web-2", "web-3")] == [1, 2]
    domains = [live(api, shop, name)["spec"]["template"]["spec"]["domain"] for name in ("web", "web-2", "web-3")]
    # KubeVirt 1.5 writes none, and computes that of the guest from the VM's name.
    assert len({domain["firmware"]["uuid"] for domain in domains if "firmware" in domain}) in (3, 0)
    assert [mac in str(domain) for domain in domains] == [True, False, False]
    assert not task(MODULE, name="web", state="cloned", target="{name}-2", instancetype="medium")["changed"]
    assert size(api, shop, "web-2") == 1


def test_failures_are_in_the_words_of_kubevirt(task: Task, shop: str, api: Any) -> None:
    claim = {"name": "root", "persistent_volume_claim": "missing"}
    task("virtual_machine", **{**with_disk(), "volumes": [claim]})
    refused = task.refused(MODULE, name="web", snapshot="before", wait_timeout=3)
    assert "volume doesnt exist: missing" in refused["msg"] and not refused["results"][0]["ready"]
    refused = task.refused(MODULE, name="web", snapshot="before", state="restored")
    assert "the snapshot before is not ready: InProgress" in refused["msg"]
    refused = task.refused(MODULE, name="web", state="cloned", target="copy", wait_timeout=3)
    assert "volume root does not support snapshots" in refused["msg"]
    assert "does not exist" in task.refused(MODULE, name="web", snapshot="none", state="restored")["msg"]
    assert task.refused(MODULE, name="db", snapshot="none")["msg"] == f"{shop}/db: the VM db does not exist"
    unknown = warned(task(MODULE, check=True, name="db", snapshot="none"))
    assert "check mode cannot tell" in unknown[0]


def test_failed_restore_does_not_block_the_next(task: Task, web: str, api: Any) -> None:
    task(MODULE, name="web", snapshot="before")
    guest = {"spec": {"domain": {"devices": {}, "memory": {"guest": "1Gi"}}}}
    # A VMI of the same name, which is not the VM's own.
    vmis = objects(api, "VirtualMachineInstance")
    vmis.create(namespace=web, body=manifest("VirtualMachineInstance", "web", guest["spec"]))
    refused = task.refused(MODULE, name="web", snapshot="before", state="restored")
    # The words of KubeVirt 1.5 are the others.
    assert "must be powered off" in refused["msg"] or "Restore target not ready: Operation failed" in refused["msg"]
    vmis.delete(name="web", namespace=web)
    wait_until(lambda: not vmis.get(namespace=web).items)
    assert task(MODULE, name="web", snapshot="before", state="restored")["changed"]
