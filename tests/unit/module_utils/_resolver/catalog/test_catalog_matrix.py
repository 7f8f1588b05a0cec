"""The matrix of a catalog: what fits, why not, and how it looks as data."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.definitions import expand_catalog
from plugins.module_utils._resolver.catalog.matrix import (
    INSTANCETYPE_FEATURES,
    PREFERENCE_FEATURES,
    as_data,
    compatibility_matrix,
    facts,
    from_data,
    unsatisfied,
)
from plugins.module_utils._resolver.kubevirt.instancetype import requirements, topology
from plugins.plugin_utils._catalog_files import builtin_objects

OWN: dict[str, Any] = {
    "series": {
        "a": {
            "sizes": {
                "one": {"cpu": 1, "memory": "1Gi"},
                "three": {"cpu": 3, "memory": "8Gi"},
                "four": {"cpu": 4, "memory": "8Gi", "hugepages": "1Gi"},
            }
        }
    },
    "families": {
        "f": {
            "os": "linux",
            "preferences": {
                "any": {},
                "large": {"requires": {"cpu": 2, "memory": "4Gi"}},
                "spread": {"spec": {"cpu": {"preferredCPUTopology": "spread"}}},
            },
        }
    },
}


BUILTIN = builtin_objects(NEWEST)


def test_cells_have_signs_and_reasons() -> None:
    result = as_data(compatibility_matrix(expand_catalog(OWN)))["matrix"]
    assert result["fits"] == {
        # KubeVirt refuses to spread a single vCPU.
        "a.one": ["any"],
        "a.three": ["any", "large"],
        "a.four": ["any", "large", "spread"],
    }
    incompatible = {(item["instancetype"], item["preference"]): item["reasons"] for item in result["incompatible"]}
    assert len(incompatible["a.one", "large"]) == 2
    assert "3" in incompatible["a.three", "spread"][0]


def test_the_builtin_catalog_agrees_with_requirements_and_topology() -> None:
    """The whole question asked at once, in place of part by part."""
    result = compatibility_matrix(BUILTIN)
    assert (len(result.instancetypes), len(result.preferences)) == (65, 54)
    for item, cells in zip(result.instancetypes, result.cells):
        instancetype = schema.canonical("VirtualMachineInstancetypeSpec", item["spec"])
        for other, cell in zip(result.preferences, cells):
            preference = schema.canonical("VirtualMachinePreferenceSpec", other["spec"])
            needed = preference.get("requirements", {}).get("architecture", "")
            fits = True
            try:
                requirements.check(instancetype, preference, {"architecture": needed})
                topology.check_spread(instancetype, preference)
            except KubeVirtError:
                fits = False
            assert bool(cell.sign) != fits, (item["name"], other["name"])
            assert bool(cell.sign) == bool(cell.reasons)


def test_a_spread_that_crashes_kubevirt_fits_nothing() -> None:
    zero = {"spec": {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}}}
    families = {"f": {"os": "linux", "preferences": {"zero": zero}}}
    result = compatibility_matrix(expand_catalog({"series": OWN["series"], "families": families}))
    cells = {cell for row in result.cells for cell in row}
    assert cells == {("s", ("a spread ratio of 0 divides by zero",))}


def test_preferences_that_nothing_satisfies() -> None:
    sizes, systems = OWN["series"], OWN["families"]
    small = {"a": {"sizes": {"one": sizes["a"]["sizes"]["one"]}}}
    assert unsatisfied(compatibility_matrix(expand_catalog({"series": small, "families": systems}))) == [
        "large",
        "spread",
    ]
    assert unsatisfied(compatibility_matrix(expand_catalog({"families": systems}))) == []
    assert unsatisfied(compatibility_matrix(BUILTIN)) == []


def test_wrong_labels_are_found() -> None:
    assert compatibility_matrix(BUILTIN).wrong_labels == []
    sizes = {"one": {"cpu": 1, "memory": "4Gi"}}
    objects = expand_catalog({"series": {"a": {"sizes": sizes}}, "families": OWN["families"]})
    size = next(item for item in objects if item["metadata"]["name"] == "a.one")
    labels = {
        "cpu": "2",
        "memory": "4096Mi",
        "hugepages": "2Mi",
        "numa": "false",
        "dedicatedCPUPlacement": "true",
        "icon-pf": "x",
    }
    size["metadata"]["labels"] = {f"instancetype.kubevirt.io/{name}": value for name, value in labels.items()}
    large = next(item for item in objects if item["metadata"]["name"] == "large")
    large["metadata"]["labels"] = {"instancetype.kubevirt.io/required-memory": "much"}
    data = as_data(compatibility_matrix(objects))
    assert [
        (wrong["name"], wrong["label"].partition("/")[2], wrong["actual"]) for wrong in data["matrix"]["wrong_labels"]
    ] == [
        ("a.one", "cpu", "1"),
        ("a.one", "hugepages", ""),
        ("a.one", "dedicatedCPUPlacement", ""),
        ("large", "required-memory", "4Gi"),
    ]
    assert data["matrix"]["unsatisfied"] == ["large", "spread"]


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


def test_the_data_contains_the_complete_matrix() -> None:
    result = compatibility_matrix(BUILTIN)
    again = from_data(as_data(result))
    assert as_data(again) == as_data(result)
