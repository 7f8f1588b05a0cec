"""A VM keeps its workload: with it, the same options give the same manifest as for the new VM."""

from typing import Any

import pytest

from plugins.module_utils._boot_sources.stored_choice import stored_choice
from plugins.module_utils._boot_sources.workload import apply_choice, request_of, size_option
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.keys import WORKLOAD_ANNOTATION
from plugins.module_utils._resolver.declare.vm.manifest import manifest

OPTIONS: dict[str, Any] = {
    "name": "web",
    "namespace": "shop",
    "workload": "fedora",
    "size": {"name": None, "cpu": 2, "memory": "6Gi", "performance": None},
    "annotations": {"team": "a"},
}
CHOICE = {
    "boot": {"data_source": "golden/fedora"},
    "preference": {"name": "fedora", "kind": "VirtualMachineClusterPreference"},
    "instancetype": {"name": "u1.large", "kind": "VirtualMachineClusterInstancetype"},
    "reasons": ["because"],
    "others": {"boot": [], "instancetype": [f"u1.{index}" for index in range(9)]},
}


def test_request_is_derived_from_the_options() -> None:
    assert request_of(OPTIONS) == ("fedora", None, 2, "6Gi", None)


def test_recorded_choice_gives_the_same_manifest() -> None:
    new = manifest(apply_choice(OPTIONS, CHOICE, size_option(OPTIONS)))
    assert new["metadata"]["annotations"].keys() == {"team", WORKLOAD_ANNOTATION}
    assert new["spec"]["instancetype"] == CHOICE["instancetype"]
    assert new["spec"]["dataVolumeTemplates"][0]["spec"]["sourceRef"]["name"] == "fedora"
    recorded = stored_choice(new)
    assert recorded == ("fedora", {"cpu": 2, "memory": "6Gi"}, CHOICE)
    assert recorded is not None
    assert manifest(apply_choice(OPTIONS, recorded.choice, recorded.size)) == new


def test_record_stays_small_in_a_large_catalog() -> None:
    many = {**CHOICE, "others": {"boot": [], "instancetype": [f"u1.{index}" for index in range(500)]}}
    recorded = stored_choice(manifest(apply_choice(OPTIONS, many, {})))
    assert recorded is not None and recorded.choice["others"]["instancetype"] == [f"u1.{index}" for index in range(10)]


def test_boot_of_the_task_overrides_the_choice() -> None:
    options = apply_choice({**OPTIONS, "boot": {"pvc": "disk"}}, CHOICE, {})
    assert options["boot"] == {"pvc": "disk"}


def test_vm_without_a_workload() -> None:
    assert stored_choice({"metadata": {"name": "web"}}) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"workload": "a", "size": 5}',
        '{"workload": "a", "size": {}, "preference": {}}',
        '{"workload": "a", "size": {}, "preference": {"name": 5}, "instancetype": {"name": "b"}}',
        '{"workload": "a", "size": {}, "reasons": [], "others": {}, "preference": {"name": 5}, '
        '"instancetype": {"name": "b"}}',
    ],
)
def test_foreign_annotation_is_refused(text: str) -> None:
    with pytest.raises(FieldError, match="is not what this collection wrote"):
        stored_choice({"metadata": {"annotations": {WORKLOAD_ANNOTATION: text}}})
