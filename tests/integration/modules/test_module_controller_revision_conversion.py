"""Revisions of API versions that KubeVirt 1.9 does not read: converted under running guests."""

import base64
import json
from typing import Any

from waiting import wait_until

from modules_support import Task, objects, vm

GROUP = "instancetype.kubevirt.io"
MERGE = {"content_type": "application/merge-patch+json"}
SIZE = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}
# Revisions of KubeVirt 0.58 and 0.56, and the part of the VM that names them: up to 1.4, and since.
FORMS = {f"{form}-{place}": (form, place) for form in ("v1alpha2", "bare") for place in ("spec", "status")}


def old_data(form: str, spec: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    if form == "bare":
        text = base64.b64encode(json.dumps(spec).encode()).decode()
        return {"apiVersion": f"{GROUP}/v1alpha1", "spec": text}
    version = {"apiVersion": f"{GROUP}/{form}", "kind": "VirtualMachineInstancetype"}
    return {**version, "metadata": metadata, "spec": spec}


class Estate:
    """The VMs of a namespace, as the API server has them."""

    def __init__(self, api: Any, namespace: str) -> None:
        self.namespace = namespace
        self.machines = objects(api, "VirtualMachine")
        self.instances = objects(api, "VirtualMachineInstance")
        self.revisions = objects(api, "ControllerRevision")

    def vm(self, name: str) -> dict[str, Any]:
        result: dict[str, Any] = self.machines.get(name, self.namespace).to_dict()
        return result

    def guest(self, name: str) -> tuple[str, int, str]:
        instance = self.instances.get(name, self.namespace).to_dict()
        domain = instance["spec"]["domain"]
        return instance["metadata"]["uid"], domain["cpu"]["sockets"], domain["memory"]["guest"]

    def conditions(self, name: str) -> dict[str, str]:
        found = self.vm(name)["status"].get("conditions") or []
        return {item["type"]: item.get("reason", "") for item in found}

    def names(self) -> set[str]:
        return {item.metadata.name for item in self.revisions.get(namespace=self.namespace).items}

    def age(self, name: str, form: str, place: str) -> str:
        """Gives a VM the revision that an old KubeVirt would have left, everywhere where it is named."""
        machine, old = self.vm(name), f"{name}-old"
        captured = machine["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
        if place == "spec":
            patch = {"spec": {"instancetype": {"revisionName": old}}}
            self.machines.patch(name=name, namespace=self.namespace, body=patch, **MERGE)
        current = self.revisions.get(captured, self.namespace).to_dict()
        about = {key: current["data"]["metadata"][key] for key in ("name", "uid", "generation", "namespace")}
        metadata = {"name": old, "ownerReferences": current["metadata"]["ownerReferences"]}
        self.create(metadata, 0, old_data(form, SIZE, about))
        if place == "status":
            patch = {"status": {"instancetypeRef": {"controllerRevisionRef": {"name": old}}}}
            self.machines.status.patch(name=name, namespace=self.namespace, body=patch, **MERGE)
        (start,) = [item for item in self.names() if item.startswith(f"revision-start-vm-{machine['metadata']['uid']}")]
        started = self.revisions.get(start, self.namespace).to_dict()
        started["data"]["spec"]["instancetype"]["revisionName"] = old
        for item in (start, captured):
            self.revisions.delete(item, self.namespace)
        metadata = {"name": start, "ownerReferences": started["metadata"]["ownerReferences"]}
        self.create(metadata, started["revision"], started["data"])
        return old

    def create(self, metadata: dict[str, Any], number: int, data: dict[str, Any]) -> None:
        kind = {"apiVersion": "apps/v1", "kind": "ControllerRevision"}
        self.revisions.create({**kind, "metadata": metadata, "revision": number, "data": data}, self.namespace)


def test_kubevirt_rewrites_current_revisions_without_labels(task: Task, shop: str, api: Any) -> None:
    """KubeVirt rewrites these itself, and in one case leaves a VM a revision that it has deleted."""
    assert task("preference", name="plain", devices={"preferred_disk_bus": "virtio"})["changed"]
    plain = {"name": "plain", "kind": "VirtualMachinePreference"}
    entries = [vm(place, "medium", preference=plain) for place in ("spec", "status")]
    assert task("virtual_machine", virtual_machines=entries, wait=True)["changed"]
    estate = Estate(api, shop)
    for place in ("spec", "status"):
        old = estate.age(place, "v1beta1", place)
        wait_until(lambda old=old: old not in estate.names())
        captured = estate.vm(place)["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
        assert captured in estate.names()
    # It changes only the status, and the spec counts.
    wait_until(lambda: "Failure" in estate.conditions("spec"))
    # A Failure of the moment in which the old revision had gone and the status still named it.
    wait_until(lambda: "Failure" not in estate.conditions("status"))


def test_old_revisions_convert_under_running_guests(task: Task, shop: str, api: Any) -> None:
    # With a requirement, KubeVirt would refuse to store a VM whose instancetype it cannot find.
    assert task("preference", name="plain", devices={"preferred_disk_bus": "virtio"})["changed"]
    plain = {"name": "plain", "kind": "VirtualMachinePreference"}
    entries = [vm(name, "medium", preference=plain) for name in FORMS]
    assert task("virtual_machine", virtual_machines=entries, wait=True)["changed"]
    estate = Estate(api, shop)
    old = {name: estate.age(name, *form) for name, form in FORMS.items()}
    # KubeVirt would take this if it did not find the revision.
    grown = {"cpu": {"guest": 4}, "memory": {"guest": "8Gi", "max_guest": "8Gi"}}
    assert task("instancetype", name="medium", **grown)["changed"]
    before = {name: estate.guest(name) for name in FORMS}
    assert {guest[1:] for guest in before.values()} == {(2, "4Gi")}
    # KubeVirt alone does not get further.
    for name in FORMS:
        wait_until(lambda name=name: "Failure" in estate.conditions(name))

    options = {"state": "upgraded"}
    planned = task("controller_revision", **options, check=True)
    assert {item["name"]: item["changed"] for item in planned["results"]} == dict.fromkeys(FORMS, True), planned
    assert set(old.values()) <= estate.names()
    done = task("controller_revision", **options)
    assert {item["name"]: item["changed"] for item in done["results"]} == dict.fromkeys(FORMS, True), done
    assert not task("controller_revision", **options)["changed"]
    assert not set(old.values()) & estate.names()

    for name in FORMS:
        wait_until(lambda name=name: "Failure" not in estate.conditions(name))
        assert "RestartRequired" not in estate.conditions(name)
    assert {name: estate.guest(name) for name in FORMS} == before
    for name in FORMS:
        captured = estate.vm(name)["status"]["instancetypeRef"]["controllerRevisionRef"]["name"]
        assert captured in estate.names()
    assert task("virtual_machine_power", names=list(FORMS), state="restarted", wait=True)["changed"]
    after = {name: estate.guest(name) for name in FORMS}
    assert {guest[1:] for guest in after.values()} == {(2, "4Gi")}
    assert {name: after[name][0] != before[name][0] for name in FORMS} == dict.fromkeys(FORMS, True)
    assert not any("RestartRequired" in estate.conditions(name) for name in FORMS)
