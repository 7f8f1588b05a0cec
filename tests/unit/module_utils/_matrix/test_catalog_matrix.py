"""The matrix of a catalog: what fits, why not, and how it looks as data."""

from typing import Any

from plugins.module_utils._matrix.matrix import as_data, compatibility_matrix, from_data, unsatisfied
from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.definitions import expand_catalog
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


def test_the_data_contains_the_complete_matrix() -> None:
    result = compatibility_matrix(BUILTIN)
    again = from_data(as_data(result))
    assert as_data(again) == as_data(result)


def test_other_objects_are_not_in_the_matrix() -> None:
    assert as_data(compatibility_matrix([{"kind": "ConfigMap"}, *BUILTIN])) == as_data(compatibility_matrix(BUILTIN))
