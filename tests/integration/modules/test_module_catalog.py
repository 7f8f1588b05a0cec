"""catalog: deployed, unchanged, upgraded, pruned, side by side; and what goes wrong."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from waiting import wait_until

from modules_support import Run, Task, by_name, manifest, objects, pool_of, server_side_apply, vm
from plugins.module_utils._cluster.client.session import Session

Definition = dict[str, Any]

CHECKOUT = Path(__file__).resolve().parents[3]
UPSTREAM = Path(os.environ.get("VIRTSHAPE_SHARED") or CHECKOUT.parent / "shared") / "upstream/common-instancetypes"

FIRST: Definition = {
    "series": {"web": {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}, "large": {"cpu": 2, "memory": "4Gi"}}}},
    "families": {
        "linux": {"os": "linux", "spec": {"devices": {"preferredDiskBus": "virtio"}}, "preferences": {"acme": {}}}
    },
}
# `small` is larger, `large` is gone, `huge` is new.
SECOND: Definition = {
    **FIRST,
    "series": {"web": {"sizes": {"small": {"cpu": 2, "memory": "2Gi"}, "huge": {"cpu": 8, "memory": "16Gi"}}}},
}


@pytest.fixture
def deploy(task: Task, namespace: str) -> Run:
    """deploy(definition, **options): the result of the catalog `acme` in the test's namespace, unless it is refused."""

    def one(definition: Definition, /, *, refused: bool = False, **options: Any) -> dict[str, Any]:
        given = {"namespaces": [namespace], "catalog": "acme", "source": "definitions", "definitions": [definition]}
        return (task.refused if refused else task)("catalog", **{**given, **options})

    return one


def kind(api: Any, name: str = "VirtualMachineInstancetype") -> Any:
    return objects(api, name)


def names(api: Any, namespace: str) -> set[str]:
    return {item.metadata.name for item in kind(api).get(namespace=namespace).items}


def used(name: str, instancetype: str) -> dict[str, Any]:
    return vm(name, instancetype, preference={"name": "acme", "kind": "VirtualMachinePreference"})


def test_second_run_lists_once_and_writes_nothing(
    deploy: Run, monkeypatch: pytest.MonkeyPatch, api: Any, namespace: str
) -> None:
    first = deploy(FIRST, catalog_version="1")
    assert (first["changed"], first["counts"]["created"]) == (True, 3)
    labels = kind(api).get(name="web.small", namespace=namespace).to_dict()["metadata"]["labels"]
    assert labels["instancetypes.virtshape.io/catalog"] == "acme"
    assert labels["instancetypes.virtshape.io/catalog-version"] == "1"
    sent: list[tuple[str, str]] = []
    original = Session.request

    def request(self: Session, method: str, path: str, *rest: Any, **options: Any) -> Any:
        sent.append((method, path))
        return original(self, method, path, *rest, **options)

    monkeypatch.setattr(Session, "request", request)
    again = deploy(FIRST, catalog_version="1")
    assert (again["changed"], again["counts"]["unchanged"], again["diff"]) == (False, 3, [])
    about = [path for method, path in sent if "/instancetype.kubevirt.io/" in path]
    assert len(about) == 2
    assert {method for method, _path in sent} == {"GET"}


def test_upgrade_check_lists_affected_vms(deploy: Run, task: Task, api: Any, namespace: str) -> None:
    deploy(FIRST, catalog_version="1")
    task("virtual_machine", virtual_machines=[used("a", "web.small"), used("b", "web.large")], wait=True)
    before = names(api, namespace)
    planned = deploy(SECOND, catalog_version="2", prune="unused", check=True)
    assert names(api, namespace) == before
    upgrade = planned["catalog_changes"]
    assert [item["name"] for item in upgrade["new"]] == ["web.huge"]
    [changed] = upgrade["changed"]
    assert (changed["name"], changed["used_by"]) == ("web.small", [f"{namespace}/a"])
    assert changed["changes"] == [{"field": "cpu.guest", "before": 1, "after": 2}]
    [gone] = upgrade["gone"]
    assert (gone["name"], gone["pruned"], gone["used_by"]) == ("web.large", False, [f"{namespace}/b"])
    assert "in use by 1 virtual machine" in gone["keep_reason"]
    vms = by_name(planned["virtual_machines"])
    assert (vms["a"]["guest_before"]["vcpus"], vms["a"]["guest_after"]["vcpus"]) == (1, 2)
    assert vms["a"]["states"]["instancetype"] == "drifted"
    assert vms["b"]["needs"] == "nothing"
    done = deploy(SECOND, catalog_version="2", prune="unused")
    assert done["catalog_changes"] == upgrade
    assert done["deployed_versions"] == planned["deployed_versions"]
    assert names(api, namespace) == {"web.small", "web.large", "web.huge"}
    assert done["deployed_versions"] == {"before": {"1": 3}, "after": {"1": 1, "2": 3}}
    drift = task("virtual_machine_info", include=["refresh"])
    assert [item["name"] for item in drift["virtual_machines"] if item["drifted"]] == ["a"]


