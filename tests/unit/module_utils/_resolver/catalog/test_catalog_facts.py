"""The facts about instancetypes and preferences by which users choose."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.facts import INSTANCETYPE_FEATURES, PREFERENCE_FEATURES, facts
from plugins.plugin_utils._catalog_files import builtin_objects

BUILTIN = builtin_objects(NEWEST)


def test_facts_of_builtin_objects() -> None:
    by_name = {item["metadata"]["name"]: facts(item) for item in BUILTIN}
    cx1 = by_name["cx1.large1gi"]
    assert (cx1["vcpus"], cx1["memory_bytes"], cx1["series"], cx1["size"]) == (2, 4 * 2**30, "cx1", "large1gi")
    assert {"dedicated_cpu", "hugepages", "numa"} <= set(cx1["features"])
    windows = by_name["windows.11"]
    assert (windows["os"], windows["vcpus"], windows["memory"]) == ("windows", 2, "4Gi")
    assert {"efi", "secure_boot", "tpm", "hyperv"} <= set(windows["features"])


def test_facts_of_instancetype_and_preference_are_complete() -> None:
    labels = {
        "instancetypes.virtshape.io/catalog": "own",
        "instancetypes.virtshape.io/catalog-version": "2",
        "app.kubernetes.io/managed-by": "virtshape",
        "instancetype.kubevirt.io/deprecated": "true",
        "instancetype.kubevirt.io/class": "general.purpose",
    }
    metadata: dict[str, Any] = {"name": "a.b.c", "namespace": "shop", "labels": labels, "generation": 3}
    spec: dict[str, Any] = {"cpu": {"guest": 2, "model": "", "numa": {}}, "memory": {"guest": "1Gi"}, "gpus": []}
    annotations = {
        "openshift.io/documentation-url": '"https://docs.example.com"\n',
        "openshift.io/support-url": "https://help.example.com",
        "tags": "kubevirt, web,",
    }
    metadata["annotations"] = annotations
    labels["instancetype.kubevirt.io/icon-pf"] = "pficon-server"
    about = {
        "namespace": "shop",
        "labels": labels,
        "annotations": annotations,
        "icon": "pficon-server",
        "docs_url": "https://docs.example.com",
        "support_url": "https://help.example.com",
        "tags": ["kubevirt", "web"],
        "generation": 3,
        "catalog": "own",
        "catalog_version": "2",
        "managed_by": "virtshape",
        "deprecated": True,
        "state": "deprecated",
        "replacement": "",
        "obsolete_from": "",
    }
    assert facts({"kind": "VirtualMachineInstancetype", "metadata": metadata, "spec": spec}) == {
        **about,
        "kind": "VirtualMachineInstancetype",
        "name": "a.b.c",
        "series": "a.b",
        "size": "c",
        "vcpus": 2,
        "memory": "1Gi",
        "memory_bytes": 2**30,
        "class": "general.purpose",
        "features": ["numa"],
        "spec": spec,
    }
    nothing = {
        **dict.fromkeys(("namespace", "catalog", "catalog_version", "managed_by", "replacement", "obsolete_from"), ""),
        **dict.fromkeys(("icon", "docs_url", "support_url"), ""),
        "tags": [],
        "labels": {},
        "annotations": {},
        "generation": None,
        "deprecated": False,
        "state": "active",
    }
    assert facts({"kind": "VirtualMachineClusterPreference", "metadata": {"name": "p"}}) == {
        **nothing,
        "kind": "VirtualMachineClusterPreference",
        "name": "p",
        "vcpus": 0,
        "memory": "0",
        "memory_bytes": 0,
        "features": [],
        "spec": {},
        "os": "",
        "architecture": "",
        "topology": "sockets",
    }


@pytest.mark.parametrize(
    ("type_name", "features"),
    [
        ("VirtualMachineInstancetypeSpec", INSTANCETYPE_FEATURES),
        ("VirtualMachinePreferenceSpec", PREFERENCE_FEATURES),
    ],
)
def test_every_feature_is_a_field_of_the_api(type_name: str, features: dict[str, str]) -> None:
    for path in features.values():
        current = type_name
        for key in path.split("."):
            assert key in schema.TYPES[current], path
            current = schema.field_type(schema.TYPES[current][key]).strip("*!")
