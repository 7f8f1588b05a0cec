"""The matrix of a catalog as a table in Markdown, a picture and a page."""

import re
from xml.etree import ElementTree

from plugins.module_utils._matrix.matrix import LEGEND, as_data, compatibility_matrix
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.definitions import expand_catalog
from plugins.plugin_utils._catalog_files import builtin_objects
from plugins.plugin_utils._reports.catalog_matrix import html, markdown, svg

BUILTIN = compatibility_matrix(builtin_objects(NEWEST))


def test_wrong_labels_and_unsatisfied_preferences_are_shown() -> None:
    families = {"f": {"os": "linux", "preferences": {"large": {"requires": {"cpu": 2}}}}}
    objects = expand_catalog({"series": {"a": {"sizes": {"one": {"cpu": 1, "memory": "4Gi"}}}}, "families": families})
    labels = {"instancetype.kubevirt.io/cpu": "2", "instancetype.kubevirt.io/hugepages": "2Mi"}
    next(item for item in objects if item["metadata"]["name"] == "a.one")["metadata"]["labels"] = labels
    matrix = compatibility_matrix(objects)
    for page in (html(matrix, "Own"), markdown(matrix, "Own")):
        assert "No instancetype satisfies: large." in page
        assert "a.one: instancetype.kubevirt.io/cpu is 2, spec.cpu.guest is 1" in page
        assert "a.one: instancetype.kubevirt.io/hugepages is 2Mi, spec.memory.hugepages.pageSize is not set" in page


def test_well_formed_picture_titles_every_pair() -> None:
    actual = BUILTIN
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
    page = html(BUILTIN, "<Catalog>")
    assert "&lt;Catalog&gt;" in page and "<Catalog>" not in page
    for word in ("<script", "<link", "src=", "url(", "@import"):
        assert word not in page
    # Nothing is loaded by a link until somebody follows it.
    assert page.count("href=") == page.count('<a href="https://github.com/kubevirt/common-instancetypes')
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page


def test_every_picture_class_and_colour_is_defined() -> None:
    picture = svg(BUILTIN, "Catalog")
    rules = picture[: picture.index("</style>")]
    classes = {name for names in re.findall(r'class="([^"]*)"', picture) for name in names.split()}
    assert {"few", "few-ink", "little", "both", "f", "p", "l"} <= classes
    assert [name for name in sorted(classes) if f".{name}{{" not in rules and f".{name}," not in rules] in ([], ["o"])
    variables = set(re.findall(r"var\((--[a-z-]+)\)", picture))
    assert variables <= set(re.findall(r"(--[a-z-]+):", rules))


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
    assert "Deprecated and obsolete" not in html(BUILTIN, "Catalog")


def test_an_empty_catalog_has_a_picture_too() -> None:
    ElementTree.fromstring(svg(compatibility_matrix([]), "Nothing"))
