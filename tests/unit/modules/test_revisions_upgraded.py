"""The state `upgraded` of controller_revision, where revisions cannot be read or not be written."""

import threading
from typing import Any

from halted_vms import TYPES, store, vm

from plugins.module_utils._resolver.kubevirt.instancetype.revision_store import controller_revision
from scripted_server import REVISIONS, Run, status


def test_upgrade_fails_without_the_revision(run: Run) -> None:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
    lost = vm("b", instancetype=matcher)
    lost["status"]["instancetypeRef"] = {**matcher, "controllerRevisionRef": {"name": "b-small-1"}}
    cluster = store(vm("a"), lost)
    cluster.lists[f"{TYPES}/namespaces/shop/virtualmachineinstancetypes"] = []
    result = run("controller_revision", cluster, state="upgraded", namespace="shop")
    missing = 'shop/b: controllerrevisions.apps "b-small-1" not found'
    assert result["msg"] == f"1 of 2 virtual machines failed: {missing}; 1 unchanged"
    assert [(item["changed"], item["failed"]) for item in result["results"]] == [(False, False), (False, True)]
    none = run("controller_revision", cluster, state="upgraded", namespace="shop", names=["a"])
    assert not none["changed"] and none["msg"].endswith(": 0 upgraded, 1 unchanged")
    assert cluster.writes == []


def test_revisions_of_several_vms_are_upgraded_at_once(run: Run) -> None:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
    metadata = {"name": "small", "uid": "s", "generation": 1}
    small = {"apiVersion": TYPES[len("/apis/") :], "kind": matcher["kind"], "metadata": metadata, "spec": {}}
    vms, old = [vm(name, instancetype=matcher) for name in "ab"], []
    for item in vms:
        created = controller_revision(item, small)
        del created["metadata"]["labels"]["instancetype.kubevirt.io/object-version"]
        old.append({**created, "metadata": {**created["metadata"], "name": f"{item['metadata']['name']}-old"}})
        reference = {**matcher, "controllerRevisionRef": {"name": old[-1]["metadata"]["name"]}}
        item["status"]["instancetypeRef"] = reference
    cluster = store(*vms)
    cluster.lists[REVISIONS] = old
    cluster.lists[f"{TYPES}/namespaces/shop/virtualmachineinstancetypes"] = []
    together = threading.Barrier(2, timeout=20)

    def answer(method: str, path: str, query: dict[str, str]) -> Any:
        if method == "POST":
            together.wait()
            return 201, {"metadata": {"name": "made"}}
        if method == "DELETE":
            return 200, {}
        return cluster(method, path, query)

    result = run("controller_revision", answer, state="upgraded", namespace="shop")
    assert [(item["name"], item["changed"]) for item in result["results"]] == [("a", True), ("b", True)]


def test_a_partial_upgrade_of_revisions_is_a_change(run: Run) -> None:
    matcher = {"name": "small", "kind": "VirtualMachineInstancetype"}
    machine = vm("a", instancetype=matcher)
    machine["status"]["instancetypeRef"] = {**matcher, "controllerRevisionRef": {"name": "old"}}
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    about = {"name": "small", "namespace": "shop", "uid": "it", "generation": 1}
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": matcher["kind"], "metadata": about, "spec": spec}
    cluster = store(machine)
    cluster.lists[REVISIONS] = [{"metadata": {"name": "old", "namespace": "shop", "uid": "r"}, "data": data}]
    cluster.lists[f"{TYPES}/namespaces/shop/virtualmachineinstancetypes"] = []
    refusal = status(422, "the server rejected our request", "Invalid")
    for method, written in (("PATCH", True), ("POST", False)):
        cluster.answers = {(method, ""): refusal}
        result = run("controller_revision", cluster, state="upgraded", namespace="shop")
        assert result["failed"] and (result["changed"], result["results"][0]["changed"]) == (written, written)
        assert result["msg"] == "shop/a: the server rejected our request"
