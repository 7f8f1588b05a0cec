"""Inference from volumes, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.find import CRASH, Objects, Problem
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.infer import infer
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.release import of

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


def test_inputs_stay_as_they_are_and_the_result_is_canonical() -> None:
    given, objects = vm(), [obj("PersistentVolumeClaim", "disk", LABELS)]
    before = copy.deepcopy((given, objects))
    inferred = infer(given, Objects(objects))
    assert (given, objects) == before
    assert inferred.vm is not None
    assert inferred.vm["spec"]["preference"] == {"name": "fedora"}
    assert "nodeSelector" not in inferred.vm["spec"]["template"]["spec"]


def test_memory_is_cleared_by_an_ignoring_instancetype_alone() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", LABELS)])
    for policy, memory in ((None, {"guest": "1Gi"}), ("Reject", {"guest": "1Gi"}), ("Ignore", None)):
        inferred = infer(vm(policy=policy), objects)
        assert inferred.vm is not None
        assert inferred.vm["spec"]["template"]["spec"]["domain"].get("memory") == memory


def test_an_ignored_failure_keeps_memory_and_the_other_matcher() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", {f"{LABEL}preference": "fedora"})])
    inferred = infer(vm(policy="Ignore"), objects)
    assert inferred.vm is not None
    assert "instancetype" not in inferred.vm["spec"]
    assert inferred.vm["spec"]["preference"] == {"name": "fedora"}
    assert inferred.vm["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "1Gi"}


def test_an_empty_label_counts_as_a_name() -> None:
    objects = Objects([obj("PersistentVolumeClaim", "disk", {**LABELS, f"{LABEL}instancetype": ""})])
    inferred = infer(vm(), objects)
    assert inferred.vm is not None
    assert inferred.vm["spec"]["instancetype"] == {}


def test_a_vm_without_namespace_does_not_find_namespaced_volumes() -> None:
    given = vm()
    del given["metadata"]["namespace"]
    inferred = infer(given, Objects([obj("PersistentVolumeClaim", "disk", LABELS)]))
    assert inferred.error == Problem('persistentvolumeclaims "disk" not found', "NotFound", 404)


@pytest.mark.parametrize("kind", ["PersistentVolumeClaim", "VolumeSnapshot", "DataSource", "DataVolume"])
def test_a_failing_lookup_is_told_and_never_ignored(kind: str) -> None:
    specs = {
        "PersistentVolumeClaim": {"source": {"pvc": {"namespace": "web", "name": "x"}}},
        "VolumeSnapshot": {"source": {"snapshot": {"namespace": "web", "name": "x"}}},
        "DataSource": {"sourceRef": {"kind": "DataSource", "name": "x"}},
        "DataVolume": {},
    }
    objects = Forbidden(kind, obj("DataVolume", "disk", **specs[kind]))
    inferred = infer(vm(DV_VOLUME, policy="Ignore"), objects)
    assert inferred.error == Problem(f"may not read {'disk' if kind == 'DataVolume' else 'x'}", "Forbidden", 403)
    assert not inferred.ignorable


def test_a_data_source_is_looked_up_in_the_namespace_of_the_vm_or_its_own() -> None:
    here, there = obj("DataSource", "os", LABELS), obj("DataSource", "os", {**LABELS, f"{LABEL}preference": "rhel"})
    there["metadata"]["namespace"] = "golden"
    for namespace, name in ((None, "fedora"), ("golden", "rhel")):
        reference = {"kind": "DataSource", "name": "os", "namespace": namespace}
        inferred = infer(vm(DV_VOLUME), Objects([here, there, obj("DataVolume", "disk", sourceRef=reference)]))
        assert inferred.vm is not None
        assert inferred.vm["spec"]["preference"] == {"name": name}


def test_a_vm_without_template_crashes_kubevirt_only_if_there_is_something_to_infer() -> None:
    inferred = infer(vm(template=None), Objects([]))
    assert inferred.error is not None
    assert inferred.error.reason == CRASH
    assert infer(vm(template=None, instancetype=None, preference=None), Objects([])).error is None


def test_a_value_of_a_wrong_type_is_an_error() -> None:
    error = infer(vm(runStrategy=1), Objects([])).error
    assert error is not None
    assert error.code == 400
    assert "spec.runStrategy" in error.message


def test_snapshots_tell_something_since_1_9() -> None:
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
        assert infer(vm(DV_VOLUME), objects).error is None
        failed = infer(vm(DV_VOLUME), objects, of("1.8"))
        assert failed.error is not None
        assert (failed.error.message, failed.ignorable) == (message, True)


def test_the_first_release_ignored_no_failure() -> None:
    nothing_said = Objects([obj("PersistentVolumeClaim", "disk")])
    assert infer(vm(policy="Ignore"), nothing_said, of("1.1")).error is None
    assert infer(vm(policy="Ignore"), nothing_said, of("1.0")).error is not None
