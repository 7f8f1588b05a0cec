"""What a VM is elsewhere, and which copies of it lose its revisions."""

from __future__ import annotations

import base64
import json
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.revision.store import (
    Create,
    store,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.vmi import build
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh.controller_revisions import (
    copies_without_revisions,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh.export import (
    export_vm,
    manifests,
)

Manifest = dict[str, Any]

LABEL = "instancetype.kubevirt.io/object-"
SERVER = {
    "uid": "vm-uid",
    "resourceVersion": "7",
    "generation": 3,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "managedFields": [{}],
    "finalizers": ["kubevirt.io/virtualMachineControllerFinalize"],
}


def instancetype(guest: int, generation: int) -> Manifest:
    return {
        "kind": "VirtualMachineInstancetype",
        "metadata": {
            "name": "small",
            "namespace": "shop",
            "uid": "type-uid",
            "generation": generation,
            "resourceVersion": "5",
            "labels": {"a": "b"},
        },
        "spec": {"cpu": {"guest": guest}, "memory": {"guest": "1024Mi"}},
    }


def vm(**spec: Any) -> Manifest:
    return {
        "kind": "VirtualMachine",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"tier": "web"},
            "annotations": {"mine": "1", "kubevirt.io/latest-observed-api-version": "v1"},
            **SERVER,
        },
        "spec": {
            "running": True,
            "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype", "inferFromVolume": "root"},
            "template": {"metadata": {"creationTimestamp": None}, "spec": {"domain": {"devices": {}}}},
            **spec,
        },
    }


def captured(machine: Manifest, of: Manifest, known: release.Release = NEWEST) -> tuple[Manifest, Manifest]:
    """The VM as virt-controller leaves it, and the revision that it makes."""
    machine["spec"]["instancetype"].pop("inferFromVolume", None)
    done = store(machine, Objects([of]), known)
    kept = next(one.manifest for one in done.actions if isinstance(one, Create))
    spec = {**machine["spec"], "instancetype": done.instancetype}
    status = {"instancetypeRef": done.instancetype_ref} if done.instancetype_ref else {}
    return {**machine, "spec": spec, "status": status}, {**kept, "kind": "ControllerRevision"}


def test_the_guest_is_the_same_where_the_instancetype_is_another() -> None:
    for known in (NEWEST, release.of("1.4")):
        machine, kept = captured(vm(), instancetype(2, 1), known)
        here = Objects([kept, instancetype(4, 2)])
        made = manifests([export_vm(machine, here, known, "archive")])
        other = {**instancetype(8, 5), "metadata": {"name": "small", "namespace": "archive", "uid": "other"}}
        for there in (Objects([*made, other]), Objects(made)):
            for running in (NEWEST, release.of("1.4")):
                built = build(made[-1], there, None, running).spec
                assert built is not None
                assert built["domain"]["cpu"]["sockets"] == 2
        assert build(machine, here, None, known).spec == build(made[-1], Objects(made), None, known).spec


def test_nothing_is_left_of_the_cluster() -> None:
    machine, kept = captured(vm(), instancetype(2, 1))
    kept["metadata"] = {**kept["metadata"], **SERVER}
    kept_manifest, manifest = manifests([export_vm(machine, Objects([kept]), NEWEST, "archive", "Halted")])
    name = "web-small-v1beta1-type-uid-1"
    assert manifest["metadata"] == {
        "name": "web",
        "namespace": "archive",
        "labels": {"tier": "web"},
        "annotations": {"mine": "1"},
    }
    assert manifest["spec"]["instancetype"] == {
        "kind": "VirtualMachineInstancetype",
        "name": "small",
        "revisionName": name,
    }
    assert (manifest["spec"]["runStrategy"], "running" in manifest["spec"], "status" in manifest) == (
        "Halted",
        False,
        False,
    )
    assert manifest["spec"]["template"]["metadata"] == {}
    assert kept_manifest["metadata"] == {
        "name": name,
        "namespace": "archive",
        "labels": {
            f"{LABEL}generation": "1",
            f"{LABEL}kind": "VirtualMachineInstancetype",
            f"{LABEL}name": "small",
            f"{LABEL}uid": "type-uid",
            f"{LABEL}version": "v1beta1",
        },
    }
    assert kept_manifest["data"]["metadata"] == {
        "name": "small",
        "namespace": "archive",
        "uid": "type-uid",
        "generation": 1,
    }
    assert "running" in machine["spec"]


