"""A cluster's words about its KubeVirt decide which version of a catalog it gets."""

import copy
from typing import Any

import pytest

from crd_schemas import definitions
from plugins.module_utils._cluster.writes.catalog_compatibility import choose_version
from scripted_server import KUBEVIRTS, Store, forbidden, session_with

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CATALOG: list[Any] = [{"versions": {"v3": {"kubevirt": "1.9"}, "v2": {"kubevirt": "1.6"}, "v1": {"kubevirt": "1.4"}}}]


def chosen(store: Store, documents: list[Any] | None = None, wanted: str = "auto") -> tuple[str, str]:
    with session_with(store) as session:
        return choose_version(session, documents or CATALOG, wanted)


def kubevirt(version: str | None) -> dict[str, Any]:
    return {"metadata": {"name": "kubevirt"}, "status": {} if version is None else {"observedKubeVirtVersion": version}}


@pytest.mark.parametrize(
    ("release", "version"), [("v1.9.2", "v3"), ("v1.8.4", "v2"), ("v1.6.6", "v2"), ("v1.5.3", "v1"), ("v1.4.0", "v1")]
)
def test_reported_release_chooses_the_version(release: str, version: str) -> None:
    store = Store({KUBEVIRTS: [kubevirt(release)]})
    assert chosen(store) == (version, f"the cluster runs KubeVirt {release}")
    assert store.asked == [("GET", KUBEVIRTS)]


@pytest.mark.parametrize("kubevirt_object", [kubevirt("devel"), kubevirt(None), None])
def test_unknown_release_is_derived_from_crd_fields(kubevirt_object: Any) -> None:
    changed = [copy.deepcopy(item) for item in definitions() if "preferences" in item["metadata"]["name"]]
    for definition in changed:
        for version in definition["spec"]["versions"]:
            del version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["preferredArchitecture"]
    store = Store({KUBEVIRTS: [kubevirt_object] if kubevirt_object else [], DEFINITIONS: changed})
    if kubevirt_object is None:
        store.answers["GET", KUBEVIRTS] = forbidden("kubevirts")
    assert chosen(store) == ("v2", "the cluster's API has all fields of KubeVirt 1.6")


def test_unreported_release_gives_the_newest_version() -> None:
    result = chosen(Store({KUBEVIRTS: [], DEFINITIONS: []}))
    assert result == ("v3", "the newest version, because the cluster does not report its KubeVirt release")


def test_requested_version_needs_no_request() -> None:
    store = Store({})
    assert chosen(store, wanted="v2") == ("v2", "")
    assert chosen(store, [{"series": {}}]) == ("", "")
    assert store.asked == []
