"""Manifests of instancetypes and preferences from the modules' options."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.declare import instancetypes as manifests

SIZE: dict[str, Any] = {"cpu": {"guest": 2}, "memory": {"guest": "1024Mi"}}


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (manifests.instancetype, "VirtualMachineClusterInstancetype"),
        (manifests.preference, "VirtualMachineClusterPreference"),
    ],
)
def test_a_cluster_wide_kind_has_no_namespace(make: Any, kind: str) -> None:
    with pytest.raises(FieldError) as error:
        make({"name": "a", "namespace": "shop", "kind": kind})
    namespaced = kind.replace("Cluster", "")
    assert str(error.value) == (f"namespace: {kind} is cluster-wide; remove namespace, or set kind to {namespaced}")


@pytest.mark.parametrize(("length", "drop"), [(64, "1 character"), (70, "7 characters")])
def test_name_must_fit_into_a_label(length: int, drop: str) -> None:
    name = "a" * length
    with pytest.raises(FieldError, match=rf"is longer than 63 characters, .*; drop {drop}$"):
        manifests.instancetype({"name": name, **SIZE})
    assert manifests.instancetype({"name": name[:63], **SIZE})["metadata"]["name"] == name[:63]
    assert manifests.preference({"name": name, "state": "absent"})["metadata"]["name"] == name


def test_spec_is_merged_and_annotations_are_the_objects() -> None:
    manifest = manifests.preference(
        {
            "name": "p",
            "labels": {"team": "a"},
            "annotations": {"note": "x"},
            "devices": {"preferredDiskBus": "virtio"},
            "spec": {"annotations": {"of": "vms"}},
        }
    )
    assert manifest["metadata"] == {"name": "p", "labels": {"team": "a"}, "annotations": {"note": "x"}}
    assert manifest["spec"]["annotations"] == {"of": "vms"}


def test_state_options_become_labels_and_annotations() -> None:
    options = {"name": "a", "labels": {"team": "a"}, **SIZE}
    state = {"deprecated": {"replacement": "b", "obsolete_from": None}, "obsolete": None}
    assert manifests.instancetype({**options, **state})["metadata"] == {
        "name": "a",
        "labels": {
            "team": "a",
            "instancetype.kubevirt.io/deprecated": "true",
            "instancetypes.virtshape.io/state": "deprecated",
        },
        "annotations": {"instancetypes.virtshape.io/replacement": "b"},
    }
    assert manifests.instancetype({**options, "deprecated": None, "obsolete": None})["metadata"] == {
        "name": "a",
        "labels": {"team": "a"},
    }
