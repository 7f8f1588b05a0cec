"""The keys of the objects to read before a VM is judged, and the further keys of what was read."""

from typing import Any

from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.preflight.object_keys import (
    ObjectToRead,
    further_keys,
    keys_for_admission,
    keys_for_expansion,
    keys_for_guest,
)

CLUSTER = "VirtualMachineClusterInstancetype"


def keys_of(**spec: Any) -> list[tuple[str, str, str]]:
    vm = {"metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    return [needed.key for needed in keys_for_admission(vm, NEWEST)]


def inferred(volume: dict[str, Any], *templates: dict[str, Any]) -> list[tuple[str, str, str]]:
    volumes = [{"name": "root", **volume}]
    return keys_of(
        instancetype={"inferFromVolume": "root"},
        template={"spec": {"volumes": volumes}},
        dataVolumeTemplates=list(templates),
    )


def test_keys_of_named_objects() -> None:
    assert keys_of(instancetype={"name": "small"}) == [(CLUSTER, "", "small")]
    assert keys_of(instancetype={"name": "small", "revisionName": "pinned"}) == [
        ("ControllerRevision", "shop", "pinned")
    ]
    assert keys_of(instancetype={"name": "small", "kind": "nonsense"}) == []


def test_keys_of_inferred_volumes() -> None:
    assert inferred({"persistentVolumeClaim": {"claimName": "disk"}}) == [("PersistentVolumeClaim", "shop", "disk")]
    assert inferred({"dataVolume": {"name": "disk"}}) == [("DataVolume", "shop", "disk")]
    assert inferred({"cloudInitNoCloud": {}}) == []


def test_keys_of_a_templates_sources() -> None:
    def copied(**spec: Any) -> list[tuple[str, str, str]]:
        other = {"metadata": {"name": "other"}, "spec": {}}
        return inferred({"dataVolume": {"name": "disk"}}, other, {"metadata": {"name": "disk"}, "spec": spec})

    source = {"pvc": {"name": "gold", "namespace": "images"}, "snapshot": {"name": "gold", "namespace": "images"}}
    assert copied(source=source) == [("PersistentVolumeClaim", "images", "gold"), ("VolumeSnapshot", "images", "gold")]
    reference = {"kind": "DataSource", "name": "os"}
    # Once for what is inferred, once for its architecture.
    assert copied(sourceRef=reference) == [("DataSource", "shop", "os")] * 2


def test_expansion_needs_no_sources_of_disks() -> None:
    template = {"spec": {"sourceRef": {"kind": "DataSource", "name": "os"}}}
    vm = {"metadata": {"namespace": "shop"}, "spec": {"dataVolumeTemplates": [template]}}
    assert [needed.key.kind for needed in keys_for_admission(vm, NEWEST)] == ["DataSource"]
    assert keys_for_expansion(vm, NEWEST) == []


def test_invalid_vms_have_no_keys() -> None:
    assert keys_for_admission({"spec": 5}, NEWEST) == keys_for_expansion({"spec": 5}, NEWEST) == []
    assert further_keys(ObjectToRead(ObjectKey("DataSource", "shop", "os"), "shop"), {"metadata": 5}) == []


def test_further_keys_of_an_object() -> None:
    source = ObjectToRead(ObjectKey("DataSource", "images", "os"), "shop")
    labels = {"instancetype.kubevirt.io/default-instancetype": "small"}
    spec = {"source": {"pvc": {"name": "gold", "namespace": "images"}}}
    further = [needed.key for needed in further_keys(source, {"metadata": {"labels": labels}, "spec": spec})]
    assert further == [(CLUSTER, "", "small"), ("PersistentVolumeClaim", "images", "gold")]
    volume = source._replace(key=source.key._replace(kind="DataVolume"))
    assert [needed.key for needed in further_keys(volume, {"metadata": {}, "spec": {"sourceRef": {}}})] == []
    assert [needed.key for needed in further_keys(volume, None)] == [("PersistentVolumeClaim", "images", "os")]
    assert further_keys(source, None) == []
    assert further_keys(source._replace(key=source.key._replace(kind="PersistentVolumeClaim")), {"metadata": {}}) == []
    assert further_keys(source._replace(key=source.key._replace(kind=CLUSTER)), None) == []


def test_fallback_of_a_revision_of_another_object() -> None:
    revision = ObjectToRead(ObjectKey("ControllerRevision", "shop", "pinned"), "shop", ObjectKey(CLUSTER, "", "small"))
    name = "instancetype.kubevirt.io/object-name"
    assert further_keys(revision, {"metadata": {"labels": {name: "small"}}}) == []
    assert further_keys(revision, {"metadata": {"labels": {name: "other"}}}) == [
        ObjectToRead(ObjectKey(CLUSTER, "", "small"), "shop")
    ]
    assert further_keys(revision, None) == []


def test_keys_for_guest() -> None:
    vm = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"instancetype": {"name": "small"}}}
    start = "revision-start-vm-1234-1"
    assert [needed.key for needed in keys_for_guest(vm, {"status": {"virtualMachineRevisionName": start}}, NEWEST)] == [
        (CLUSTER, "", "small"),
        ("ControllerRevision", "shop", start),
    ]
    assert [needed.key for needed in keys_for_guest(vm, {}, NEWEST)] == [(CLUSTER, "", "small")]


def test_further_keys_of_a_start_revision() -> None:
    key = ObjectToRead(ObjectKey("ControllerRevision", "shop", "revision-start-vm-1234-1"), "shop")
    spec = {"instancetype": {"name": "small", "revisionName": "pinned"}, "preference": {"name": "linux"}}
    assert [needed.key for needed in further_keys(key, {"metadata": {}, "data": {"spec": spec}})] == [
        ("ControllerRevision", "shop", "pinned"),
        ("VirtualMachineClusterPreference", "", "linux"),
    ]
    assert further_keys(key, None) == further_keys(key, {"metadata": {}, "data": None}) == []
