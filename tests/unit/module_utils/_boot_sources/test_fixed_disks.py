"""Disks that are otherwise than declared, judged by their DataVolumes and claims."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources.fixed_disks import fixed_disks, keys_for_disks
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

Manifest = dict[str, Any]
NAME = {"name": "web-boot", "namespace": "shop"}
MADE = "2026-06-01T00:00:00Z"
OS: Manifest = {"pvc": {"name": "os", "namespace": "images"}}
URL = {"http": {"url": "https://me:secret@example.com/os.img?token=a", "secretRef": "key"}}


def template(**spec: Any) -> Manifest:
    labels = spec.pop("labels", {})
    return {"metadata": {"name": "web-boot", "labels": labels}, "spec": {"storage": {"resources": {}}, **spec}}


def vm(**spec: Any) -> Manifest:
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"dataVolumeTemplates": [template(**spec)]}}


def data_volume(**spec: Any) -> Manifest:
    labels = spec.pop("labels", {})
    metadata = {**NAME, "creationTimestamp": MADE, "labels": labels}
    return {"kind": "DataVolume", "metadata": metadata, "spec": {"storage": {"resources": {}}, **spec}}


def claim(**spec: Any) -> Manifest:
    metadata = {**NAME, "annotations": spec.pop("annotations", {}), "creationTimestamp": MADE}
    full = {"storageClassName": "fast", "volumeMode": "Block", "accessModes": ["ReadWriteMany", "ReadOnlyMany"], **spec}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata, "spec": full}


def image(name: str, line: str) -> Manifest:
    labels = {"cdi.kubevirt.io/dataImportCron": line} if line else {}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "images", "labels": labels}}


def data_source(target: Manifest, created: str = MADE, changed: str = MADE) -> Manifest:
    metadata = {"name": "os", "namespace": "shop", "creationTimestamp": created}
    metadata["managedFields"] = [{"manager": "me", "time": changed, "fieldsV1": {"f:spec": {}}}] if changed else []
    return {"kind": "DataSource", "metadata": metadata, "spec": {"source": target}}


def found(declared: Manifest, *objects: Manifest) -> list[tuple[str, Any, Any]]:
    """(field, what the disk has, what is declared)."""
    disks = fixed_disks(declared, Objects(objects))
    return [(change["field"], change["before"], change["after"]) for disk in disks for change in disk.changes]


def test_disk_that_is_not_there() -> None:
    assert found(vm(source=URL)) == []
    kinds = ("DataVolume", "PersistentVolumeClaim")
    assert [(item.key.kind, item.key.name) for item in keys_for_disks(vm())] == [(kind, "web-boot") for kind in kinds]


@pytest.mark.parametrize("field", ["storage", "pvc"])
def test_a_claim_decides_of_its_storage(field: str) -> None:
    storage = {"storageClassName": "fast", "volumeMode": "Block", "accessModes": ["ReadOnlyMany", "ReadWriteMany"]}
    made = data_volume(**{field: {"resources": {}}})
    assert found(vm(storage=storage), made, claim()) == []
    assert found(vm(), made, claim()) == []
    # Without a claim, CDI has not decided.
    assert found(vm(storage=storage), made) == []
    slow = {"storageClassName": "slow", "volumeMode": "Filesystem", "accessModes": ["ReadWriteOnce"]}
    expected = [
        ("accessModes", ["ReadWriteMany", "ReadOnlyMany"], ["ReadWriteOnce"]),
        ("storageClassName", "fast", "slow"),
        ("volumeMode", "Block", "Filesystem"),
    ]
    for objects in ([made, claim()], [claim()]):
        assert found(vm(**{"storage": {}, field: slow}), *objects) == expected


def test_other_fields_are_those_of_the_data_volume() -> None:
    declared = vm(
        source={"blank": {}},
        storage={"selector": {"matchLabels": {"a": "b"}}},
        preallocation=True,
        contentType="kubevirt",
        priorityClassName="high",
        labels={"team": "a"},
    )
    made = data_volume(source={"blank": {}}, priorityClassName="low", labels={"more": "b"})
    assert found(declared, made) == [
        ("labels.team", None, "a"),
        ("preallocation", False, True),
        ("priorityClassName", "low", "high"),
    ]
    # A claim alone does not say.
    assert found(declared, claim()) == []
    made = data_volume(source={"blank": {}}, storage={"selector": {"matchLabels": {"a": "c"}}})
    assert ("selector.matchLabels.a", "c", "b") in found(declared, made)


@pytest.mark.parametrize(
    ("has", "declared", "texts"),
    [
        ({"source": {"blank": {}}}, {"source": {"blank": {}}}, None),
        ({"source": {"blank": {}}}, {}, None),
        ({}, {"source": {"blank": {}}}, None),
        ({"source": URL}, {"source": {"blank": {}}}, ("http https://(hidden)@example.com/os.img?(hidden)", "blank")),
        (
            {"source": {"registry": {"url": "docker://a"}}},
            {"source": {"registry": {"url": "docker://b"}}},
            ("registry docker://a", "registry docker://b"),
        ),
        (
            {"source": {"registry": {"imageStream": "a"}}},
            {"source": OS},
            ("registry a", "PersistentVolumeClaim images/os"),
        ),
        ({"source": {"snapshot": {"name": "a", "namespace": "shop"}}}, {"source": {"snapshot": {"name": "a"}}}, None),
        (
            {"source": {"upload": {}}},
            {"sourceRef": {"kind": "DataSource", "name": "os"}},
            ("upload", "DataSource shop/os"),
        ),
        (
            {"sourceRef": {"kind": "DataSource", "name": "os", "namespace": "shop"}},
            {"sourceRef": {"kind": "DataSource", "name": "os"}},
            None,
        ),
    ],
)
def test_sources(has: Manifest, declared: Manifest, texts: Any) -> None:
    assert found(vm(**declared), data_volume(**has)) == ([("source", *texts)] if texts else [])


def test_size_of_a_disk_without_claim() -> None:
    def sized(size: str) -> Manifest:
        return {"resources": {"requests": {"storage": size}}}

    made = data_volume(storage=sized("1Gi"))
    (disk,) = fixed_disks(vm(storage=sized("4Gi")), Objects([made]))
    assert disk.line.startswith("spec.dataVolumeTemplates[0]: the disk web-boot has size 1Gi and not the declared 4Gi")
    assert disk.line.endswith(
        "; or delete the DataVolume web-boot, which is not filled, after this change, and KubeVirt makes it anew"
    )
    assert found(vm(storage=sized("1024Mi")), made) == []
    assert found(vm(), made) == []
    # The claim has the size, even if it cannot be read.
    assert found(vm(storage=sized("4Gi")), {**made, "status": {"claimName": "web-boot"}}) == []
    assert found(vm(storage=sized("4Gi")), made, claim(**sized("1Gi"))) == []
    unbound = {**claim(**sized("1.1Gi")), "status": {"phase": "Pending"}}
    assert found(vm(storage=sized("4Gi")), made, unbound) == [("size", "1Gi", "4Gi")]


def test_another_secret_of_the_same_image() -> None:
    other = {"http": {**URL["http"], "secretRef": "new"}}
    assert found(vm(source=other), data_volume(source=URL)) == [("source.secretRef", "key", "new")]


def test_secrets_of_a_source_are_hidden() -> None:
    sources = ({"http": {"url": f"https://e/a?token={key}", "extraHeaders": [f"Key: {key}"]}} for key in "xz")
    declared, has = (next(sources) for _ in range(2))
    disks = [*fixed_disks(vm(source=declared), Objects([data_volume(source=has)]))]
    assert "source.extraHeaders (hidden) and not the declared (hidden, another value)" in disks[0].line
    assert "source.url https://e/a?(hidden) and not the declared (hidden, another value)" in disks[0].line


NEW = {"pvc": {"name": "os-2", "namespace": "images"}}
LATER = "2026-07-01T00:00:00Z"


@pytest.mark.parametrize(
    ("objects", "same"),
    [
        pytest.param([], True, id="a DataSource that cannot be read"),
        pytest.param([data_source({})], True, id="one without a target"),
        pytest.param([data_source({"dataSource": {"name": "other"}})], True, id="one that refers to another"),
        pytest.param([data_source(OS)], True, id="the same image"),
        pytest.param([data_source(NEW), image("os", "cron"), image("os-2", "cron")], True, id="a newer image"),
        pytest.param([data_source(NEW), image("os-2", "cron")], True, id="a newer image, the old one is deleted"),
        pytest.param([data_source(NEW), image("os", "old"), image("os-2", "cron")], False, id="of another cron"),
        pytest.param([data_source(NEW)], False, id="a DataSource that had always another image"),
        pytest.param([data_source(NEW, changed=LATER), image("os-2", "")], True, id="one that changed since"),
        pytest.param([data_source(NEW, LATER, LATER)], False, id="one that is newer than the disk"),
        pytest.param([data_source(NEW, changed="")], True, id="one of an unknown time"),
    ],
)
def test_clones_of_a_data_source(objects: list[Manifest], same: bool) -> None:
    """KubeVirt replaces the DataSource by its target."""
    declared = vm(sourceRef={"kind": "DataSource", "name": "os"})
    changes = found(declared, data_volume(source=OS), *objects)
    assert changes == ([] if same else [("source", "PersistentVolumeClaim images/os", "DataSource shop/os")])


def test_a_claim_without_its_data_volume() -> None:
    imported = {"cdi.kubevirt.io/storage.import.source": "http", "cdi.kubevirt.io/storage.import.endpoint": "https://a"}
    same = {"http": {"url": "https://a", "secretRef": "key"}}
    assert found(vm(source=same), claim(annotations=imported)) == []
    assert found(vm(source={"blank": {}}), claim(annotations=imported)) == [("source", "http https://a", "blank")]
    cloned = {"k8s.io/CloneRequest": "images/os"}
    assert found(vm(source=OS), claim(annotations=cloned)) == []
    assert found(vm(source={"blank": {}}), claim(annotations=cloned))
    assert found(vm(source={"blank": {}}), claim()) == []


def test_a_line_says_what_to_do() -> None:
    declared = vm(source={"blank": {}}, storage={"storageClassName": "slow", "accessModes": ["ReadWriteOnce"]})
    (disk,) = fixed_disks(declared, Objects([data_volume(source={"blank": {}}), claim(storageClassName=None)]))
    assert disk.line == (
        "spec.dataVolumeTemplates[0]: the disk web-boot has accessModes [ReadWriteMany, ReadOnlyMany] and not the"
        " declared [ReadWriteOnce], storageClassName nothing and not the declared slow, because KubeVirt creates it"
        " only once; declare what it has, or a volume with another name, which is a new disk (KubeVirt copies the data"
        " to a blank one with spec.updateVolumesStrategy: Migration)"
    )
    (disk,) = fixed_disks(vm(source=URL), Objects([data_volume(source={"blank": {}}), claim()]))
    assert disk.line.endswith("which is a new disk")
