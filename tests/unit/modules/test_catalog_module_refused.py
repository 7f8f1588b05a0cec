"""catalog where the source, the catalog or the cluster is not what it should be."""

from pathlib import Path
from typing import Any

import pytest

from scripted_server import VMS, Manifest, Run, Store, forbidden, status

TYPES = "/apis/instancetype.kubevirt.io/v1beta1/namespaces/shop"
SIZES = f"{TYPES}/virtualmachineinstancetypes"
PREFERENCES = f"{TYPES}/virtualmachinepreferences"
DEFINITION: Manifest = {"series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}
OURS = [{"manager": "virtshape", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:cpu": {}}}}]


def live(name: str, catalog: str = "acme", memory: str = "2Gi", **labels: str) -> Manifest:
    own = {"instancetypes.virtshape.io/catalog": catalog, "instancetypes.virtshape.io/catalog-version": "1", **labels}
    metadata = {"name": name, "namespace": "shop", "uid": name, "generation": 3, "labels": own, "managedFields": OURS}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": metadata,
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def user(name: str, instancetype: str) -> Manifest:
    matcher = {"name": instancetype, "kind": "VirtualMachineInstancetype"}
    return {
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"instancetype": matcher, "template": {"spec": {}}},
    }


def cluster(*sizes: Manifest, vms: tuple[Manifest, ...] = ()) -> Store:
    return Store({SIZES: list(sizes), PREFERENCES: [], VMS: list(vms)})


@pytest.fixture
def deploy(run: Run) -> Run:
    def run_module(store: Store, **options: Any) -> dict[str, Any]:
        provided = {"namespaces": ["shop"], "catalog": "acme", "source": "definitions", "definitions": [DEFINITION]}
        return run("catalog", store, **{**provided, **options})

    return run_module


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"catalog": None, "prune": "unused"},
            "catalog: required with prune; set the name of the catalog whose objects may be deleted",
        ),
        ({"definitions": None}, "definitions: required; set it to catalogs or manifests"),
        (
            {"definitions": None, "source": "builtin"},
            "definitions: required; run the module as a task, so that the controller reads the files",
        ),
        ({"source": "url"}, "version: required; set the version of a release, or url to the address of a bundle"),
        (
            {"source": "url", "version": "auto"},
            "version: auto needs a catalog that lists its versions; set the release to fetch, such as v1.7.0",
        ),
        ({"version": "2"}, "version: the catalog has no versions, so '2' is unknown; remove version"),
        (
            {"source": "url", "version": "v1.2.0", "checksum": "sha256:0"},
            "checksum: only valid for a single file; the published checksums already cover a release",
        ),
    ],
)
def test_incomplete_and_contradictory_sources_are_refused(deploy: Run, options: dict[str, Any], message: str) -> None:
    store = cluster()
    refused = deploy(store, **options)
    assert refused["failed"]
    assert (refused["msg"], store.asked) == (message, [])


def test_unreachable_server(deploy: Run) -> None:
    refused = deploy(cluster(), host="http://127.0.0.1:9", lost_fields="ignore")
    assert refused["failed"] and "results" not in refused
    assert refused["msg"].startswith("cannot reach the API server http://127.0.0.1:9")
    refused = deploy(cluster(), kubeconfig="/nowhere")
    assert refused["msg"] == "kubeconfig /nowhere: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG"


def test_a_forbidden_list_fails_each_object_without_writes(deploy: Run) -> None:
    store = cluster()
    store.answers["GET", "/virtualmachineinstancetypes"] = forbidden("virtualmachineinstancetypes")
    refused = deploy(store, prune="always")
    assert refused["failed"]
    assert 'resources: ["virtualmachineinstancetypes"], verbs: ["list"]' in refused["msg"]
    assert refused["msg"].endswith("; nothing was written")
    assert store.writes == []


def test_more_than_five_failures_and_warnings_are_counted(deploy: Run) -> None:
    sizes = {name: {"cpu": 1, "memory": "2Gi"} for name in "abcdefg"}
    store = cluster()
    store.answers["PATCH", ""] = status(422, "not today", "Invalid")
    refused = deploy(store, definitions=[{"series": {"web": {"sizes": sizes}}}])
    assert refused["msg"].startswith("7 of 7 objects failed: shop/web.a, shop/web.b, ")
    assert " and 2 more: not today; nothing was written" in refused["msg"]
    assert refused["counts"]["failed"] == 7


