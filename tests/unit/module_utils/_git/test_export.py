"""The export of a VM for elsewhere, and the copies of it that lose its revisions."""

import base64
import json
from typing import Any

import pytest

from plugins.module_utils._git import export
from plugins.module_utils._git.export import export_vm, export_vms, manifests
from plugins.module_utils._resolver.api import behaviour, release
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.change.controller_revisions import copies_without_revisions
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.instancetype.revision_store import controller_revision
from plugins.module_utils._resolver.kubevirt.vm.vmi import build

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


def captured(machine: Manifest, of: Manifest, version: release.Release = NEWEST) -> tuple[Manifest, Manifest]:
    """The VM as virt-controller leaves it, and the revision that it makes."""
    machine["spec"]["instancetype"].pop("inferFromVolume", None)
    revision = controller_revision(machine, of, version)
    name = revision["metadata"]["name"]
    matcher = machine["spec"]["instancetype"]
    status = {}
    if version.has(behaviour.CAPTURES_IN_STATUS):
        status = {"instancetypeRef": {**matcher, "controllerRevisionRef": {"name": name}}}
    else:
        matcher = {**matcher, "revisionName": name}
    vm_after = {**machine, "spec": {**machine["spec"], "instancetype": matcher}, "status": status}
    return vm_after, {**revision, "kind": "ControllerRevision"}


def test_exported_guest_ignores_other_instancetypes() -> None:
    for version in (NEWEST, release.parse_release("1.4")):
        machine, revision = captured(vm(), instancetype(2, 1), version)
        here = Objects([revision, instancetype(4, 2)])
        exported = manifests([export_vm(machine, here, version, "archive")])
        other = {**instancetype(8, 5), "metadata": {"name": "small", "namespace": "archive", "uid": "other"}}
        for there in (Objects([*exported, other]), Objects(exported)):
            for running in (NEWEST, release.parse_release("1.4")):
                built = build(exported[-1], Cluster(there, KubeVirt(running))).spec
                assert built is not None
                assert built["domain"]["cpu"]["sockets"] == 2
        cluster = KubeVirt(version)
        before = build(machine, Cluster(here, cluster)).spec
        assert before == build(exported[-1], Cluster(Objects(exported), cluster)).spec


