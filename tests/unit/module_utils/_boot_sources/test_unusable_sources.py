"""Sources of disks that exist and cannot give one."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources.source import CloneRight
from plugins.module_utils._boot_sources.unusable_sources import boot_source_findings, clone_rights
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

Manifest = dict[str, Any]

PATH = "spec.dataVolumeTemplates[0].spec.sourceRef.name"
CLAIM = "PersistentVolumeClaim"


def vm(spec: Manifest | None = None, **pod: Any) -> Manifest:
    templates = [] if spec is None else [{"metadata": {"name": "web-boot"}, "spec": spec}]
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"dataVolumeTemplates": templates, "template": {"spec": pod}},
    }


def by_reference(name: str, **more: str) -> Manifest:
    return {"sourceRef": {"kind": "DataSource", "name": name, **more}}


def there(kind: str, name: str, namespace: str = "shop", status: Manifest | None = None, **spec: Any) -> Manifest:
    return {
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
        "status": status or {},
    }


def ready(status: str, reason: str = "", message: str = "") -> Manifest:
    return {"conditions": [{"type": "Ready", "status": status, "reason": reason, "message": message}]}


def to_claim(name: str, namespace: str = "shop") -> Manifest:
    return {"pvc": {"name": name, "namespace": namespace}}


def lines(manifest: Manifest, *objects: Manifest, live: Manifest | None = None) -> list[tuple[str, bool]]:
    return [(found.line, found.missing) for found in boot_source_findings(manifest, live, Objects(objects))]


def sized(size: str, mode: str = "Block", **annotations: str) -> Manifest:
    claim = there(CLAIM, "os", "images", volumeMode=mode, resources={"requests": {"storage": size} if size else {}})
    claim["metadata"]["annotations"] = annotations
    return claim


SNAPSHOT = there("VolumeSnapshot", "os", "images", {"restoreSize": "5Gi"})
IMAGE = {"cdi.kubevirt.io/storage.contentType": "kubevirt"}
MEASURED = {**IMAGE, "cdi.Kubervirt.io/virtualSize": str(2 * 2**30)}


@pytest.mark.parametrize(
    ("declared", "content", "least"),
    [
        pytest.param({}, sized("5Gi"), "", id="without a size"),
        pytest.param({"size": "5Gi"}, sized("5Gi"), "", id="the same size"),
        pytest.param({"size": "4900Mi"}, sized(str(5 * 2**30)), "5Gi", id="smaller than a block device"),
        pytest.param({"size": "4900Mi", "field": "pvc"}, sized("5Gi", "Filesystem"), "5Gi", id="a declared claim"),
        pytest.param({"size": "4900Mi"}, SNAPSHOT, "5Gi", id="smaller than a snapshot"),
        pytest.param({"size": "4900Mi"}, sized("5Gi", "Filesystem"), "", id="the overhead of a file system"),
        pytest.param({"size": "4Gi"}, sized("5Gi", "Filesystem"), "5Gi", id="more than the overhead"),
        pytest.param({"size": "4900Mi", "mode": "Block"}, sized("5Gi", "Filesystem"), "5Gi", id="files to a device"),
        pytest.param({"size": "4900Mi", "mode": "Block"}, sized("5Gi", "Filesystem", **IMAGE), "", id="an image"),
        pytest.param({"size": "2Gi", "mode": "Block"}, sized("5Gi", "Filesystem", **MEASURED), "", id="a measured one"),
        pytest.param({"size": "1Gi"}, sized("5Gi", "Filesystem", **MEASURED), "5Gi", id="smaller than measured"),
        pytest.param(
            {"size": "2Gi", "mode": "Filesystem"}, sized("5Gi", "Filesystem", **MEASURED), "5Gi", id="to files"
        ),
        pytest.param({"size": "1Gi"}, sized(""), "", id="an unknown size"),
        pytest.param({"size": "1Gi"}, sized("much"), "", id="no size"),
    ],
)
def test_clones_that_are_too_small(declared: Manifest, content: Manifest, least: str) -> None:
    size, mode, field = (declared.get(name) for name in ("size", "mode", "field"))
    storage = {"resources": {"requests": {"storage": size}} if size else {}, **({"volumeMode": mode} if mode else {})}
    source = "snapshot" if content is SNAPSHOT else "pvc"
    target = {source: {"name": "os", "namespace": "images"}}
    manifest = vm({**by_reference("os"), field or "storage": storage})
    data_source = there("DataSource", "os", status=ready("True"), source=target)
    found = [line for line, _missing in lines(manifest, data_source, content)]
    remedy = "declare" if field else "leave out the size, or declare"
    kind = content["kind"]
    text = (
        f"spec.dataVolumeTemplates[0].spec.{field or 'storage'}.resources.requests.storage: {size} is smaller than the"
        f" source, the {kind} images/os with {least}, and CDI clones to no smaller disk; {remedy} {least} or more"
    )
    assert found == ([text] if least else [])


def test_a_data_source_without_an_image() -> None:
    empty = there("DataSource", "late", status=ready("False", "NoSource", "No source PVC set"), source={})
    text = f"{PATH}: the DataSource shop/late has no image yet (NoSource: No source PVC set)"
    assert lines(vm(by_reference("late")), empty) == [(text, False)]
    # Its disk has been created.
    assert lines(vm(by_reference("late")), empty, live=vm(by_reference("late"))) == []
    unseen = there("DataSource", "late", source={})
    assert lines(vm(by_reference("late")), unseen) == []


def test_a_data_source_whose_claim_is_gone() -> None:
    source = there("DataSource", "old", status=ready("False", "NotFound", "PVC not found"), source=to_claim("gone"))
    text = (
        f"{PATH}: the DataSource shop/old refers to the {CLAIM} shop/gone, which does not exist (NotFound: PVC not"
        " found)"
    )
    assert lines(vm(by_reference("old")), source) == [(text, True)]
    # CDI has not noticed.
    stale = there("DataSource", "old", status=ready("True"), source=to_claim("gone"))
    assert lines(vm(by_reference("old")), stale) == [(text.partition(" (")[0], True)]
    behind = there("DataSource", "alias", "images", source={"dataSource": {"name": "old", "namespace": "shop"}})
    assert lines(vm(by_reference("alias", namespace="images")), source, behind) == [(text, True)]


def test_a_data_source_that_is_not_ready() -> None:
    claim = there(CLAIM, "image")
    source = there("DataSource", "new", status=ready("False", "NotReady", "importing"), source=to_claim("image"))
    text = f"{PATH}: the DataSource shop/new is not ready (NotReady: importing)"
    assert lines(vm(by_reference("new")), source, claim) == [(text, False)]
    for status in (ready("True"), {}):
        usable = there("DataSource", "new", status=status, source=to_claim("image"))
        assert lines(vm(by_reference("new")), usable, claim) == []


def test_a_chain_of_data_sources_ends() -> None:
    loop = there("DataSource", "loop", source={"dataSource": {"name": "loop", "namespace": "shop"}})
    text = f"{PATH}: the DataSource shop/loop is one of a long chain; name its claim"
    assert lines(vm(by_reference("loop")), loop) == [(text, False)]


def test_an_unreadable_data_source_counts_as_usable() -> None:
    assert lines(vm(by_reference("unknown"))) == []
    behind = there("DataSource", "alias", source={"dataSource": {"name": "far", "namespace": "images"}})

    class Closed(Objects):
        def get(self, kind: str, namespace: str, name: str) -> Any:
            if namespace == "images":
                raise KubeVirtError("forbidden")
            return super().get(kind, namespace, name)

    assert list(boot_source_findings(vm(by_reference("alias")), None, Closed([behind]))) == []


LOST = {"phase": "Lost"}
BROKEN = {"readyToUse": False, "error": {"message": "no space"}}
STOPPED = {
    "conditions": [{"type": "Running", "status": "False", "reason": "ImagePullFailed", "message": "no such tag"}]
}


@pytest.mark.parametrize(
    ("field", "kind", "status", "problem"),
    [
        ("pvc", CLAIM, LOST, "has lost its volume"),
        ("pvc", CLAIM, {"phase": "Bound"}, ""),
        ("snapshot", "VolumeSnapshot", BROKEN, "is not ready: no space"),
        ("snapshot", "VolumeSnapshot", {"readyToUse": True, **BROKEN, "error": None}, ""),
    ],
)
def test_a_claim_or_snapshot_that_gives_no_disk(field: str, kind: str, status: Manifest, problem: str) -> None:
    manifest = vm({"source": {field: {"name": "x", "namespace": "shop"}}})
    path = f"spec.dataVolumeTemplates[0].spec.source.{field}.name"
    expected = [(f"{path}: the {kind} shop/x {problem}", False)] if problem else []
    assert lines(manifest, there(kind, "x", status=status)) == expected


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        (STOPPED, "cannot be filled: no such tag"),
        ({"phase": "Failed"}, "cannot be filled: Failed"),
        ({"phase": "Succeeded"}, ""),
    ],
)
def test_an_existing_volume_that_cannot_be_filled(status: Manifest, problem: str) -> None:
    manifest = vm(volumes=[{"name": "data", "dataVolume": {"name": "x"}}])
    path = "spec.template.spec.volumes[0].dataVolume.name"
    expected = [(f"{path}: the DataVolume x {problem}", False)] if problem else []
    assert lines(manifest, there("DataVolume", "x", status=status)) == expected


def test_a_volume_that_is_being_deleted() -> None:
    going = there(CLAIM, "x")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    ((text, missing),) = lines(vm(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "x"}}]), going)
    assert text.endswith("the PersistentVolumeClaim x is being deleted") and not missing
    assert lines(vm(volumes=[{"name": "c", "configMap": {"name": "x"}}]), there("ConfigMap", "x")) == []


@pytest.mark.parametrize(
    ("pod", "account"),
    [
        ({}, "default"),
        ({"volumes": [{"name": "a"}, {"name": "b", "serviceAccount": {"serviceAccountName": "robot"}}]}, "robot"),
        ({"serviceAccountName": "own"}, "own"),
    ],
)
def test_clones_from_other_namespaces(pod: Manifest, account: str) -> None:
    objects = Objects([there("DataSource", "fedora", "images", source=to_claim("image", "images")), IMAGE])
    manifest = vm(by_reference("fedora", namespace="images"), **pod)
    right = CloneRight(("shop", account), "images", "image", snapshot=False)
    assert list(clone_rights(manifest, None, objects)) == [(PATH, right)]
    assert list(clone_rights(manifest, manifest, objects)) == []
    near = vm({"source": {"pvc": {"name": "image", "namespace": "shop"}}})
    assert list(clone_rights(near, None, Objects([]))) == []
    assert list(clone_rights(vm(by_reference("none")), None, Objects([]))) == []
    far = vm({"source": {"snapshot": {"name": "image", "namespace": "images"}}})
    assert [right.snapshot for _path, right in clone_rights(far, None, Objects([]))] == [True]


IMAGE = there(CLAIM, "image", "images")