POOLS = "/apis/pool.kubevirt.io/v1beta1/namespaces/shop/virtualmachinepools"


def pool(instancetype: str) -> Manifest:
    matcher = {"name": instancetype, "kind": "VirtualMachineInstancetype"}
    template = {"spec": {"instancetype": matcher, "template": {"spec": {}}}}
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"virtualMachineTemplate": template}}


@pytest.mark.parametrize("path", [POOLS, POOLS.replace("v1beta1", "v1alpha1")])
def test_pools_keep_what_their_template_names(deploy: Run, path: str) -> None:
    store = cluster(live("web.small"), live("web.gone"), vms=(user("a", "web.gone"),))
    store.lists[path] = [pool("web.gone")]
    [gone] = deploy(store, prune="unused", check=True)["catalog_changes"]["gone"]
    assert gone["keep_reason"] == "in use by 1 virtual machine (shop/a) and 1 pool (shop/web)"
    store.lists[VMS] = []
    [gone] = deploy(store, prune="unused", check=True)["catalog_changes"]["gone"]
    assert (gone["keep_reason"], gone["used_by"]) == ("in use by 1 pool (shop/web)", [])
    store.lists[path] = [{"metadata": {"name": "odd", "namespace": "shop"}, "spec": None}]
    assert deploy(store, prune="unused", check=True)["catalog_changes"]["gone"][0]["pruned"]


def test_pruning_needs_the_right_to_list_pools(deploy: Run) -> None:
    store = cluster(live("web.small"), live("web.gone"))
    store.answers["GET", "/virtualmachinepools"] = forbidden("virtualmachinepools")
    result = deploy(store, prune="unused", check=True)
    assert result["catalog_changes"]["gone"][0]["keep_reason"] == "cannot tell what uses the object"
    assert any(text.startswith("cannot tell which pools use the removed objects: ") for text in result["warnings"])
    assert deploy(store, prune="always", check=True)["catalog_changes"]["gone"][0]["pruned"]


def test_a_failed_deletion_keeps_the_version(deploy: Run) -> None:
    store = cluster(live("web.small"))
    store.answers["DELETE", "/web.small"] = status(422, "a webhook says no", "Invalid")
    refused = deploy(store, state="absent")
    assert refused["msg"] == "shop/web.small: a webhook says no; nothing was deleted"
    assert refused["deployed_versions"] == {"before": {"1": 1}, "after": {"1": 1}}


def test_failed_deletion_reports_the_deleted_objects(deploy: Run) -> None:
    sizes = {name: {"cpu": 1, "memory": "2Gi"} for name in ("small", "medium", "large")}
    store = cluster(*(live(f"web.{name}") for name in sizes))
    store.answers["DELETE", "/web.small"] = status(422, "a webhook says no", "Invalid")
    definitions = [{"series": {"web": {"sizes": sizes}}}]
    refused = deploy(store, state="absent", definitions=definitions)
    assert refused["msg"] == (
        "1 of 3 objects failed: shop/web.small: a webhook says no; 2 deleted; the next run continues from there"
    )


def test_unreadable_live_object_does_not_fail_others(deploy: Run) -> None:
    newer = live("web.small")
    newer["spec"]["cpu"] = {"guest": ["1"]}
    sizes = {name: {"cpu": 1, "memory": "2Gi"} for name in ("small", "large")}
    result = deploy(cluster(newer), definitions=[{"series": {"web": {"sizes": sizes}}}], existing="apply")
    assert result["msg"].startswith(
        "1 of 2 objects failed: shop/web.small: cannot read the object in the cluster: "
        "spec.cpu.guest: expected a whole number, found a list; if the cluster's KubeVirt is newer than this"
        " collection, upgrade the collection"
    )
    assert [(item["name"], item["changed"]) for item in result["results"]] == [
        ("web.small", False),
        ("web.large", True),
    ]


def test_unreachable_url_is_refused_before_any_request(deploy: Run, tmp_path: Path) -> None:
    store = cluster()
    address = "http://127.0.0.1:9/x.yaml"
    refused = deploy(store, source="url", url=address, cache_directory=str(tmp_path), download_timeout=1)
    assert refused["msg"].startswith("cannot fetch http://127.0.0.1:9/CHECKSUMS.sha256: ")
    assert refused["msg"].endswith("; check url, version and download_proxy")
    assert store.asked == []
