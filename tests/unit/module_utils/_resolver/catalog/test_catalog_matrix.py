"""The matrix of a catalog: what fits, why not, and how it looks as data, Markdown and picture."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from ansible_collections.virtshape.instancetypes.plugins.filter.catalog import catalog
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import Crash
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.facts import (
    INSTANCETYPE_FEATURES,
    PREFERENCE_FEATURES,
    Range,
    facts,
    select_facts,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.matrix import (
    LEGEND,
    as_data,
    compatibility_matrix,
    from_data,
    unsatisfied,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog.objects import expand_catalog
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.apply import (
    requirements,
    topology,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._catalog_views import html, markdown, svg

CATALOG = Path(__file__).resolve().parents[5] / "roles/common_instancetypes/files/catalog"

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


@cache
def builtin() -> list[dict[str, Any]]:
    documents = [one for path in sorted(CATALOG.glob("*.yml")) for one in yaml.safe_load_all(path.read_text())]
    return expand_catalog(*documents)


def test_what_fits_and_why_not() -> None:
    found = catalog([OWN])
    assert found["fits"] == {
        # KubeVirt refuses to spread a single vCPU.
        "a.one": ["any"],
        "a.three": ["any", "large"],
        "a.four": ["any", "large", "spread"],
    }
    misses = {(one["instancetype"], one["preference"]): one["reasons"] for one in found["misses"]}
    assert len(misses["a.one", "large"]) == 2
    assert "3" in misses["a.three", "spread"][0]


def test_the_builtin_catalog_agrees_with_requirements_and_topology() -> None:
    """The whole question asked at once, in place of part by part."""
    found = compatibility_matrix(builtin())
    assert (len(found.instancetypes), len(found.preferences)) == (65, 54)
    for one, cells in zip(found.instancetypes, found.cells):
        instancetype = schema.canonical("VirtualMachineInstancetypeSpec", one["spec"])
        for other, cell in zip(found.preferences, cells):
            preference = schema.canonical("VirtualMachinePreferenceSpec", other["spec"])
            needed = preference.get("requirements", {}).get("architecture", "")
            unmet = requirements.unmet(instancetype, preference, {"architecture": needed})
            try:
                uneven = topology.spread_indivisible(instancetype, preference) is not None
            except Crash:
                uneven = True
            assert bool(cell.sign) == (unmet is not None or uneven), (one["name"], other["name"])
            assert bool(cell.sign) == bool(cell.reasons)


def test_a_spread_that_crashes_kubevirt_fits_nothing() -> None:
    zero = {"spec": {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}}}
    families = {"f": {"os": "linux", "preferences": {"zero": zero}}}
    found = compatibility_matrix(expand_catalog({"series": OWN["series"], "families": families}))
    cells = {cell for row in found.cells for cell in row}
    assert cells == {("s", ("a spread ratio of 0 divides by zero",))}


@pytest.mark.parametrize(
    ("vcpus", "memory", "features", "names"),
    [
        (Range(), Range(), [], ["a.one", "a.three", "a.four"]),
        (Range(least=3), Range(), [], ["a.three", "a.four"]),
        (Range(most=3), Range(), [], ["a.one", "a.three"]),
        (Range(2, 3), Range(), [], ["a.three"]),
        (Range(), Range(least=2**30 + 1), [], ["a.three", "a.four"]),
        (Range(), Range(most=2**30), [], ["a.one"]),
        (Range(), Range(8 * 2**30, 8 * 2**30), ["hugepages"], ["a.four"]),
        (Range(), Range(), ["hugepages", "numa"], []),
    ],
)
def test_figures_within_a_range(vcpus: Range, memory: Range, features: list[str], names: list[str]) -> None:
    found = map(facts, expand_catalog({"series": OWN["series"]}))
    assert [one["name"] for one in select_facts(found, vcpus, memory, features)] == names


def test_preferences_that_nothing_satisfies() -> None:
    sizes, systems = OWN["series"], OWN["families"]
    small = {"a": {"sizes": {"one": sizes["a"]["sizes"]["one"]}}}
    assert unsatisfied(compatibility_matrix(expand_catalog({"series": small, "families": systems}))) == [
        "large",
        "spread",
    ]
    assert unsatisfied(compatibility_matrix(expand_catalog({"families": systems}))) == []
    assert unsatisfied(compatibility_matrix(builtin())) == []


def test_facts() -> None:
    by_name = {one["metadata"]["name"]: facts(one) for one in builtin()}
    cx1 = by_name["cx1.large1gi"]
    assert (cx1["vcpus"], cx1["memory_bytes"], cx1["series"], cx1["size"]) == (2, 4 * 2**30, "cx1", "large1gi")
    assert {"dedicated_cpu", "hugepages", "numa"} <= set(cx1["features"])
    windows = by_name["windows.11"]
    assert (windows["os"], windows["vcpus"], windows["memory"]) == ("windows", 2, "4Gi")
    assert {"efi", "secure_boot", "tpm", "hyperv"} <= set(windows["features"])


def test_all_facts_of_an_instancetype_and_of_a_preference() -> None:
    labels = {
        "instancetypes.virtshape.io/catalog": "own",
        "instancetypes.virtshape.io/catalog-version": "2",
        "app.kubernetes.io/managed-by": "virtshape",
        "instancetype.kubevirt.io/deprecated": "true",
        "instancetype.kubevirt.io/class": "general.purpose",
    }
    metadata = {"name": "a.b.c", "namespace": "shop", "labels": labels, "annotations": {"x": "y"}, "generation": 3}
    spec: dict[str, Any] = {"cpu": {"guest": 2, "model": "", "numa": {}}, "memory": {"guest": "1Gi"}, "gpus": []}
    about = {
        "namespace": "shop",
        "labels": labels,
        "annotations": {"x": "y"},
        "generation": 3,
        "catalog": "own",
        "catalog_version": "2",
        "managed_by": "virtshape",
        "deprecated": True,
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
        **dict.fromkeys(("namespace", "catalog", "catalog_version", "managed_by"), ""),
        "labels": {},
        "annotations": {},
        "generation": None,
        "deprecated": False,
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


def test_markdown_has_a_row_for_each_instancetype_and_a_column_for_each_preference() -> None:
    found = compatibility_matrix(expand_catalog(OWN))
    lines = [line for line in markdown(found, "Own").splitlines() if line.startswith("|")]
    assert lines[0] == "| instancetype | vCPUs | memory | any | large | spread |"
    assert lines[3] == "| a.one | 1 | 1Gi | ✓ | b | s |"
    assert lines[4] == "| a.three | 3 | 8Gi | ✓ | ✓ | s |"
    assert len(lines) == 6


def test_the_picture_is_well_formed_and_tells_every_pair() -> None:
    found = compatibility_matrix(builtin())
    root = ElementTree.fromstring(svg(found, 'A "title" & more'))
    assert root.get("aria-label") == 'A "title" & more'
    space = "{http://www.w3.org/2000/svg}"
    told = {title.text for title in root.iter(f"{space}title")}
    pairs = {text for text in told if text and " and " in text and "needs" not in text.split(":")[0]}
    misses = as_data(found)["misses"]
    for miss in misses:
        text = f"{miss['instancetype']} and {miss['preference']}: {'; '.join(miss['reasons'])}"
        assert text in pairs
    signs = [node.text for node in root.iter(f"{space}text") if node.text in LEGEND]
    assert len(signs) == len(misses)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for node in root.iter(f"{space}rect"):
        assert float(node.get("x", "0")) + float(node.get("width", "0")) <= width
        assert float(node.get("y", "0")) + float(node.get("height", "0")) <= height


def test_the_page_needs_nothing_else() -> None:
    page = html(compatibility_matrix(builtin()), "<Catalog>")
    assert "&lt;Catalog&gt;" in page and "<Catalog>" not in page
    for word in ("<script", "src=", "href=", "url(", "@import"):
        assert word not in page
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page


def test_every_colour_has_its_rule_also_in_the_dark() -> None:
    picture = svg(compatibility_matrix(builtin()), "Catalog")
    rules = picture[: picture.index("</style>")]
    classes = {name for names in re.findall(r'class="([^"]*)"', picture) for name in names.split()}
    assert {"few", "few-ink", "little", "both", "f", "p", "l"} <= classes
    assert [name for name in sorted(classes) if f".{name}{{" not in rules and f".{name}," not in rules] in ([], ["o"])
    variables = set(re.findall(r"var\((--[a-z-]+)\)", picture))
    assert variables <= set(re.findall(r"(--[a-z-]+):", rules))


def test_the_data_is_the_whole_matrix() -> None:
    found = compatibility_matrix(builtin())
    again = from_data(as_data(found))
    assert as_data(again) == as_data(found)
    assert svg(again, "Catalog") == svg(found, "Catalog")


def test_an_empty_catalog_has_a_picture_too() -> None:
    ElementTree.fromstring(svg(compatibility_matrix([]), "Nothing"))
