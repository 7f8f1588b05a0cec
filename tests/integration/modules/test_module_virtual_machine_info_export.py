"""virtual_machine_info, export: the same guest in another namespace, on another cluster, and on an older KubeVirt."""

import contextlib
import uuid
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from old_discovery import Discoverer

from modules_support import Task, objects, server_side_apply, vm

Manifest = dict[str, Any]

SIZE = {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}


def apply(api: Any, manifests: list[Manifest]) -> list[str]:
    """The resource versions afterwards."""
    versions = []
    for manifest in manifests:
        resource = api.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
        server_side_apply(resource, manifest, "someone")
        metadata = manifest["metadata"]
        versions.append(resource.get(name=metadata["name"], namespace=metadata["namespace"]).metadata.resourceVersion)
    return versions


def expanded(task: Task, namespace: str) -> dict[str, Manifest]:
    """The VMs as KubeVirt expands them, without their own fields."""
    result = task.vms(namespace=namespace, include=["expansion"])
    assert all(vm["expansion"]["equal"] for vm in result.values()), result
    return {name: vm["expansion"]["server"]["template"] for name, vm in result.items()}


def declare(task: Task) -> None:
    task("instancetype", name="medium", **SIZE)
    task("preference", name="linux", devices={"preferred_disk_bus": "sata"})
    stopped = {"run_strategy": "Halted"}
    task(
        "virtual_machine",
        virtual_machines=[vm("db", "medium"), vm("web", "medium", **stopped), vm("plain", preference=None, **stopped)],
        wait=True,
    )
    # The VMs have captured deleted objects from here on.
    assert task("preference", name="linux", devices={"preferred_disk_bus": "virtio"})["changed"]
    assert task("instancetype", name="medium", cpu={"guest": 1}, memory={"guest": "1Gi"})["changed"]


def test_namespace_with_different_instancetype_of_same_name(task: Task, api: Any, shop: str) -> None:
    other = f"{shop}-other"
    spaces = objects(api, "Namespace")
    spaces.create({"metadata": {"name": other}})
    try:
        declare(task)
        before = expanded(task, shop)
        matches = task("virtual_machine_info", export={"target_namespace": other})
        assert not matches["changed"]
        exports = {item["name"]: item["export"]["revisions"] for item in matches["virtual_machines"]}
        assert set(exports["db"]) == {"instancetype", "preference"} and set(exports["plain"]) == {"instancetype"}
        task("instancetype", namespace=other, name="medium", cpu={"guest": 8}, memory={"guest": "16Gi"})
        written = matches["manifests"]
        assert [item["kind"] for item in written[-3:]] == ["VirtualMachine"] * 3

        # Stopped VMs are not written by virt-controller in between.
        still = [item for item in written if item["metadata"]["name"] != "db"]
        apply(api, written)
        task("virtual_machine", namespace=other, name="db", run_strategy="Always", wait=True)
        assert apply(api, still) == apply(api, still)
        assert expanded(task, other) == before
        result = task.vms(namespace=other)
        assert (result["db"]["vmi"]["guest"]["vcpus"], result["db"]["vmi"]["guest"]["memory"]) == (2, "4Gi")
        assert [item["revisions_lost_by"] for item in result.values()] == [[], [], []]

        # The VM is one of the other namespace from here on.
        task("controller_revision", namespace=other, state="unpinned")
        assert expanded(task, other) == before
        assert task("controller_revision", namespace=other, names=["web"])["changed"]
        assert expanded(task, other)["web"]["spec"]["domain"]["cpu"]["sockets"] == 8
    finally:
        spaces.delete(name=other)


def test_vms_without_snapshot_copies(task: Task, shop: str) -> None:
    declare(task)

    def lost() -> dict[str, list[str]]:
        return {name: vm["revisions_lost_by"] for name, vm in task.vms().items()}

    assert lost() == {"db": ["backup"], "web": ["backup", "snapshot"], "plain": ["backup", "snapshot"]}
    assert task("controller_revision", names=["web"], state="pinned", revision="current")["changed"]
    assert lost()["web"] == []


@pytest.mark.own_cluster
@pytest.mark.nightly("another release of KubeVirt")
def test_target_cluster_without_the_instancetype(task: Task, shop: str, oldest_cluster: Path) -> None:
    declare(task)
    place = f"there-{uuid.uuid4().hex[:8]}"
    result = task("virtual_machine_info", export={"target_namespace": place, "run_strategy": "Halted"})
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(config.new_client_from_config(str(oldest_cluster)))
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": place}})
        apply(dynamic.DynamicClient(connection, discoverer=Discoverer), result["manifests"])
    there = Task(oldest_cluster, place)
    here, after = expanded(task, shop), expanded(there, place)
    for name, template in here.items():
        guest = template["spec"]["domain"]
        # Up to 1.6 the defaults also request the memory.
        same = {**after[name]["spec"]["domain"], "resources": guest["resources"]}
        assert (same["cpu"], same["memory"], same["devices"]) == (guest["cpu"], guest["memory"], guest["devices"])
    there("virtual_machine_power", names=["web"], state="started", wait=True)
    guest = there.vm("web")["vmi"]["guest"]
    assert (guest["vcpus"], guest["memory"]) == (2, "4Gi")


def test_vms_that_cannot_be_exported(task: Task, api: Any, shop: str) -> None:
    declare(task)
    revisions = objects(api, "ControllerRevision")
    [web] = task("virtual_machine_info", names=["web"], export={})["virtual_machines"]
    revisions.delete(name=web["export"]["revisions"]["instancetype"], namespace=shop)
    failed = task.refused("virtual_machine_info", export={})
    assert failed["msg"].startswith(f"1 of 3 virtual machines cannot be exported: {shop}/web: instancetype: "), failed
    assert failed["manifests"] == []
    exports = {item["name"]: item["export"] for item in failed["virtual_machines"]}
    assert set(exports["web"]) == {"problem"} and set(exports["db"]) == {"revisions"}
    assert task("virtual_machine_info", names=["db"], export={})["manifests"]
