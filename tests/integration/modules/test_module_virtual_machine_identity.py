"""virtual_machine: disks that exist already or that several VMs have, and MAC addresses that several VMs have."""

from collections.abc import Callable
from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, claim_of, manifest, objects, vm, warned

BLANK = {"blank": True, "size": "1Gi"}
CLAIM, DATA_VOLUME = "PersistentVolumeClaim", "DataVolume"


@pytest.fixture
def existing(api: Any, shop: str) -> Callable[[str], str]:
    """existing(kind): makes a disk without owner, of the name that one of `web` would have, and returns its UID."""

    def made(kind: str) -> str:
        if kind == CLAIM:
            claim_of(api, shop, "web-root")
        else:
            storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
            body = manifest(kind, "web-root", {"source": {"blank": {}}, "storage": storage})
            objects(api, kind).create(namespace=shop, body=body)
        return str(disk_of(api, shop, kind)["metadata"]["uid"])

    return made


def disk_of(api: Any, namespace: str, kind: str, name: str = "web-root") -> dict[str, Any]:
    """The disk, {} without one."""
    items = objects(api, kind).get(namespace=namespace).to_dict()["items"]
    return next((item for item in items if item["metadata"]["name"] == name), {})


def owners(disk: dict[str, Any]) -> list[tuple[str, str]]:
    return [(owner["kind"], owner["name"]) for owner in disk["metadata"].get("ownerReferences") or []]


def web(**options: Any) -> dict[str, Any]:
    volumes = [{"name": "root", "import": BLANK}]
    return {**vm("web", preference=None, run_strategy="Halted"), "volumes": volumes, **options}


@pytest.mark.parametrize("kind", [CLAIM, DATA_VOLUME])
def test_existing_disk_is_not_taken_over(
    task: Task, shop: str, api: Any, existing: Callable[[str], str], kind: str
) -> None:
    uid = existing(kind)
    for check in (True, False):
        refused = task.refused("virtual_machine", check=check, **web())
        assert f"the {kind} web-root exists and has no owner" in refused["msg"] and not refused["changed"]
    assert task.vms() == {}
    assert owners(disk_of(api, shop, kind)) == []
    # A VM that exists gets no such disk either.
    data = {"name": "data", "import": {**BLANK, "name": "web-data"}}
    task("virtual_machine", **web(volumes=[data]))
    refused = task.refused("virtual_machine", **web(volumes=[data, *web()["volumes"]]))
    assert f"the {kind} web-root exists" in refused["msg"]
    # A disk that is used as it is outlives the VM.
    option = {CLAIM: "persistent_volume_claim", DATA_VOLUME: "data_volume"}[kind]
    task("virtual_machine", **web(volumes=[data, {"name": "root", option: "web-root"}]))
    gone = task("virtual_machine", name="web", state="absent", wait=True)
    assert [item["name"] for item in gone["result"]["retained"]] == ["web-root"]
    assert disk_of(api, shop, kind)["metadata"]["uid"] == uid


@pytest.mark.parametrize("kind", [CLAIM, DATA_VOLUME])
def test_existing_disk_is_adopted_on_purpose(
    task: Task, shop: str, api: Any, existing: Callable[[str], str], kind: str
) -> None:
    uid = existing(kind)
    task("virtual_machine", defaults={"adopt_disks": True}, virtual_machines=[web()])
    wait_until(lambda: owners(disk_of(api, shop, CLAIM) or {"metadata": {}}) == [(DATA_VOLUME, "web-root")])
    wait_until(lambda: owners(disk_of(api, shop, DATA_VOLUME)) == [("VirtualMachine", "web")])
    assert disk_of(api, shop, kind)["metadata"]["uid"] == uid
    # Now it is the VM's own.
    assert not task("virtual_machine", **web())["changed"]
    gone = task("virtual_machine", name="web", state="absent", wait=True)
    assert "retained" not in gone["result"]
    wait_until(lambda: disk_of(api, shop, kind) == {})


def test_disk_of_another_vm_is_never_adopted(task: Task, shop: str, api: Any) -> None:
    task("virtual_machine", **web())
    wait_until(lambda: disk_of(api, shop, DATA_VOLUME) != {})
    other = {
        **web(),
        "name": "db",
        "adopt_disks": True,
        "volumes": [{"name": "x", "import": {**BLANK, "name": "web-root"}}],
    }
    assert "belongs to the VirtualMachine web" in task.refused("virtual_machine", **other)["msg"]
    # VMs that share a disk already can still be changed.
    task("virtual_machine", preflight="off", **other)
    (warning,) = warned(task("virtual_machine", virtual_machines=[web(), {**other, "labels": {"tier": "db"}}]))
    assert f"{shop}/web and {shop}/db make the same DataVolume web-root" in warning
    gone = task("virtual_machine", name="db", state="absent", wait=True)
    assert [item["name"] for item in gone["result"]["retained"]] == ["web-root"]
    # A VM that is created anew waits for the disk of the old one, which is no one else's.
    task("virtual_machine", name="web", state="absent", wait=True)
    task("virtual_machine", **web())


def test_two_entries_make_one_disk(task: Task, shop: str) -> None:
    both = [
        web(name="a-b", volumes=[{"name": "c", "import": BLANK}]),
        web(name="a", volumes=[{"name": "b-c", "import": BLANK}]),
    ]
    for check in (True, False):
        refused = task.refused("virtual_machine", check=check, virtual_machines=both)
        text = f"{shop}/a-b and {shop}/a make the same DataVolume a-b-c"
        assert all(text in result["msg"] for result in refused["results"])
    assert task.vms() == {}


def test_vms_that_share_a_claim_or_an_address(task: Task, shop: str, api: Any) -> None:
    claim_of(api, shop, "data")
    shared = {"volumes": [{"name": "root", "persistent_volume_claim": "data"}], "run_strategy": "Always"}
    networks = [{"mac_address": "02:00:00:aa:bb:cc"}]
    first, second = ({**vm(name, preference=None), **shared, "networks": networks} for name in ("one", "two"))
    assert warned(task("virtual_machine", virtual_machines=[first, {**vm("idle"), "run_strategy": "Halted"}])) == []
    # The VM of the cluster is in the list that the task reads for its own VMs.
    others = [second, {**vm("idle"), "run_strategy": "Halted"}]
    for check in (True, False):
        claim, address = warned(task("virtual_machine", check=check, virtual_machines=others))
        assert f"{shop}/one and {shop}/two use the disk data" in claim
        assert f"{shop}/one and {shop}/two have the MAC address 02:00:00:aa:bb:cc" in address
    assert warned(task("virtual_machine", virtual_machines=others)) == []