def test_a_vm_that_has_captured_nothing_yet_takes_what_it_is_about_to() -> None:
    machine = vm()
    del machine["spec"]["instancetype"]["inferFromVolume"]
    kept, manifest = manifests([export_vm(machine, Objects([instancetype(2, 1)]), NEWEST)])
    assert kept["metadata"]["name"] == manifest["spec"]["instancetype"]["revisionName"]
    assert kept["data"]["spec"] == {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}


def test_revisions_of_kubevirt_before_1_0_become_readable() -> None:
    spec = base64.b64encode(json.dumps({"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}).encode()).decode()
    old = {
        "kind": "ControllerRevision",
        "metadata": {"name": "old", "namespace": "shop"},
        "data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": spec},
    }
    pin = {"name": "small", "kind": "VirtualMachineInstancetype", "revisionName": "old"}
    found = export_vm(vm(instancetype=pin), Objects([old]), NEWEST)
    kept = found.revisions["instancetype"]
    assert (kept["data"]["apiVersion"], kept["data"]["kind"]) == (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachineInstancetype",
    )
    assert kept["metadata"]["labels"][f"{LABEL}name"] == "small"
    assert kept["metadata"]["labels"][f"{LABEL}version"] == "v1beta1"
    there = build(found.vm or {}, Objects([kept]), None, NEWEST)
    assert there.spec is not None and there.spec["domain"]["cpu"]["sockets"] == 2


def test_vms_that_share_a_revision_bring_it_once() -> None:
    machine, kept = captured(vm(), instancetype(2, 1))
    pin = {"name": "small", "kind": "VirtualMachineInstancetype", "revisionName": kept["metadata"]["name"]}
    second = vm(instancetype=pin)
    second["metadata"] = {"name": "next", "namespace": "shop"}
    objects = Objects([kept])
    made = manifests([export_vm(one, objects, NEWEST) for one in (machine, second)])
    assert [one["kind"] for one in made] == ["ControllerRevision", "VirtualMachine", "VirtualMachine"]


def test_a_vm_without_instancetype_travels_as_it_is() -> None:
    plain = vm()
    del plain["spec"]["instancetype"]
    (only,) = manifests([export_vm(plain, Objects([]), NEWEST)])
    assert only["spec"]["running"] is True
    assert copies_without_revisions(plain, NEWEST) == []


def test_what_is_lost_cannot_be_exported() -> None:
    machine, kept = captured(vm(), instancetype(2, 1))
    found = export_vm(machine, Objects([instancetype(2, 1)]), NEWEST)
    assert found.vm is None
    assert found.problem == f'instancetype: controllerrevisions.apps "{kept["metadata"]["name"]}" not found'
    broken = {**kept, "data": {"apiVersion": "v1", "kind": "Pod"}}
    assert export_vm(machine, Objects([broken]), NEWEST).problem.startswith("instancetype: failed to decode")
    unknown = export_vm(vm(instancetype={"name": "x", "kind": "Thing"}), Objects([]), NEWEST)
    assert unknown.problem == "instancetype: got unexpected kind in InstancetypeMatcher: Thing"


def test_which_copies_lose_the_revisions() -> None:
    machine, kept = captured(vm(), instancetype(2, 1))
    assert copies_without_revisions(machine, NEWEST) == ["backup", "snapshot"]
    assert copies_without_revisions({**machine, "status": {**machine["status"], "created": True}}, NEWEST) == ["backup"]
    pin = {"name": "small", "revisionName": kept["metadata"]["name"]}
    assert copies_without_revisions({**machine, "spec": {**machine["spec"], "instancetype": pin}}, NEWEST) == []
    old, _kept = captured(vm(), instancetype(2, 1), release.of("1.4"))
    assert copies_without_revisions(old, release.of("1.4")) == []
    # One of the two is enough.
    both = {"instancetype": pin, "preference": {"name": "linux"}}
    reference = {"preferenceRef": {"name": "linux", "controllerRevisionRef": {"name": "x"}}}
    assert copies_without_revisions({**machine, "spec": {**machine["spec"], **both}, "status": reference}, NEWEST) != []
