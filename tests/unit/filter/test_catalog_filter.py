"""The filter catalog: one or many documents, each of its forms, and one line for what it cannot take."""

import re
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

DEFINITION = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}
catalog = FILTERS["catalog"]


def test_single_definition_gives_same_result_as_list() -> None:
    result = catalog(DEFINITION)
    assert [item["name"] for item in result["instancetypes"]] == ["web.small"]
    assert catalog([DEFINITION]) == result


@pytest.mark.parametrize(("form", "begins"), [("html", "<"), ("svg", "<svg"), ("markdown", "#")])
def test_a_picture_has_its_title(form: str, begins: str) -> None:
    drawn = catalog([DEFINITION], form, "Sizes of ours")
    assert drawn.lstrip().startswith(begins) and "Sizes of ours" in drawn and "web.small" in drawn


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (([DEFINITION], "pdf"), "catalog: form: 'pdf' is not a valid value; choose data or markdown or html or svg"),
        (([DEFINITION], "html", 3), "catalog: title: expected a string, found 3"),
        (("web",), "catalog: expected catalogs or manifests, found 'web'"),
        ((7,), "catalog: expected catalogs or manifests, found 7"),
        ((["web"],), "catalog: catalog 0: expected a definition or a manifest, found 'web'"),
        (
            ({"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2GB"}}}}},),
            "catalog: instancetype web.small: spec.memory.guest: '2GB' is not a quantity; write a quantity such"
            " as 512Mi",
        ),
    ],
)
def test_invalid_input_is_a_one_line_error(arguments: tuple[Any, ...], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        catalog(*arguments)
    assert str(error.value).startswith(result) and "\n" not in str(error.value)


def test_page_shows_instancetypes_that_fit_the_cluster() -> None:
    capacity = [{"name": "web.small", "fits": True, "node_count": 3, "cluster_node_count": 4, "additional_vms": 12}]
    assert "1 of 1 instancetypes fit the nodes" in catalog(DEFINITION, "html", capacity=capacity)
    assert "fit the nodes" not in catalog(DEFINITION, "html")
    for wrong, message in (
        ([{}], r"catalog: capacity\[0\]: name is missing"),
        ("a", "catalog: capacity: expected a list"),
    ):
        with pytest.raises(AnsibleFilterError, match=message):
            catalog(DEFINITION, "html", capacity=wrong)


SIZES = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}, "large": {"cpu": 8, "memory": "2Gi"}}}}}
LIMIT = {"name": "standard", "except_namespaces": ["lab"], "max_cpu": 4, "action": "warn", "require": ["instancetype"]}


def test_pictures_shrink_to_readable_sizes_only() -> None:
    for families, least in (({}, None), ({f"f{n}": {"preferences": {f"p{n}": {}}} for n in range(90)}, "960")):
        page = catalog({**SIZES, "families": families}, "html")
        ((width, smallest),) = re.findall(r'<svg [^>]*width="(\d+)"[^>]*--least:(\d+)px', page)
        assert smallest == (least or width)
