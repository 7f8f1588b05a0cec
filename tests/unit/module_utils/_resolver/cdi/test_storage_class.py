"""The default StorageClass."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.cdi.data_volume import default_class

VIRT, PLAIN = "storageclass.kubevirt.io/is-default-virt-class", "storageclass.kubernetes.io/is-default-class"


def storage_class(name: str, **annotations: str) -> dict[str, Any]:
    return {"metadata": {"name": name, **({"annotations": annotations} if annotations else {})}}


def test_default_for_vms_comes_first() -> None:
    classes = [
        storage_class("slow"),
        storage_class("plain", **{PLAIN: "true"}),
        *(storage_class(name, **{VIRT: "true"}) for name in "ab"),
    ]
    assert default_class(classes) == classes[2]
    assert default_class(classes[:2]) == classes[1]


def test_no_default_class() -> None:
    assert default_class([storage_class("slow"), storage_class("off", **{PLAIN: "false", VIRT: ""})]) is None
    assert default_class([]) is None