def test_export_has_no_fields_of_the_cluster() -> None:
    machine, revision = captured(vm(), instancetype(2, 1))
    revision["metadata"] = {**revision["metadata"], **SERVER}
    exported_revision, manifest = manifests([export_vm(machine, Objects([revision]), NEWEST, "archive", "Halted")])
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
    assert exported_revision["metadata"] == {
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
    assert exported_revision["data"]["metadata"] == {
        "name": "small",
        "namespace": "archive",
        "uid": "type-uid",
        "generation": 1,
    }
    assert "running" in machine["spec"]


def test_export_creates_revisions_that_are_not_captured_yet() -> None:
    machine = vm()
    del machine["spec"]["instancetype"]["inferFromVolume"]
    revision, manifest = manifests([export_vm(machine, Objects([instancetype(2, 1)]), NEWEST)])
    assert revision["metadata"]["name"] == manifest["spec"]["instancetype"]["revisionName"]
    assert revision["data"]["spec"] == {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}


def test_alpha_revisions_are_converted() -> None:
    spec = base64.b64encode(json.dumps({"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}).encode()).decode()
    old = {
        "kind": "ControllerRevision",
        "metadata": {"name": "old", "namespace": "shop"},
        "data": {"apiVersion": "instancetype.kubevirt.io/v1alpha1", "spec": spec},
    }
    pin = {"name": "small", "kind": "VirtualMachineInstancetype", "revisionName": "old"}
    export = export_vm(vm(instancetype=pin), Objects([old]), NEWEST)
    revision = export.revisions["instancetype"]
    assert (revision["data"]["apiVersion"], revision["data"]["kind"]) == (
        "instancetype.kubevirt.io/v1beta1",
        "VirtualMachineInstancetype",
    )
    assert revision["metadata"]["labels"][f"{LABEL}name"] == "small"
    assert revision["metadata"]["labels"][f"{LABEL}version"] == "v1beta1"
    there = build(export.vm or {}, Cluster(Objects([revision])))
    assert there.spec is not None and there.spec["domain"]["cpu"]["sockets"] == 2


def test_shared_revisions_are_exported_once() -> None:
    machine, revision = captured(vm(), instancetype(2, 1))
    pin = {"name": "small", "kind": "VirtualMachineInstancetype", "revisionName": revision["metadata"]["name"]}
    second = vm(instancetype=pin)
    second["metadata"] = {"name": "next", "namespace": "shop"}
    objects = Objects([revision])
    exported = manifests([export_vm(item, objects, NEWEST) for item in (machine, second)])
    assert [manifest["kind"] for manifest in exported] == ["ControllerRevision", "VirtualMachine", "VirtualMachine"]


def test_vm_without_instancetype_is_exported_unchanged() -> None:
    plain = vm()
    del plain["spec"]["instancetype"]
    (only,) = manifests([export_vm(plain, Objects([]), NEWEST)])
    assert only["spec"]["running"] is True
    assert copies_without_revisions(plain, NEWEST) == []


def test_equal_names_in_the_target_are_not_exported() -> None:
    plain, other, third = vm(), vm(), vm()
    for machine, (namespace, name) in ((plain, ("shop", "web")), (other, ("office", "web")), (third, ("lab", "db"))):
        machine["metadata"] = {"name": name, "namespace": namespace}
        del machine["spec"]["instancetype"]
    pairs = [(machine, Objects([])) for machine in (plain, other, third)]
    problem = "another selected VM would have the same name in archive; export them separately"
    assert [export.problem for export in export_vms(pairs, NEWEST, "archive")] == [problem, problem, ""]
    assert [export.problem for export in export_vms(pairs, NEWEST)] == ["", "", ""]


def test_lost_revisions_prevent_the_export() -> None:
    machine, revision = captured(vm(), instancetype(2, 1))
    export = export_vm(machine, Objects([instancetype(2, 1)]), NEWEST)
    assert export.vm is None
    assert export.problem == f'instancetype: controllerrevisions.apps "{revision["metadata"]["name"]}" not found'
    broken = {**revision, "data": {"apiVersion": "v1", "kind": "Pod"}}
    assert export_vm(machine, Objects([broken]), NEWEST).problem.startswith("instancetype: failed to decode")
    unknown = export_vm(vm(instancetype={"name": "x", "kind": "Thing"}), Objects([]), NEWEST)
    assert unknown.problem == "instancetype: got unexpected kind in InstancetypeMatcher: Thing"


def test_copies_without_revisions() -> None:
    machine, revision = captured(vm(), instancetype(2, 1))
    assert copies_without_revisions(machine, NEWEST) == ["backup", "snapshot"]
    assert copies_without_revisions({**machine, "status": {**machine["status"], "created": True}}, NEWEST) == ["backup"]
    pin = {"name": "small", "revisionName": revision["metadata"]["name"]}
    assert copies_without_revisions({**machine, "spec": {**machine["spec"], "instancetype": pin}}, NEWEST) == []
    old, _kept = captured(vm(), instancetype(2, 1), release.parse_release("1.4"))
    assert copies_without_revisions(old, release.parse_release("1.4")) == []
    # One of the two is enough.
    both = {"instancetype": pin, "preference": {"name": "linux"}}
    reference = {"preferenceRef": {"name": "linux", "controllerRevisionRef": {"name": "x"}}}
    assert copies_without_revisions({**machine, "spec": {**machine["spec"], **both}, "status": reference}, NEWEST) != []


def test_empty_revisions_cannot_be_exported() -> None:
    with pytest.raises(KubeVirtError, match="the revision small-1 is empty"):
        export._as_v1beta1({"metadata": {"name": "small-1"}, "data": None}, NEWEST)