def test_prune_modes_delete_unused_or_all(deploy: Run, task: Task, api: Any, namespace: str) -> None:
    deploy(FIRST)
    assert deploy(SECOND)["counts"]["gone"] == 1
    assert "web.large" in names(api, namespace)
    task("virtual_machine", run_strategy="Halted", **used("b", "web.large"))
    assert deploy(SECOND, prune="unused")["counts"]["deleted"] == 0
    result = deploy(SECOND, prune="always")
    assert result["counts"]["deleted"] == 1
    assert result["virtual_machines"][0]["uses"][0]["status"] == "gone"
    assert names(api, namespace) == {"web.small", "web.huge"}
    assert not deploy(SECOND, prune="always")["changed"]


def test_catalogs_leave_each_other_alone(deploy: Run, api: Any, namespace: str) -> None:
    deploy(FIRST)
    other = {"series": {"db": {"sizes": {"large": {"cpu": 8, "memory": "64Gi"}}}}}
    counts = deploy(other, catalog="other", prune="always")["counts"]
    assert (counts["created"], counts["gone"], counts["deleted"]) == (1, 0, 0)
    assert names(api, namespace) == {"web.small", "web.large", "db.large"}
    taken = deploy(SECOND, catalog="other", prune="always")
    assert by_name(taken["results"])["web.small"]["skip_reason"] == "the object belongs to the catalog acme"
    assert "left alone: 2 (the object belongs to the catalog acme)" in taken["msg"]
    assert kind(api).get(name="web.small", namespace=namespace).spec.cpu.guest == 1
    assert "web.large" in names(api, namespace)


def test_cluster_wide_with_labels_and_a_prefix(deploy: Run, api: Any, namespace: str) -> None:
    own = {"namespaces": [], "catalog": namespace, "name_prefix": f"{namespace}.", "labels": {"team": "web"}}
    try:
        assert deploy(FIRST, **own)["counts"]["created"] == 3
        made = kind(api, "VirtualMachineClusterInstancetype").get(name=f"{namespace}.web.small")
        assert made.metadata.labels["team"] == "web"
        assert (
            kind(api, "VirtualMachineClusterPreference").get(name=f"{namespace}.acme").metadata.labels["team"] == "web"
        )
        assert names(api, namespace) == set()
        assert not deploy(FIRST, **own)["changed"]
        # A narrower selection makes the rest gone, and another label is a change.
        narrower = {**own, "sizes": ["small"], "kinds": ["instancetype"], "labels": {"team": "db"}}
        counts = deploy(FIRST, prune="unused", **narrower)["counts"]
        assert (counts["changed"], counts["deleted"], counts["created"]) == (1, 2, 0)
    finally:
        deploy(FIRST, state="absent", **own)
    assert not deploy(FIRST, state="absent", **own)["changed"]


def test_several_namespaces_in_one_task(deploy: Run, api: Any, namespace: str) -> None:
    other = f"{namespace}-b"
    spaces = objects(api, "Namespace")
    spaces.create(body={"metadata": {"name": other}})
    try:
        assert deploy(FIRST, namespaces=[namespace, other])["counts"]["created"] == 6
        assert names(api, namespace) == names(api, other) == {"web.small", "web.large"}
        assert not deploy(FIRST, namespaces=[namespace, other])["changed"]
        # The task prunes only in its namespaces.
        assert deploy(SECOND, namespaces=[other], prune="unused")["counts"]["deleted"] == 1
        assert (names(api, namespace), "web.large" in names(api, other)) == ({"web.small", "web.large"}, False)
    finally:
        spaces.delete(name=other)


