"""What has to be read to judge a VM, and what that leads to."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.lookups import (
    Need,
    needs,
    of_guest,
    referred,
    then,
)

CLUSTER = "VirtualMachineClusterInstancetype"


def asked(**spec: Any) -> list[tuple[str, str, str]]:
    vm = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    return [need[:3] for need in needs(vm, NEWEST)]


def inferred(volume: dict[str, Any], *templates: dict[str, Any]) -> list[tuple[str, str, str]]:
    volumes = [{"name": "root", **volume}]
    return asked(
        instancetype={"inferFromVolume": "root"},
        template={"spec": {"volumes": volumes}},
        dataVolumeTemplates=list(templates),
    )


def test_what_is_named() -> None:
    assert asked(instancetype={"name": "small"}) == [(CLUSTER, "", "small")]
    assert asked(instancetype={"name": "small", "revisionName": "kept"}) == [("ControllerRevision", "shop", "kept")]
    assert asked(instancetype={"name": "small", "kind": "nonsense"}) == []


def test_what_is_inferred_from() -> None:
    assert inferred({"persistentVolumeClaim": {"claimName": "disk"}}) == [("PersistentVolumeClaim", "shop", "disk")]
    assert inferred({"dataVolume": {"name": "disk"}}) == [("DataVolume", "shop", "disk")]
    assert inferred({"cloudInitNoCloud": {}}) == []


def test_what_a_template_is_copied_from() -> None:
    def copied(**spec: Any) -> list[tuple[str, str, str]]:
        other = {"metadata": {"name": "other"}, "spec": {}}
        return inferred({"dataVolume": {"name": "disk"}}, other, {"metadata": {"name": "disk"}, "spec": spec})

    source = {"pvc": {"name": "gold", "namespace": "images"}, "snapshot": {"name": "gold", "namespace": "images"}}
    assert copied(source=source) == [("PersistentVolumeClaim", "images", "gold"), ("VolumeSnapshot", "images", "gold")]
    reference = {"kind": "DataSource", "name": "os"}
    # Once for what is inferred, once for its architecture.
    assert copied(sourceRef=reference) == [("DataSource", "shop", "os")] * 2


def test_what_disks_are_copied_from_is_not_needed_to_expand_a_vm() -> None:
    template = {"spec": {"sourceRef": {"kind": "DataSource", "name": "os"}}}
    vm = {"metadata": {"namespace": "shop"}, "spec": {"dataVolumeTemplates": [template]}}
    assert [one.kind for one in needs(vm, NEWEST)] == ["DataSource"]
    assert referred(vm, NEWEST) == []


def test_a_vm_that_is_none_needs_nothing() -> None:
    assert needs({"spec": 5}, NEWEST) == referred({"spec": 5}, NEWEST) == []
    assert then(Need("DataSource", "shop", "os", "shop"), {"metadata": 5}) == []


def test_what_an_object_leads_to() -> None:
    source = Need("DataSource", "images", "os", "shop")
    labels = {"instancetype.kubevirt.io/default-instancetype": "small"}
    spec = {"source": {"pvc": {"name": "gold", "namespace": "images"}}}
    found = [need[:3] for need in then(source, {"metadata": {"labels": labels}, "spec": spec})]
    assert found == [(CLUSTER, "", "small"), ("PersistentVolumeClaim", "images", "gold")]
    volume = source._replace(kind="DataVolume")
    assert [need[:3] for need in then(volume, {"metadata": {}, "spec": {"sourceRef": {}}})] == []
    assert [need[:3] for need in then(volume, None)] == [("PersistentVolumeClaim", "images", "os")]
    assert then(source, None) == []
    assert then(source._replace(kind="PersistentVolumeClaim"), {"metadata": {}}) == []
    assert then(source._replace(kind=CLUSTER), None) == []


def test_a_revision_of_another_object_leads_to_the_one_that_is_named() -> None:
    revision = Need("ControllerRevision", "shop", "kept", "shop", instead=(CLUSTER, "", "small"))
    name = "instancetype.kubevirt.io/object-name"
    assert then(revision, {"metadata": {"labels": {name: "small"}}}) == []
    assert then(revision, {"metadata": {"labels": {name: "other"}}}) == [Need(CLUSTER, "", "small", "shop")]
    assert then(revision, None) == []


def test_what_a_guest_is_compared_by() -> None:
    vm = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"instancetype": {"name": "small"}}}
    start = "revision-start-vm-1234-1"
    assert [one[:3] for one in of_guest(vm, {"status": {"virtualMachineRevisionName": start}}, NEWEST)] == [
        (CLUSTER, "", "small"),
        ("ControllerRevision", "shop", start),
    ]
    assert [one[:3] for one in of_guest(vm, {}, NEWEST)] == [(CLUSTER, "", "small")]


def test_a_start_leads_to_the_revisions_of_that_time() -> None:
    need = Need("ControllerRevision", "shop", "revision-start-vm-1234-1", "shop")
    spec = {"instancetype": {"name": "small", "revisionName": "kept"}, "preference": {"name": "linux"}}
    assert [one[:3] for one in then(need, {"metadata": {}, "data": {"spec": spec}})] == [
        ("ControllerRevision", "shop", "kept"),
        ("VirtualMachineClusterPreference", "", "linux"),
    ]
    assert then(need, None) == then(need, {"metadata": {}, "data": None}) == []
