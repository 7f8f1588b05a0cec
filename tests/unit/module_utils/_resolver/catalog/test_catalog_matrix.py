"""The matrix of a catalog: what fits, why not, and how it looks as data, Markdown and picture."""

import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from plugins.module_utils._resolver.api import schema
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.catalog.matrix import (
    INSTANCETYPE_FEATURES,
    LEGEND,
    PREFERENCE_FEATURES,
    as_data,
    compatibility_matrix,
    facts,
    from_data,
    unsatisfied,
)
from plugins.module_utils._resolver.catalog.objects import expand_catalog
from plugins.module_utils._resolver.kubevirt.apply import requirements, topology
from plugins.plugin_utils._catalog_matrix import html, markdown, svg
from plugins.plugin_utils._filter_functions.catalog import catalog

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
    documents = [item for path in sorted(CATALOG.glob("*.yml")) for item in yaml.safe_load_all(path.read_text())]
    return expand_catalog(*documents)


def test_cells_have_signs_and_reasons() -> None:
    result = catalog([OWN])["matrix"]
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
    result = compatibility_matrix(builtin())
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
    assert unsatisfied(compatibility_matrix(builtin())) == []


def test_wrong_labels_are_found() -> None:
    assert compatibility_matrix(builtin()).wrong_labels == []
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
    for page in (html(from_data(data), "Own"), markdown(from_data(data), "Own")):
        assert "No instancetype satisfies: large, spread." in page
        assert "a.one: instancetype.kubevirt.io/cpu is 2, spec.cpu.guest is 1" in page
        assert "a.one: instancetype.kubevirt.io/hugepages is 2Mi, spec.memory.hugepages.pageSize is not set" in page


def test_facts_of_builtin_objects() -> None:
    by_name = {item["metadata"]["name"]: facts(item) for item in builtin()}
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


def test_markdown_has_instancetype_rows_and_preference_columns() -> None:
    result = compatibility_matrix(expand_catalog(OWN))
    lines = [line for line in markdown(result, "Own").splitlines() if line.startswith("|")]
    assert lines[0] == "| instancetype | vCPUs | memory | any | large | spread |"
    assert lines[3] == "| a.one | 1 | 1Gi | ✓ | b | s |"
    assert lines[4] == "| a.three | 3 | 8Gi | ✓ | ✓ | s |"
    assert len(lines) == 6


def test_well_formed_picture_titles_every_pair() -> None:
    actual = compatibility_matrix(builtin())
    root = ElementTree.fromstring(svg(actual, 'A "title" & more'))
    assert root.get("aria-label") == 'A "title" & more'
    space = "{http://www.w3.org/2000/svg}"
    result = {title.text for title in root.iter(f"{space}title")}
    pairs = {text for text in result if text and " and " in text and "needs" not in text.split(":")[0]}
    incompatible = as_data(actual)["matrix"]["incompatible"]
    for pair in incompatible:
        text = f"{pair['instancetype']} and {pair['preference']}: {'; '.join(pair['reasons'])}"
        assert text in pairs
    signs = [node.text for node in root.iter(f"{space}text") if node.text in LEGEND]
    assert len(signs) == len(incompatible)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    for node in root.iter(f"{space}rect"):
        assert float(node.get("x", "0")) + float(node.get("width", "0")) <= width
        assert float(node.get("y", "0")) + float(node.get("height", "0")) <= height


def test_page_is_self_contained() -> None:
    page = html(compatibility_matrix(builtin()), "<Catalog>")
    assert "&lt;Catalog&gt;" in page and "<Catalog>" not in page
    for word in ("<script", "<link", "src=", "url(", "@import"):
        assert word not in page
    # Nothing is loaded by a link until somebody follows it.
    assert page.count("href=") == page.count('<a href="https://github.com/kubevirt/common-instancetypes')
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page


def test_every_picture_class_and_colour_is_defined() -> None:
    picture = svg(compatibility_matrix(builtin()), "Catalog")
    rules = picture[: picture.index("</style>")]
    classes = {name for names in re.findall(r'class="([^"]*)"', picture) for name in names.split()}
    assert {"few", "few-ink", "little", "both", "f", "p", "l"} <= classes
    assert [name for name in sorted(classes) if f".{name}{{" not in rules and f".{name}," not in rules] in ([], ["o"])
    variables = set(re.findall(r"var\((--[a-z-]+)\)", picture))
    assert variables <= set(re.findall(r"(--[a-z-]+):", rules))


def test_the_data_contains_the_complete_matrix() -> None:
    result = compatibility_matrix(builtin())
    again = from_data(as_data(result))
    assert as_data(again) == as_data(result)
    assert svg(again, "Catalog") == svg(result, "Catalog")


def test_the_page_and_the_table_show_states() -> None:
    definition = {
        "series": {
            "m": {
                "sizes": {
                    "a": {"cpu": 1, "memory": "1Gi"},
                    "b": {
                        "cpu": 1,
                        "memory": "1Gi",
                        "deprecated": {"replacement": "m.a", "obsolete_from": "2027-03-31"},
                    },
                    "c": {"cpu": 2, "memory": "1Gi", "obsolete": {"replacement": "m.d"}},
                }
            }
        },
        "families": {"f": {"preferences": {"p": {"obsolete": {}}}}},
    }
    matrix = compatibility_matrix(expand_catalog(definition))
    picture = svg(matrix, "Catalog")
    assert re.findall(r'<text class="([a-z ]*)"[^>]*>(m\.[abc]|p)<', picture) == [
        ("obsolete", "p"),
        ("n", "m.a"),
        ("n deprecated", "m.b"),
        ("n obsolete", "m.c"),
    ]
    assert markdown(matrix, "Catalog").splitlines()[-5:] == [
        "| deprecated or obsolete | kind | state | replacement | obsolete from |",
        "| --- | --- | --- | --- | --- |",
        "| m.b | VirtualMachineClusterInstancetype | deprecated | m.a | 2027-03-31 |",
        "| m.c | VirtualMachineClusterInstancetype | obsolete | m.d |  |",
        "| p | VirtualMachineClusterPreference | obsolete |  |  |",
    ]
    page = html(matrix, "Catalog")
    assert "deprecated<br>obsolete from 2027-03-31" in page
    assert "the replacement m.d does not exist" in page
    assert "Deprecated and obsolete" not in html(compatibility_matrix(builtin()), "Catalog")


def test_an_empty_catalog_has_a_picture_too() -> None:
    ElementTree.fromstring(svg(compatibility_matrix([]), "Nothing"))
