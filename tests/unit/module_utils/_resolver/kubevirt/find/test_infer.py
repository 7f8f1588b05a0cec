"""Inference from volumes, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import (
    NEWEST,
    Release,
    parse_release,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.infer import (
    NotInferred,
    from_volume,
    infer,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    PANIC,
    Objects,
    Problem,
)

LABEL = "instancetype.kubevirt.io/default-"
LABELS = {f"{LABEL}instancetype": "u1.small", f"{LABEL}preference": "fedora"}
PVC_VOLUME = {"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}
DV_VOLUME = {"name": "root", "dataVolume": {"name": "disk"}}


def obj(kind: str, name: str, labels: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name, "namespace": "web", "labels": labels}, "spec": spec}


def vm(volume: dict[str, Any] | None = None, policy: str | None = None, **spec: Any) -> dict[str, Any]:
    matcher = {"inferFromVolume": "root", "inferFromVolumeFailurePolicy": policy}
    template_spec = {
        "domain": {"devices": {}, "memory": {"guest": "1Gi"}},
        "volumes": [volume or PVC_VOLUME],
        "nodeSelector": {},
    }
    manifest = {
        "metadata": {"name": "a", "namespace": "web"},
        "spec": {"instancetype": matcher, "preference": dict(matcher), "template": {"spec": template_spec}, **spec},
    }
    return copy.deepcopy(manifest)


class Forbidden(Objects):
    """A lookup that may not read one kind."""

    def __init__(self, kind: str, *objects: dict[str, Any]) -> None:
        super().__init__(objects)
        self.kind = kind

    def get(self, kind: str, namespace: str, name: str) -> Any:
        if kind == self.kind:
            return Problem(f"may not read {name}", "Forbidden", 403)
        return super().get(kind, namespace, name)


def inferred(manifest: dict[str, Any], objects: Objects, release: Release = NEWEST) -> dict[str, Any]:
    result = infer(manifest, objects, release)
    assert isinstance(result, dict)
    return result


def failure(manifest: dict[str, Any], objects: Objects, release: Release = NEWEST) -> NotInferred:
    result = infer(manifest, objects, release)
    assert isinstance(result, NotInferred)
    return result


def test_inputs_stay_unchanged_and_result_is_canonical() -> None:
    manifest, objects = vm(), [obj("PersistentVolumeClaim", "disk", LABELS)]
    before = copy.deepcopy((manifest, objects))
    result = inferred(manifest, Objects(objects))
    assert (manifest, objects) == before
    assert result["spec"]["preference"] == {"name": "fedora"}
    assert "nodeSelector" not in result["spec"]["template"]["spec"]


def test_memory_is_removed_only_with_policy_ignore() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", LABELS)])
    for policy, memory in ((None, {"guest": "1Gi"}), ("Reject", {"guest": "1Gi"}), ("Ignore", None)):
        result = inferred(vm(policy=policy), objects)
        assert result["spec"]["template"]["spec"]["domain"].get("memory") == memory


def test_ignored_failure_keeps_memory_and_other_matcher() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", {f"{LABEL}preference": "fedora"})])
    result = inferred(vm(policy="Ignore"), objects)
    assert "instancetype" not in result["spec"]
    assert result["spec"]["preference"] == {"name": "fedora"}
    assert result["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "1Gi"}


def test_empty_label_is_a_name() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", {**LABELS, f"{LABEL}instancetype": ""})])
    result = inferred(vm(), objects)
    assert result["spec"]["instancetype"] == {}


def test_vm_without_namespace_finds_no_namespaced_volumes() -> None:
    manifest = vm()
    del manifest["metadata"]["namespace"]
    failed = failure(manifest, Objects([obj("PersistentVolumeClaim", "disk", LABELS)]))
    assert failed.problem == Problem('persistentvolumeclaims "disk" not found', "NotFound", 404)
    here = obj("PersistentVolumeClaim", "disk", LABELS)
    del here["metadata"]["namespace"]
    assert inferred(manifest, Objects([here]))["spec"]["instancetype"] == {"name": "u1.small"}


def test_missing_object_is_named_with_namespace() -> None:
    canonical = schema.canonical("VirtualMachine", vm())
    assert from_volume(canonical, "root", INSTANCETYPE, Objects([])) == NotInferred(
        Problem('persistentvolumeclaims "disk" not found', "NotFound", 404),
        missing=("PersistentVolumeClaim", "web", "disk"),
    )
    del canonical["metadata"]["namespace"]
    result = from_volume(canonical, "root", INSTANCETYPE, Objects([]))
    assert isinstance(result, NotInferred)
    assert result.missing == ("PersistentVolumeClaim", "", "disk")
    assert from_volume(canonical, "nowhere", INSTANCETYPE, Objects([])) == NotInferred(
        Problem("unable to find volume nowhere to infer defaults")
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        # A source without a namespace is not looked for in that of the VM.
        ({"source": {"pvc": {"name": "x"}}}, 'persistentvolumeclaims "x" not found'),
        ({"source": {"pvc": {}}}, 'persistentvolumeclaims "" not found'),
        ({"source": {"snapshot": {}}}, 'volumesnapshots.snapshot.storage.k8s.io "" not found'),
        ({"sourceRef": {"kind": "DataSource"}}, 'datasources.cdi.kubevirt.io "" not found'),
    ],
)
def test_incomplete_source_is_not_found(spec: dict[str, Any], message: str) -> None:
    objects = [obj(kind, "x", LABELS) for kind in ("PersistentVolumeClaim", "VolumeSnapshot", "DataSource")]
    failed = failure(vm(DV_VOLUME, policy="Ignore"), Objects([*objects, obj("DataVolume", "disk", **spec)]))
    assert failed.problem == Problem(message, "NotFound", 404)
    assert not failed.ignorable


@pytest.mark.parametrize(
    ("volume", "objects", "message"),
    [
        (
            {"name": "root", "containerDisk": {"image": "x"}},
            [],
            "unable to infer defaults from volume root as type is not supported",
        ),
        (
            PVC_VOLUME,
            [obj("PersistentVolumeClaim", "disk")],
            f"unable to find required {LABEL}instancetype label on the volume",
        ),
        (
            DV_VOLUME,
            [obj("DataVolume", "disk")],
            "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported",
        ),
        (
            DV_VOLUME,
            [obj("DataVolume", "disk", sourceRef={"name": "x"})],
            "unable to infer defaults from DataVolumeSourceRef as Kind  is not supported",
        ),
        (
            DV_VOLUME,
            [obj("DataVolume", "disk", sourceRef={"kind": "DataSource", "name": "x"}), obj("DataSource", "x")],
            "unable to infer defaults from DataSource that doesn't provide DataVolumeSourcePVC or"
            " DataVolumeSourceSnapshot",
        ),
    ],
)
def test_policy_ignore_accepts_volume_without_labels(
    volume: dict[str, Any], objects: list[dict[str, Any]], message: str
) -> None:
    failed = failure(vm(volume), Objects(objects))
    assert (failed.problem, failed.ignorable) == (Problem(message), True)
    ignored = inferred(vm(volume, policy="Ignore"), Objects(objects))
    assert not {"instancetype", "preference"} & set(ignored["spec"])


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "VolumeSnapshot", "DataSource", "DataVolume"])
def test_lookup_error_is_never_ignored(kind: str) -> None:
    specs = {
        "PersistentVolumeClaim": {"source": {"pvc": {"namespace": "web", "name": "x"}}},
        "VolumeSnapshot": {"source": {"snapshot": {"namespace": "web", "name": "x"}}},
        "DataSource": {"sourceRef": {"kind": "DataSource", "name": "x"}},
        "DataVolume": {},
    }
    objects = Forbidden(kind, obj("DataVolume", "disk", **specs[kind]))
    failed = failure(vm(DV_VOLUME, policy="Ignore"), objects)
    assert failed.problem == Problem(f"may not read {'disk' if kind == 'DataVolume' else 'x'}", "Forbidden", 403)
    assert not failed.ignorable


def test_data_source_namespace_defaults_to_that_of_vm() -> None:
    own, golden = obj("DataSource", "os", LABELS), obj("DataSource", "os", {**LABELS, f"{LABEL}preference": "rhel"})
    golden["metadata"]["namespace"] = "golden"
    for namespace, name in ((None, "fedora"), ("golden", "rhel")):
        reference = {"kind": "DataSource", "name": "os", "namespace": namespace}
        result = inferred(vm(DV_VOLUME), Objects([own, golden, obj("DataVolume", "disk", sourceRef=reference)]))
        assert result["spec"]["preference"] == {"name": name}


def test_vm_without_template_crashes_only_for_inference() -> None:
    assert failure(vm(template=None), Objects([])).problem == Problem("the VirtualMachine has no template", PANIC)
    assert inferred(vm(template=None, instancetype=None, preference=None), Objects([]))


def test_value_of_wrong_type_is_bad_request() -> None:
    error = failure(vm(runStrategy=1), Objects([])).problem
    assert (error.reason, error.code) == ("BadRequest", 400)
    assert error.message == "spec.runStrategy: expected a string, found 1"


def test_snapshot_labels_count_since_1_9() -> None:
    snapshot = obj("VolumeSnapshot", "s", LABELS)
    source = {"source": {"snapshot": {"namespace": "web", "name": "s"}}}
    of_data_volume = Objects([snapshot, obj("DataVolume", "disk", **source)])
    reference = {"kind": "DataSource", "name": "os"}
    of_data_source = Objects(
        [snapshot, obj("DataVolume", "disk", sourceRef=reference), obj("DataSource", "os", **source)]
    )
    for objects, message in (
        (of_data_volume, "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported"),
        (of_data_source, "unable to infer defaults from DataSource that doesn't provide DataVolumeSourcePVC"),
    ):
        assert inferred(vm(DV_VOLUME), objects)
        failed = failure(vm(DV_VOLUME), objects, parse_release("1.8"))
        assert (failed.problem.message, failed.ignorable) == (message, True)
