"""Versions of a catalog: which fits a release of KubeVirt, what each has, and what is wrong with a list of them."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.api.type_remedies import wrong_type
from plugins.module_utils._resolver.catalog.definitions import expand_catalog
from plugins.module_utils._resolver.catalog.errors import CatalogError
from plugins.module_utils._resolver.catalog.versions import at_version, fitting_version, version_names
from plugins.plugin_utils._catalog_files import builtin

SIZES: dict[str, Any] = {
    "labels": {"team": "web", "tier": "1"},
    "series": {
        "m1": {"spec": {"ioThreadsPolicy": "auto"}, "sizes": {"small": {"cpu": 1, "memory": "2Gi"}}},
        "d1": {"sizes": {"small": {"cpu": 1, "max_sockets": 4, "memory": "2Gi"}, "large": {"cpu": 2, "memory": "4Gi"}}},
    },
}
SYSTEMS: dict[str, Any] = {
    "families": {"linux": {"spec": {"devices": {"preferredRng": {}}}, "preferences": {"acme": {}, "d1.linux": {}}}}
}
MANIFEST = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterPreference",
    "metadata": {"name": "plain"},
    "versions": "not a definition's",
}


def catalog(*older: dict[str, Any]) -> list[dict[str, Any]]:
    """SIZES and SYSTEMS with the versions v3, v2, ..., of which v3 is as they are written."""
    names = [f"v{3 - number}" for number in range(len(older) + 1)]
    return [SIZES, SYSTEMS, {"versions": dict(zip(names, ({}, *older)))}]


def by_name(documents: list[dict[str, Any]], version: str) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["name"]: item for item in expand_catalog(*documents, version=version)}


@pytest.mark.parametrize(
    ("kubevirt", "version"),
    [("1.4.0", "v1.2.1"), ("1.4.1", "v1.2.1"), ("1.5.3", "v1.3.1")]
    + [("1.6.6", "v1.4.1"), ("1.7.4", "v1.5.1"), ("1.8.4", "v1.6.0"), ("1.9.0", "v1.7.0"), ("2.3", "v1.7.0")],
)
def test_the_builtin_version_for_a_release_of_kubevirt(kubevirt: str, version: str) -> None:
    documents = builtin()
    assert fitting_version(documents, release.parse_release(kubevirt)) == version


def test_a_version_without_kubevirt_supports_all_releases() -> None:
    documents = catalog({"kubevirt": "1.8"}, {})
    assert fitting_version(documents, release.parse_release("1.4")) == "v3"
    documents = [{"versions": {"v2": {"kubevirt": "1.9"}, "v1": {}}}]
    assert fitting_version(documents, release.parse_release("1.8")) == "v1"


def test_previews_are_chosen_only_by_name() -> None:
    documents = catalog({"series": {"d1": {"sizes": {"small": {"cpu": 2}}}}})
    documents[-1]["versions"]["v3"] = {"preview": True}
    assert fitting_version(documents, release.NEWEST) == "v2"
    chosen = [by_name(documents, version)["d1.small"]["spec"]["cpu"]["guest"] for version in ("", "v2", "v3")]
    assert chosen == [2, 2, 1]
    assert version_names(documents) == ["v3", "v2"]
    alone = [SIZES, {"versions": {"v1": {"preview": True}}}]
    assert (fitting_version(alone, release.NEWEST), len(by_name(alone, ""))) == ("v1", 3)


def test_older_version_includes_changes_of_newer_ones() -> None:
    documents = catalog(
        {"without": ["d1.large"], "series": {"d1": {"sizes": {"small": {"memory": "1Gi"}}}}},
        {"series": {"d1": {"sizes": {"small": {"cpu": 2}}}, "new": {"sizes": {"a": {"cpu": 1, "memory": "1Gi"}}}}},
    )
    assert version_names(documents) == ["v3", "v2", "v1"]
    assert list(by_name(documents, "v3")) == ["m1.small", "d1.small", "d1.large", "acme", "d1.linux"]
    assert list(by_name(documents, "v2")) == ["m1.small", "d1.small", "acme", "d1.linux"]
    assert list(by_name(documents, "v1")) == ["m1.small", "d1.small", "new.a", "acme", "d1.linux"]
    sizes = [by_name(documents, version)["d1.small"]["spec"] for version in ("v3", "v2", "v1")]
    assert [(item["cpu"]["guest"], item["memory"]["guest"]) for item in sizes] == [(1, "2Gi"), (1, "1Gi"), (2, "1Gi")]
    assert by_name(documents, "") == by_name(documents, "v3")


def test_series_changes_apply_in_their_own_document() -> None:
    other = {"labels": {"team": "db"}, "series": {"o1": {"sizes": {"small": {"cpu": 1, "memory": "8Gi"}}}}}
    changes = {"o1": {"sizes": {"small": {"cpu": 2}}}, "m1": {"sizes": {"small": {"cpu": 3}}}}
    new = {"n1": {"sizes": {"small": {"cpu": 4, "memory": "1Gi"}}}}
    actual = by_name([*catalog({"series": {**changes, **new}, "labels": {"team": "all"}}), other], "v2")
    result = {
        name: (item["spec"].get("cpu"), item["metadata"].get("labels", {}).get("team")) for name, item in actual.items()
    }
    assert result["o1.small"] == ({"guest": 2}, "all")
    assert result["m1.small"] == ({"guest": 3}, "all")
    assert result["n1.small"] == ({"guest": 4}, "all")
    assert len(actual) == 7


def test_without_removes_objects_by_name_pattern() -> None:
    assert list(by_name(catalog({"without": ["d1.*"]}), "v2")) == ["m1.small", "acme"]
    assert list(by_name(catalog({"without": ["d1.[!s]*", "acme"]}), "v2")) == ["m1.small", "d1.small"]


def test_a_null_removes_own_and_inherited_values() -> None:
    documents = catalog(
        {
            "labels": {"tier": None, "instancetype.kubevirt.io/memory": None},
            "series": {"d1": {"sizes": {"small": {"max_sockets": None}}}, "m1": {"spec": None}},
            "families": {"linux": {"preferences": {"acme": {"spec": {"devices": {"preferredRng": None}}}}}},
        }
    )
    newest, older = by_name(documents, "v3"), by_name(documents, "v2")
    assert newest["d1.small"]["spec"]["cpu"]["maxSockets"] == 4
    assert "maxSockets" not in older["d1.small"]["spec"]["cpu"]
    assert newest["m1.small"]["spec"]["ioThreadsPolicy"] == "auto"
    assert "ioThreadsPolicy" not in older["m1.small"]["spec"]
    assert older["acme"]["spec"]["devices"] == {}
    assert older["d1.small"]["metadata"]["labels"] == {
        "team": "web",
        "instancetype.kubevirt.io/cpu": "1",
        "instancetype.kubevirt.io/size": "small",
    }


def test_input_documents_are_not_modified() -> None:
    documents = [MANIFEST, *catalog({"labels": {"team": "shop"}, "without": ["acme"]})]
    before = copy.deepcopy(documents)
    assert at_version(documents, "v2")[0] == (0, MANIFEST)
    assert len(at_version(documents, "v2")) == 3, "the list of versions is no document of the catalog"
    assert documents == before
    assert at_version([{}, None, 5]) == [(0, {}), (1, None), (2, 5)], "what is wrong with these is for others to say"


@pytest.mark.parametrize(
    ("versions", "result"),
    [
        ({}, "versions: expected versions by name, found {}"),
        (["v1"], "versions: expected versions by name, found ['v1']"),
        ({1.5: {}}, "versions.1.5: expected a string as name, found 1.5; put it in quotes"),
        ({"v1": None}, "versions.v1: expected an object, found None; write {} for a version without changes"),
        ({"v1": {"serie": {}}}, "versions.v1: unknown key 'serie'; did you mean series?"),
        ({"v1": {"preview": "yes"}}, f"versions.v1: preview: {wrong_type('true or false', 'yes')}"),
        ({"v1": {"series": []}}, "versions.v1: series: expected an object, found []"),
        ({"v1": {"without": "a"}}, "versions.v1: without: expected a list of names, found 'a'"),
        ({"v1": {"without": [1]}}, "versions.v1: without: expected a list of names, found [1]"),
        (
            {"v1": {"kubevirt": 1.9}},
            "versions.v1: kubevirt: 1.9 is not a version of KubeVirt;"
            " write 1.4 or later, such as 1.6 or v1.6.2, in quotes",
        ),
        ({"v1": {"without": ["x*"]}}, "versions.v1: without: nothing in the catalog matches 'x*'"),
        (
            {"v1": {"annotations": {"a": "b"}}},
            "versions.v1: annotations: the catalog has no annotations to change; remove the key",
        ),
    ],
)
def test_invalid_versions_are_refused(versions: Any, result: str) -> None:
    with pytest.raises(CatalogError) as raised:
        at_version([SIZES, SYSTEMS, {"versions": versions}])
    assert str(raised.value) == result


def test_unknown_version_is_refused() -> None:
    for documents, result in (
        (catalog({}), "version: the catalog has no 'v9'; choose from v3, v2"),
        ([SIZES], "version: the catalog has no versions, so 'v9' is unknown; remove version"),
        ([*catalog(), {"versions": {"v1": {}}}], "versions: set twice; remove one of them"),
    ):
        with pytest.raises(CatalogError) as raised:
            at_version(documents, "v9")
        assert str(raised.value) == result
    assert version_names([SIZES]) == []
