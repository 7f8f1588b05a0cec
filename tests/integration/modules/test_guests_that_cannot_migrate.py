"""KubeVirt 1.8 with guests that cannot migrate: what it leaves to a restart, whether or not it asks for one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import wait_until

from chosen_releases import ALL
from modules_support import Run, Task, claim_of, network_of, objects, vm

pytestmark = [
    pytest.mark.own_cluster,
    pytest.mark.skipif(not ALL, reason="make test-releases builds KubeVirt 1.8.4"),
]

OTHER_FIELD = "a non-live-updatable field was changed in the template spec"


@pytest.fixture(scope="module")
def cluster(start_cluster: Callable[..., dict[str, Any]]) -> Path:
    return Path(start_cluster("--kubevirt-version", "1.8.4", "--no-migratable")["kubeconfig"])


@pytest.fixture
def declare(task: Task, shop: str) -> Run:
    """declare(entry, **options): the result of the VM."""

    def one(entry: dict[str, Any], **options: Any) -> dict[str, Any]:
        result: dict[str, Any] = task("virtual_machine", **entry, **options)["result"]
        return result

    return one


@pytest.fixture
def guest(api: Any, shop: str) -> Callable[[], Any]:
    """guest(): the VMI of the VM web."""
    instances = objects(api, "VirtualMachineInstance")
    return lambda: instances.get(name="web", namespace=shop).to_dict()


def with_devices(devices: dict[str, Any], **fields: Any) -> dict[str, Any]:
    instancetype = vm("web")["instancetype"]
    return {
        "name": "web",
        "instancetype": instancetype,
        "spec": {"template": {"spec": {"domain": {"devices": devices}, **fields}}},
    }


def on_network(name: str) -> dict[str, Any]:
    networks = [{"name": "lan", "multus": {"networkName": name}}]
    return with_devices({"interfaces": [{"name": "lan", "bridge": {}}]}, networks=networks)


def test_another_network_needs_restart_without_feature_gate(
    api: Any, shop: str, declare: Run, guest: Callable[[], Any]
) -> None:
    for name in ("lan", "wan"):
        network_of(api, shop, name)
    declare(on_network("lan"), wait=True)
    before = guest()
    for check in (True, False):
        result = declare(on_network("wan"), check=check, wait=True)
        assert (result["needs"], result["restart_reason"], result["restart_required"]) == ("restart", OTHER_FIELD, True)
    assert guest()["spec"]["networks"] == before["spec"]["networks"]
    assert declare(on_network("wan"), restart="if_required", wait=True)["restarted"]
    moved = guest()
    assert moved["spec"]["networks"][0]["multus"]["networkName"] == "wan"
    kubevirts = api.resources.get(api_version="kubevirt.io/v1", kind="KubeVirt")
    kubevirt = kubevirts.get().items[0].to_dict()
    developer = kubevirt["spec"]["configuration"].get("developerConfiguration") or {}
    gates = developer.get("featureGates") or []

    def open_gates(*names: str) -> None:
        body = {"spec": {"configuration": {"developerConfiguration": {"featureGates": [*gates, *names]}}}}
        place = {"name": kubevirt["metadata"]["name"], "namespace": kubevirt["metadata"]["namespace"]}
        kubevirts.patch(**place, body=body, content_type="application/merge-patch+json")

    open_gates("LiveUpdateNADRef")
    try:
        for check in (True, False):
            result = declare(on_network("lan"), check=check, wait=True, restart="if_required")
            assert (result["needs"], result["restarted"]) == ("live_update", False), result
        wait_until(lambda: guest()["spec"]["networks"] == before["spec"]["networks"])
        assert guest()["metadata"]["uid"] == moved["metadata"]["uid"]
    finally:
        open_gates()


ROOT = {"name": "root", "containerDisk": {"image": "registry.example.com/disk:1"}}


def loaded(claim: str) -> dict[str, Any]:
    """A VM with a CD-ROM, empty without a claim."""
    medium = {"name": "iso", "persistentVolumeClaim": {"claimName": claim, "hotpluggable": True}}
    disks = [{"name": "root", "disk": {}}, {"name": "iso", "cdrom": {"bus": "sata"}}]
    return with_devices({"disks": disks}, volumes=[ROOT, medium])


def with_data(*claims: str) -> dict[str, Any]:
    volumes = [{"name": item, "persistentVolumeClaim": {"claimName": item, "hotpluggable": True}} for item in claims]
    disks = [{"name": item, "disk": {"bus": "scsi"}} for item in claims]
    return with_devices({"disks": [{"name": "root", "disk": {}}, *disks]}, volumes=[ROOT, *volumes])


@pytest.mark.parametrize(("before", "after"), [(loaded("one"), loaded("two")), (with_data(), with_data("one"))])
def test_volume_that_is_not_hotplugged_needs_restart(
    api: Any,
    task: Task,
    shop: str,
    declare: Run,
    guest: Callable[[], Any],
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    for claim in ("one", "two"):
        claim_of(api, shop, claim)
    declare(before, wait=True)
    first = guest()
    for check in (True, False):
        result = declare(after, check=check, wait=True)
        assert "this KubeVirt plugs volumes into a running guest only on request" in str(result["warnings"])
        assert (result["needs"], result["restart_required"]) == ("restart", True)
        assert result["restart_reason"].startswith("KubeVirt does not ask for a restart, but the guest gets ")
    assert "RestartRequired" not in {item["type"] for item in _conditions(api, shop)}
    (seen,) = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
    assert (seen["restart_required"], seen["guest_current"]) == (True, False)
    assert seen["restart_reason"] == result["restart_reason"]
    assert guest()["spec"]["volumes"] == first["spec"]["volumes"]
    declare(before, wait=True)
    (seen,) = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
    assert (seen["restart_required"], seen["guest_current"]) == (False, True)
    result = declare(after, wait=True, restart="if_required")
    assert (result["restarted"], result["restart_required"]) == (True, False)
    assert guest()["metadata"]["uid"] != first["metadata"]["uid"]
    assert guest()["spec"]["volumes"] != first["spec"]["volumes"]
    (seen,) = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
    assert (seen["restart_required"], seen["guest_current"]) == (False, True)


SIZES = {"small": 1, "two": 2, "three": 3}


@pytest.fixture
def sizes(task: Task, shop: str) -> None:
    for name, cpu in SIZES.items():
        task("instancetype", name=name, cpu={"guest": cpu}, memory={"guest": "2Gi"})


def sockets(guest: dict[str, Any]) -> int:
    return int(guest["spec"]["domain"]["cpu"]["sockets"])


@pytest.mark.parametrize("size", ["small", "three"])
@pytest.mark.parametrize("later", [False, True], ids=["at once", "in a later run"])
def test_cpu_change_during_pending_hotplug_needs_restart(
    task: Task, sizes: None, api: Any, shop: str, declare: Run, guest: Callable[[], Any], size: str, later: bool
) -> None:
    declare(vm("web"), wait=True)
    assert declare(vm("web", "two"), wait=True)["needs"] == "live_update"
    before = guest()
    assert sockets(before) == 2
    if later:
        for check in (True, False):
            result = declare(vm("web", size), check=check)
            assert (result["needs"], result["restart_required"], result["restarted"]) == ("restart", True, False)
        wait_until(lambda: any(item.get("reason") == "HotPlugCPUError" for item in _conditions(api, shop)))
        (seen,) = task("virtual_machine_info", include=["refresh"])["virtual_machines"]
        assert (seen["restart_required"], seen["restart_reason"]) == (True, result["restart_reason"])
    for check in (True, False):
        result = declare(vm("web", size), check=check, restart="if_required", wait=True)
        assert (result["changed"], result["needs"], result["restarted"]) == (True, "restart", True), result
    assert (guest()["metadata"]["uid"] == before["metadata"]["uid"], sockets(guest())) == (False, SIZES[size])
    again = declare(vm("web", size), restart="if_required", wait=True)
    assert (again["changed"], again["restarted"], again["restart_required"]) == (False, False, False)


@pytest.mark.parametrize("cpu", [1, 3])
def test_another_revision_during_pending_hotplug(
    task: Task, sizes: None, shop: str, declare: Run, guest: Callable[[], Any], cpu: int
) -> None:
    def resized(number: int) -> None:
        task("instancetype", name="small", cpu={"guest": number}, memory={"guest": "2Gi"})

    def revised(check: bool = False, **options: Any) -> dict[str, Any]:
        done = task("controller_revision", check=check, names=["web"], restart="if_required", **options)
        result: dict[str, Any] = done["results"][0]
        return result

    resized(cpu)
    pinned = declare(vm("web"), wait=True)["instancetype_revision"]
    if cpu == 3:
        resized(1)
        assert revised()["restarted"]
    resized(2)
    assert revised()["needs"] == "live_update"
    before = guest()
    assert sockets(before) == 2
    said = []
    for check in (True, False):
        output = revised(check, state="pinned", revision=pinned)
        said.append([output[item] for item in ("changed", "needs", "restarted", "restart_required")])
        assert "warnings" not in output
    assert (guest()["metadata"]["uid"] == before["metadata"]["uid"], sockets(guest())) == (False, cpu)
    assert said[0][:3] == said[1][:3] == [True, "restart", True]


def _conditions(api: Any, namespace: str) -> list[dict[str, Any]]:
    vms = objects(api, "VirtualMachine")
    result: list[dict[str, Any]] = vms.get(name="web", namespace=namespace).to_dict()["status"].get("conditions") or []
    return result
