"""The objects to deploy of a bundle: older versions, lists, other kinds, labels, selection."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.label_selector import selector
from plugins.module_utils._resolver.catalog.bundle import bundle, version_of, with_catalog_labels
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.module_utils._resolver.catalog.selection import CatalogSelection

PREFERENCE = "VirtualMachineClusterPreference"
API = "instancetype.kubevirt.io/v1beta1"


def manifest(name: str, kind: str = "VirtualMachineClusterInstancetype", **more: Any) -> dict[str, Any]:
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}} if "Instancetype" in kind else {}
    metadata = {"name": name, "labels": more.pop("labels", {})}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec, **more}


def names(objects: list[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in objects]


def test_definitions_manifests_and_lists_together() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [manifest("b"), None]}
    definition = {"series": {"c": {"sizes": {"small": {"cpu": 1, "memory": "1Gi"}}}}}
    assert names(bundle([manifest("a"), None, listed, definition]).objects) == ["a", "b", "c.small"]


@pytest.mark.parametrize(
    ("document", "result"),
    [
        (
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}},
            "document 1: kind: 'Namespace' is neither an instancetype nor a preference; remove the document, or"
            " set other_kinds to"
            " skip",
        ),
        ({**manifest("x"), "spec": None}, "document 1: VirtualMachineClusterInstancetype x: spec: missing"),
        (manifest("x", apiVersion="instancetype.kubevirt.io/v9"), "v9"),
        (
            manifest("x", apiVersion="example.org/v1"),
            "document 1: VirtualMachineClusterInstancetype x: apiVersion: 'example.org/v1' is not supported;"
            f" use {API}",
        ),
    ],
)
def test_an_unreadable_document_is_named(document: dict[str, Any], result: str) -> None:
    with pytest.raises(CatalogError) as raised:
        bundle([manifest("a"), document])
    assert result in str(raised.value)
    assert "\n" not in str(raised.value)


def test_problems_name_the_place_of_their_document() -> None:
    places = ["a.yml, line 1", "a.yml, line 5", "b.yml, line 2"]
    for wrong in (
        {"kind": "Namespace"},
        {**manifest("x"), "spec": None},
        {**manifest("x"), "spec": {"cpu": {"guests": 1}}},
        {"series": {"c": {"colour": 1}}},
        "text",
        manifest("x", apiVersion="example.org/v1"),
    ):
        with pytest.raises(CatalogError) as raised:
            bundle([manifest("a"), None, wrong], places=places)
        assert (raised.value.place, str(raised.value)) == (places[2], f"{places[2]}: {raised.value.reason}")
    with pytest.raises(CatalogError, match=r"^a\.yml: the bundle contains no instancetype"):
        bundle([{"labels": {}}, None], places=places[:2])
    listed = {"kind": "List", "items": [None, {"kind": "Namespace"}]}
    with pytest.raises(CatalogError, match=r"^a\.yml, line 5, items\[1\]: kind: 'Namespace'"):
        bundle([manifest("a"), listed], places=places)


def test_equal_names_name_both_places() -> None:
    twins = [manifest("a"), manifest("a", labels={"b": "c"})]
    with pytest.raises(CatalogError, match=r"a: name: a\.yml, line 1.* and a\.yml, line 5.* have the same name"):
        bundle(twins, places=["a.yml, line 1", "a.yml, line 5"])


def test_rejected_objects_name_their_place() -> None:
    wrong = manifest("x")
    wrong["spec"]["cpu"] = {"guest": 1, "maxSockets": 1}
    wrong["spec"]["memory"] = {"guest": "4Gi", "overcommitPercent": 50, "hugepages": {"pageSize": "2Mi"}}
    found = bundle([None, manifest("a"), wrong], places=["b.yml, line 1", "b.yml, line 2", "b.yml, line 9"])
    assert [found.place_of(item) for item in found.objects] == ["b.yml, line 2", "b.yml, line 9"]
    with pytest.raises(CatalogError, match=r"^b\.yml, line 9: instancetype x: KubeVirt would reject"):
        with_catalog_labels(found.objects, catalog="acme", version="1", places=found.places)


def test_skipped_kinds_are_noted() -> None:
    result = bundle([{"kind": "Namespace", "metadata": {"name": "x"}}, manifest("a")], other_kinds="skip")
    assert names(result.objects) == ["a"]
    assert result.notes == ["skipped Namespace x, which is neither an instancetype nor a preference"]


def test_nothing_at_all_is_an_error() -> None:
    with pytest.raises(CatalogError) as raised:
        bundle([None])
    assert str(raised.value) == (
        "the bundle contains no instancetype and no preference; check that the file is correct and complete"
    )


def test_the_labels_of_the_catalog() -> None:
    [item] = with_catalog_labels(
        [manifest("a", labels={"x": "1"})], catalog="acme", version="2", namespace="shop", name_prefix="p."
    )
    assert item["kind"] == "VirtualMachineInstancetype"
    assert (item["metadata"]["name"], item["metadata"]["namespace"]) == ("p.a", "shop")
    assert item["metadata"]["labels"] == {
        "x": "1",
        "app.kubernetes.io/managed-by": "virtshape",
        "instancetypes.virtshape.io/catalog": "acme",
        "instancetypes.virtshape.io/catalog-version": "2",
    }


@pytest.mark.parametrize(
    ("options", "result"),
    [
        ({"catalog": "", "version": ""}, "catalog: '' is empty; the value becomes a label of the objects"),
        (
            {"catalog": "a b", "version": ""},
            "catalog: 'a b' must consist of letters, digits, '-', '_' and '.', with a letter or digit at both ends; "
            "the value becomes a label of the objects",
        ),
        (
            {"catalog": "a", "version": "x" * 64},
            f"catalog_version: '{'x' * 60}'... (64 characters) is longer than 63 characters; "
            "the value becomes a label of the objects",
        ),
        (
            {"catalog": "a", "version": "", "labels": {"app.kubernetes.io/managed-by": "me"}},
            "labels: app.kubernetes.io/managed-by is reserved for this collection; remove the label",
        ),
    ],
)
def test_invalid_labels_are_refused(options: dict[str, Any], result: str) -> None:
    with pytest.raises(CatalogError) as raised:
        with_catalog_labels([manifest("a")], **options)
    assert str(raised.value) == result


def test_a_catalog_without_a_namespace_is_cluster_wide() -> None:
    [item] = with_catalog_labels([manifest("a")], catalog="acme", version="")
    assert (item["kind"], "namespace" in item["metadata"]) == ("VirtualMachineClusterInstancetype", False)
    assert "instancetypes.virtshape.io/catalog-version" not in item["metadata"]["labels"]


@pytest.mark.parametrize("metadata", [None, [], {}])
def test_nameless_manifest_is_reported_by_its_kind(metadata: Any) -> None:
    nameless = {"kind": "Pod", "metadata": metadata}
    assert bundle([nameless, manifest("a")], other_kinds="skip").notes == [
        "skipped Pod , which is neither an instancetype nor a preference"
    ]


def test_lists_of_any_kind_are_looked_into() -> None:
    listed = {"kind": "VirtualMachineClusterInstancetypeList", "items": [manifest("b")]}
    assert names(bundle([listed, {"kind": "List", "items": None}, manifest("c")]).objects) == ["b", "c"]


def test_all_rejections_of_kubevirt_are_reported() -> None:
    cpu = {"preferredCPUTopology": "spread", "spreadOptions": {"across": "Sockets", "ratio": 0}}
    with pytest.raises(CatalogError, match=r"KubeVirt would reject the object: spec\.cpu\.spreadOptions\.across: "):
        with_catalog_labels([manifest("a", PREFERENCE, spec={"cpu": cpu})], catalog="a", version="")


@pytest.mark.parametrize(
    ("document", "result"),
    [
        (
            manifest("a", labels={"team": "two words"}),
            "instancetype a: labels.team: 'two words' must consist of letters",
        ),
        (manifest("a", labels={"no way": "x"}), "labels: the key 'no way' must consist of letters"),
        (
            manifest("a", PREFERENCE, spec={"cpu": {"preferredCPUTopology": "rings"}}),
            "preference a: KubeVirt would reject the object: spec.cpu.preferredCPUTopology: unknown"
            " preferredCPUTopology rings",
        ),
        (
            manifest("a", spec={"cpu": {"guest": 1}, "memory": {"guest": "1Gi", "overcommitPercent": 101}}),
            "instancetype a: spec.memory.overcommitPercent: 101 is not a percentage",
        ),
    ],
)
def test_invalid_names_are_reported_before_the_request(document: dict[str, Any], result: str) -> None:
    with pytest.raises(CatalogError) as raised:
        with_catalog_labels(bundle([document]).objects, catalog="acme", version="")
    assert result in str(raised.value)


def test_the_published_version_counts_only_if_all_agree() -> None:
    label = "instancetype.kubevirt.io/common-instancetypes-version"
    item, other = manifest("a", labels={label: "v1"}), manifest("b", labels={label: "v2"})
    assert version_of([item, item]) == "v1"
    assert version_of([item, other]) == ""


OBJECTS = [
    manifest("u1.small", labels={"instancetype.kubevirt.io/class": "general.purpose", "tier": "a"}),
    manifest("m1.small", labels={"instancetype.kubevirt.io/class": "memory.intensive", "tier": "b"}),
    manifest("m1.old", labels={"instancetype.kubevirt.io/deprecated": "true"}),
    manifest("linux", PREFERENCE, spec={"annotations": {"vm.kubevirt.io/os": "linux"}}),
    manifest("windows", PREFERENCE, labels={"instancetype.kubevirt.io/os-type": "windows"}),
    manifest("arm", PREFERENCE, spec={"preferredArchitecture": "arm64"}),
]


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, ["u1.small", "m1.small", "m1.old", "linux", "windows", "arm"]),
        ({"kinds": ("preference",)}, ["linux", "windows", "arm"]),
        ({"classes": ("general*",), "kinds": ("instancetype",)}, ["u1.small"]),
        ({"series": ("m1",), "sizes": ("small",), "kinds": ("instancetype",)}, ["m1.small"]),
        ({"os": ("linux",), "kinds": ("preference",)}, ["linux"]),
        ({"os": ("win*",)}, ["u1.small", "m1.small", "m1.old", "windows"]),
        ({"architectures": ("arm64",), "kinds": ("preference",)}, ["linux", "windows", "arm"]),
        ({"deprecated": "exclude", "kinds": ("instancetype",)}, ["u1.small", "m1.small"]),
        ({"deprecated": "only"}, ["m1.old"]),
        ({"labels": ("tier in (a, c)",)}, ["u1.small"]),
        ({"labels": ("tier", "tier!=a")}, ["m1.small"]),
        ({"preferences": ("linux",), "instancetypes": ("u1.*",)}, ["u1.small", "linux"]),
    ],
)
def test_selections(options: dict[str, Any], chosen: list[str]) -> None:
    assert names(CatalogSelection(**options).select(OBJECTS)) == chosen


def test_architectures_leave_out_those_for_others() -> None:
    objects = [*OBJECTS, manifest("s390", PREFERENCE, spec={"requirements": {"architecture": "s390x"}})]
    chosen = CatalogSelection(kinds=("preference",), architectures=("s390x",)).select(objects)
    assert names(chosen) == ["linux", "windows", "s390"]


@pytest.mark.parametrize(
    ("options", "result"),
    [
        (
            {"classes": ("x",)},
            "classes: nothing in the catalog matches 'x'; choose from general.purpose, memory.intensive",
        ),
        ({"classes": ("general",)}, "classes: nothing in the catalog matches 'general'; did you mean general.purpose?"),
        ({"os": ("x",)}, "os: nothing in the catalog matches 'x'; choose from linux, windows"),
        ({"architectures": ("x",)}, "architectures: nothing in the catalog matches 'x'; choose from arm64"),
        ({"series": ("x",)}, "series: "),
        ({"labels": ("a in b",)}, "label_selectors: "),
    ],
)
def test_a_pattern_without_a_match_is_an_error(options: dict[str, Any], result: str) -> None:
    with pytest.raises(CatalogError) as raised:
        CatalogSelection(**options).select(OBJECTS)
    assert str(raised.value).startswith(result)


@pytest.mark.parametrize(
    ("text", "labels", "fits"),
    [
        ("a=1,b!=2", {"a": "1"}, True),
        ("a==1", {"a": "2"}, False),
        ("a notin (1, 2)", {}, True),
        ("a notin (1, 2)", {"a": "2"}, False),
        ("!a", {"a": ""}, False),
        ("example.com/a", {"example.com/a": ""}, True),
        ("", {}, True),
    ],
)
def test_label_selectors(text: str, labels: dict[str, str], fits: bool) -> None:
    assert selector(text)(labels) is fits


@pytest.mark.parametrize("text", ["a in b", "=1", "a=b=c", "a in (1"])
def test_an_invalid_label_selector_is_an_error(text: str) -> None:
    with pytest.raises(FieldError):
        selector(text)