def test_foreign_objects_are_never_pruned(deploy: Run, api: Any, namespace: str) -> None:
    deploy(FIRST)
    for name, manager in (("web.large", "virt-operator"), ("foreign", "someone")):
        body = {
            "apiVersion": "instancetype.kubevirt.io/v1beta1",
            "kind": "VirtualMachineInstancetype",
            "metadata": {
                "name": name,
                "labels": {"instancetypes.virtshape.io/catalog": "acme", "app.kubernetes.io/managed-by": manager},
            },
            "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
        }
        if name == "foreign":
            kind(api).create(body=body, namespace=namespace)
        else:
            kind(api).patch(name=name, namespace=namespace, body=body, content_type="application/merge-patch+json")
    result = deploy(SECOND, prune="always")
    kept = {item["name"]: item["keep_reason"] for item in result["catalog_changes"]["gone"]}
    assert "virt-operator" in kept["web.large"]
    assert kept["foreign"] == "the object exists and was not declared by this collection"
    assert {"web.large", "foreign"} <= names(api, namespace)


def test_absent_needs_force_for_used_objects(deploy: Run, task: Task, api: Any, namespace: str) -> None:
    deploy(FIRST)
    task("virtual_machine", run_strategy="Halted", **used("b", "web.large"))
    refused = deploy(FIRST, refused=True, state="absent", kinds=["instancetype"])
    assert f"web.large: in use by 1 virtual machine ({namespace}/b)" in refused["msg"]
    assert names(api, namespace) == {"web.large"}
    assert deploy(FIRST, state="absent", kinds=["instancetype"], force=True)["counts"]["deleted"] == 1
    assert names(api, namespace) == set()


def test_the_template_of_a_pool_is_a_user(deploy: Run, task: Task, api: Any, namespace: str) -> None:
    deploy(FIRST)
    pools = pool_of(api, namespace, "b", {"instancetype": used("b", "web.large")["instancetype"]})
    reason = f"in use by 1 pool ({namespace}/b)"
    [gone] = deploy(SECOND, prune="unused")["catalog_changes"]["gone"]
    assert (gone["name"], gone["keep_reason"]) == ("web.large", reason)
    absent = {"name": "web.large", "state": "absent"}
    assert reason in task.refused("instancetype", **absent)["msg"]
    known = task("catalog_info", scope="namespaced", used_by=True)
    assert by_name(known["instancetypes"])["web.large"]["used_by"] == [f"VirtualMachinePool {namespace}/b"]
    pools.delete(name="b", namespace=namespace)
    wait_until(lambda: not pools.get(namespace=namespace).items)
    assert task("instancetype", **absent)["changed"]


def test_refused_object_stops_pruning_until_next_run(deploy: Run, api: Any, namespace: str) -> None:
    deploy(FIRST)
    size = {"cpu": {"guest": 7}, "memory": {"guest": "4Gi"}}
    theirs = manifest("VirtualMachineInstancetype", "web.huge", size, namespace=namespace)
    server_side_apply(kind(api), theirs, "other")
    result = deploy(SECOND, refused=True, prune="unused")
    assert "web.huge" in result["msg"] and '"other" owns' in result["msg"]
    results = by_name(result["results"])
    assert results["web.small"]["changed"] and results["web.huge"]["failed"]
    assert result["catalog_changes"]["gone"][0]["keep_reason"] == "not pruned because 1 of the catalog's objects failed"
    assert "web.large" in names(api, namespace)
    again = deploy(SECOND, prune="unused", force_conflicts=True)
    assert (again["counts"]["changed"], again["counts"]["deleted"]) == (1, 1)
    assert not deploy(SECOND, prune="unused")["changed"]


def test_invalid_bundle_sends_nothing(deploy: Run, api: Any, namespace: str) -> None:
    broken = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": "cut"},
    }
    refused = deploy({}, refused=True, definitions=[FIRST, broken])
    assert "document 1: VirtualMachineClusterInstancetype cut: spec: missing" in refused["msg"]
    assert names(api, namespace) == set()


