"""virtual_machine: KubeVirt's failures that heal by themselves, and those of yesterday."""

from typing import Any

import pytest
from waiting import wait_until

from modules_support import Task, by_name, claim_of, live, manifest, objects, vm, warned

CDI = "cdi.kubevirt.io/v1beta1"


def failure_of(api: Any, namespace: str) -> str:
    conditions = live(api, namespace).get("status", {}).get("conditions") or []
    return next((str(item["reason"]) for item in conditions if item["type"] == "Failure"), "")


@pytest.mark.parametrize("restart", ["never", "if_required"])
def test_volume_without_a_disk_is_not_plugged(task: Task, shop: str, api: Any, restart: str) -> None:
    """KubeVirt plugs a hotpluggable volume only with a disk of its name."""
    claim_of(api, shop, "late")
    late = {"name": "late", "persistentVolumeClaim": {"claimName": "late", "hotpluggable": True}}

    def declare(*volumes: dict[str, Any], **options: Any) -> dict[str, Any]:
        entry = vm("web", preference=None, template={"spec": {"volumes": list(volumes)}})
        return task("virtual_machine", **entry, wait=True, **options)

    assert not declare().get("failed")
    plugged = declare(late, restart=restart)
    assert not plugged.get("failed") and plugged["changed"], plugged
    assert plugged["result"]["restarted"] is (restart == "if_required")
    guest = [volume["name"] for volume in live(api, shop, kind="VirtualMachineInstance")["spec"]["volumes"]]
    if restart == "if_required":
        assert guest == ["root", "late"]
        return
    assert guest == ["root"]
    assert any("could not plug in a volume while the guest runs" in text for text in warned(plugged)), plugged
    assert any("give each hotpluggable volume an entry of its name in disks" in text for text in warned(plugged))
    # It is not because of the VM that the next run fails.
    again = declare(late, restart=restart)
    assert not again["changed"] and not again.get("failed"), again


def test_old_failure_does_not_fail_next_run(task: Task, shop: str, api: Any) -> None:
    """KubeVirt tries again after pauses of up to 16 minutes, and at once after a change."""
    sources = objects(api, "DataSource")
    body = manifest("DataSource", "late", {"source": {}})
    sources.create(namespace=shop, body=body)
    entry = {**vm("web"), "volumes": None, "boot": {"data_source": "late", "size": "1Gi"}}

    def declare() -> dict[str, Any]:
        return task.outcome("virtual_machine", **entry, wait=True, preflight="warn")

    first = declare()
    assert first["failed"] and "FailedCreate" in first["msg"], first
    again = declare()
    assert again["failed"] and not again["changed"] and "FailedCreate" in again["msg"], again
    claim_of(api, shop, "image")
    source = {"spec": {"source": {"pvc": {"name": "image", "namespace": shop}}}}
    sources.patch(name="late", namespace=shop, body=source, content_type="application/merge-patch+json")
    healed = declare()
    assert not healed.get("failed"), healed
    assert healed["result"]["status"] == "Running"
    assert not declare()["changed"]


def test_late_instancetype_starts_an_old_vm(task: Task, shop: str, api: Any) -> None:
    entry = vm("web", "late", preference=None)
    task("virtual_machine", **entry, preflight="off")
    wait_until(lambda: failure_of(api, shop) == "FailedFindInstancetype")
    task("instancetype", name="late", cpu={"guest": 1}, memory={"guest": "2Gi"})
    healed = task("virtual_machine", **entry, wait=True)
    assert healed["result"]["status"] == "Running", healed


def test_power_starts_what_could_not_start_before(task: Task, shop: str, api: Any) -> None:
    entry = vm("web", "late", preference=None)
    task("virtual_machine", **entry, preflight="off")
    wait_until(lambda: failure_of(api, shop) == "FailedFindInstancetype")
    task("instancetype", name="late", cpu={"guest": 1}, memory={"guest": "2Gi"})
    started = task("virtual_machine_power", name="web", state="started", wait=True)
    assert started["results"][0]["status"] == "Running", started


def needing(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "needed", **source}]}


LAN = {"domain": {"devices": {"interfaces": [{"name": "lan", "bridge": {}}]}}}
KEY = {"source": {"secret": {"secretName": "gone"}}, "propagationMethod": {"noCloud": {}}}
# The need of a VM, in the spec of its template, and the words of the failure.
ABSENT: dict[str, tuple[dict[str, Any], str]] = {
    "account": (needing(serviceAccount={"serviceAccountName": "gone"}), 'serviceaccount "gone" not found'),
    "config": (needing(configMap={"name": "gone"}), 'configmap "gone" not found; create it'),
    "secret": (needing(secret={"secretName": "gone"}), 'secret "gone" not found; create it'),
    "claim": (needing(persistentVolumeClaim={"claimName": "gone"}), "/gone does not exist"),
    "ephemeral": (needing(ephemeral={"persistentVolumeClaim": {"claimName": "gone"}}), "didn't find PVC gone"),
    "volume": (needing(dataVolume={"name": "gone"}), "/gone does not exist"),
    "answers": (needing(sysprep={"secret": {"name": "gone"}}), 'secret "gone" not found; create it'),
    "user-data": (needing(cloudInitNoCloud={"secretRef": {"name": "gone"}}), 'secret "gone" not found; create it'),
    "network-data": (
        needing(cloudInitConfigDrive={"userData": "#cloud-config", "networkDataSecretRef": {"name": "gone"}}),
        'secret "gone" not found; create it',
    ),
    "key": (
        {"accessCredentials": [{"sshPublicKey": KEY}], **needing(cloudInitNoCloud={"userData": "#cloud-config"})},
        'secret "gone" not found; create it',
    ),
    "priority": ({"priorityClassName": "gone"}, "no PriorityClass with name gone was found"),
    "network": (
        {**LAN, "networks": [{"name": "lan", "multus": {"networkName": "default/gone"}}]},
        "network-attachment-definition (gone) in namespace (default); create it",
    ),
}

# The same of disks that the VM creates: what they are declared with.
BLANK: dict[str, Any] = {"blank": True, "size": "1Gi", "storage_class": "gone"}
WITHOUT_CLASS: dict[str, tuple[dict[str, Any], str]] = {
    "class": (BLANK, "create the StorageClass gone, or delete the VM and name another one"),
    "class-and-modes": (
        {**BLANK, "access_modes": ["ReadWriteOnce"], "volume_mode": "Block"},
        'storageclass.storage.k8s.io "gone" not found; create the StorageClass gone',
    ),
}


def test_waits_end_for_absent_objects(task: Task, shop: str) -> None:
    """They do not appear by themselves, no more than a missing disk: the wait ends long before its timeout."""
    entries = [vm(name, preference=None, spec={"template": {"spec": spec}}) for name, (spec, _words) in ABSENT.items()]
    entries += [
        vm(name, preference=None, volumes=[{"name": "data", "import": disk}])
        for name, (disk, _words) in WITHOUT_CLASS.items()
    ]
    late = task.refused("virtual_machine", virtual_machines=entries, wait=True, wait_timeout=3600)
    result = by_name(late["results"])
    absent = ABSENT | WITHOUT_CLASS
    assert [name for name in absent if not result[name]["failed"]] == []
    messages = {name: result[name]["msg"] for name in absent}
    assert {name: messages[name] for name, (_spec, words) in absent.items() if words not in messages[name]} == {}
    warned = "spec.dataVolumeTemplates[0].spec.storage.storageClassName: no StorageClass gone"
    assert warned in str(late["warnings"])
