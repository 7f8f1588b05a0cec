"""Inference from volumes, beyond what the vectors show."""

import copy
from typing import Any

from kubevirt_failures import failure

from plugins.module_utils._resolver.api.errors import Panic
from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.instancetype.infer import MissingLabels, infer
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

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


def test_vm_without_template_crashes_only_for_inference() -> None:
    assert isinstance(failure(infer, vm(template=None), Objects([])), Panic)
    assert infer(vm(template=None, instancetype=None, preference=None), Objects([]))


def test_value_of_wrong_type_is_bad_request() -> None:
    error = failure(infer, vm(runStrategy=1), Objects([]))
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
        assert infer(vm(DV_VOLUME), objects)
        failed = failure(infer, vm(DV_VOLUME), objects, parse_release("1.8"))
        assert isinstance(failed, MissingLabels) and failed.message == message