def test_prune_needs_the_right_to_list_vms(
    deploy: Run, user_with: Callable[..., dict[str, Any]], api: Any, namespace: str
) -> None:
    deploy(FIRST)
    user = user_with(
        {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": ["*"]},
    )
    result = deploy(SECOND, prune="unused", **user)
    assert result["catalog_changes"]["gone"][0]["keep_reason"] == "cannot tell what uses the object"
    told_why = str(result["warnings"])
    assert 'resources: ["virtualmachines"]' in told_why
    # Nobody but an administrator may read CRDs; the published description of the API does as well.
    assert "customresourcedefinitions" not in told_why
    assert "web.large" in names(api, namespace)


@pytest.fixture
def older_kubevirt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cluster's definition of preferences without two fields of newer releases."""
    original = Session.request

    def request(self: Session, method: str, path: str, *rest: Any, **options: Any) -> Any:
        answer = original(self, method, path, *rest, **options)
        if "/customresourcedefinitions/virtualmachinepreferences" in path:
            [served] = [item for item in answer["spec"]["versions"] if item["name"] == "v1beta1"]
            properties = served["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            del properties["firmware"]["properties"]["preferredEfi"]
            del properties["preferredArchitecture"]
        return answer

    monkeypatch.setattr(Session, "request", request)


NEWER: Definition = {
    "families": {
        "new": {
            "spec": {"firmware": {"preferredEfi": {}}, "cpu": {"preferredCPUTopology": "cores"}},
            "preferences": {"secure": {}},
        },
        "old": {"spec": {"devices": {"preferredDiskBus": "sata"}}, "preferences": {"plain": {}}},
    }
}


@pytest.mark.usefixtures("older_kubevirt")
def test_unsupported_fields_are_named_and_nothing_sent(deploy: Run, api: Any, namespace: str) -> None:
    result = deploy(NEWER, refused=True)
    assert "secure: the cluster's KubeVirt does not know spec.firmware.preferredEfi" in result["msg"]
    [lost] = result["lost_fields"]
    assert (lost["name"], lost["fields"]) == ("secure", ["spec.firmware.preferredEfi"])
    assert kind(api, "VirtualMachinePreference").get(namespace=namespace).items == []


@pytest.mark.usefixtures("older_kubevirt")
@pytest.mark.parametrize("choice", ["warn", "ignore"])
def test_unsupported_fields_can_be_omitted(deploy: Run, api: Any, namespace: str, choice: str) -> None:
    result = deploy(NEWER, lost_fields=choice)
    assert result["counts"]["created"] == 2
    assert ("preferredEfi" in str(result.get("warnings"))) == (choice == "warn")
    live = kind(api, "VirtualMachinePreference").get(name="secure", namespace=namespace).to_dict()
    assert "preferredEfi" not in live["spec"].get("firmware", {})
    again = deploy(NEWER, lost_fields=choice)
    assert not again["changed"]
    assert again["lost_fields"] == result["lost_fields"]


@pytest.mark.skipif(not UPSTREAM.is_dir(), reason="needs the published bundles")
def test_published_releases_upgrade_to_the_builtin_catalog(deploy: Run) -> None:
    counted = []
    for version in ("v1.0.1", "v1.2.0", "v1.7.0"):
        texts = [path.read_text() for path in sorted((UPSTREAM / version).glob("*.yaml"))]
        documents = [item for text in texts for item in yaml.safe_load_all(text) if item]
        result = deploy({}, definitions=documents, catalog="common", prune="unused", lost_fields="warn")
        assert result["catalog_version"] == version
        assert list(result["deployed_versions"]["after"]) == [version]
        counted.append((result["counts"]["instancetypes"], result["counts"]["preferences"]))
    assert counted == [(39, 32), (48, 42), (65, 54)]
    catalog = CHECKOUT / "roles/common_instancetypes/files/catalog"
    own = [item for path in sorted(catalog.glob("*.yml")) for item in yaml.safe_load_all(path.read_text())]
    result = deploy({}, definitions=own, catalog="common", prune="unused", lost_fields="warn")
    assert result["catalog_changes"] == {"new": [], "changed": [], "gone": []}
