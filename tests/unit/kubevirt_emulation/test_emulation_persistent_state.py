"""VMIs that wait for a StorageClass; that the real KubeVirt does so is recorded in 01-persistent-state."""

from __future__ import annotations

from typing import Any

import pytest

from kubevirt_emulation.controllers import persistent_state, prerequisites

EFI = {"bootloader": {"efi": {"persistent": True}}}


@pytest.mark.parametrize(
    ("domain", "needed"),
    [
        ({"devices": {}}, False),
        ({"devices": {"tpm": {}}}, False),
        ({"devices": {"tpm": {"persistent": True}}}, True),
        ({"devices": {"tpm": {"persistent": True, "enabled": False}}}, False),
        ({"devices": {}, "firmware": EFI}, True),
        ({"devices": {}, "firmware": {"bootloader": {"efi": {}}}}, False),
    ],
)
def test_what_is_kept_on_a_volume(domain: dict[str, Any], needed: bool) -> None:
    assert persistent_state.is_needed({"domain": domain}) == needed


def storage_class(annotation: str = "", value: str = "true") -> dict[str, Any]:
    return {"metadata": {"annotations": {annotation: value}} if annotation else {}}


@pytest.mark.parametrize(
    ("configuration", "classes", "found"),
    [
        ({}, [], False),
        ({}, [storage_class()], False),
        ({}, [storage_class("storageclass.kubernetes.io/is-default-class", "false")], False),
        ({}, [storage_class(), storage_class("storageclass.kubernetes.io/is-default-class")], True),
        ({}, [storage_class("storageclass.kubevirt.io/is-default-virt-class")], True),
        ({"vmStateStorageClass": "any"}, [], True),
    ],
)
def test_the_class_of_the_volume(configuration: dict[str, Any], classes: list[dict[str, Any]], found: bool) -> None:
    assert persistent_state.has_class(configuration, classes) == found


def test_a_vmi_that_waits_says_so_once() -> None:
    patch = prerequisites.waiting({"metadata": {}}, persistent_state.NO_CLASS)
    assert patch is not None
    assert patch["status"]["phase"] == "Pending"
    assert [(entry["type"], entry["reason"]) for entry in patch["status"]["conditions"]] == [
        ("Ready", "PodNotExists"),
        ("Synchronized", "FailedBackendStorageCreate"),
    ]
    assert prerequisites.waiting({"metadata": {}, **patch}, persistent_state.NO_CLASS) is None
