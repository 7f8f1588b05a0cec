"""virtual_machine_info, export: the same guest in another namespace, on another cluster, and on an older KubeVirt."""

import contextlib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic

from modules_support import execute, server_side_apply, vm

Run = Callable[..., dict[str, Any]]
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


def expanded(run: Run, namespace: str) -> dict[str, Manifest]:
    """The VMs as KubeVirt expands them, without their own fields."""
    result = run("virtual_machine_info", namespace=namespace, include=["expansion"])["virtual_machines"]
    assert all(item["expansion"]["equal"] for item in result), result
    return {item["name"]: item["expansion"]["server"]["template"] for item in result}


def declare(run: Run, namespace: str) -> None:
    run("instancetype", namespace=namespace, name="medium", **SIZE)
    preference = {"devices": {"preferred_disk_bus": "sata"}}
    run("preference", namespace=namespace, name="linux", **preference)
    stopped = {"run_strategy": "Halted"}
    made = run(
        "virtual_machine",
        namespace=namespace,
        virtual_machines=[vm("db", "medium"), vm("web", "medium", **stopped), vm("plain", preference=None, **stopped)],
        wait=True,
    )
    assert not made.get("failed"), made
    # The VMs have captured deleted objects from here on.
    for name, value in {"preferred_disk_bus": "virtio"}.items():
        assert run("preference", namespace=namespace, name="linux", devices={name: value})["changed"]
    changed = run("instancetype", namespace=namespace, name="medium", cpu={"guest": 1}, memory={"guest": "1Gi"})
    assert changed["changed"], changed


def test_namespace_with_different_instancetype_of_same_name(run: Run, api: Any, shop: str) -> None:
    other = f"{shop}-other"
    spaces = api.resources.get(api_version="v1", kind="Namespace")
    spaces.create({"metadata": {"name": other}})
    try:
        declare(run, shop)
        before = expanded(run, shop)
        matches = run("virtual_machine_info", namespace=shop, export={"target_namespace": other})
        assert not matches["changed"]
        exports = {item["name"]: item["export"]["revisions"] for item in matches["virtual_machines"]}
        assert set(exports["db"]) == {"instancetype", "preference"} and set(exports["plain"]) == {"instancetype"}
        run("instancetype", namespace=other, name="medium", cpu={"guest": 8}, memory={"guest": "16Gi"})
        written = matches["manifests"]
        assert [item["kind"] for item in written[-3:]] == ["VirtualMachine"] * 3

        # Stopped VMs are not written by virt-controller in between.
        still = [item for item in written if item["metadata"]["name"] != "db"]
        apply(api, written)
        seen = run("virtual_machine", namespace=other, name="db", run_strategy="Always", wait=True)
        assert not seen.get("failed"), seen
        assert apply(api, still) == apply(api, still)
        assert expanded(run, other) == before
        result = {item["name"]: item for item in run("virtual_machine_info", namespace=other)["virtual_machines"]}
        assert (result["db"]["vmi"]["guest"]["vcpus"], result["db"]["vmi"]["guest"]["memory"]) == (2, "4Gi")
        assert [item["revisions_lost_by"] for item in result.values()] == [[], [], []]

        # The VM is one of the other namespace from here on.
        unpinned = run("controller_revision", namespace=other, state="unpinned")
        assert not unpinned.get("failed"), unpinned
        assert expanded(run, other) == before
        refreshed = run("controller_revision", namespace=other, names=["web"])
        assert refreshed["changed"], refreshed
        assert expanded(run, other)["web"]["spec"]["domain"]["cpu"]["sockets"] == 8
    finally:
        spaces.delete(name=other)


def test_vms_without_snapshot_copies(run: Run, shop: str) -> None:
    declare(run, shop)

    def lost() -> dict[str, list[str]]:
        result = run("virtual_machine_info", namespace=shop)["virtual_machines"]
        return {item["name"]: item["revisions_lost_by"] for item in result}

    assert lost() == {"db": ["backup"], "web": ["backup", "snapshot"], "plain": ["backup", "snapshot"]}
    assert run("controller_revision", namespace=shop, names=["web"], state="pinned", revision="current")["changed"]
    assert lost()["web"] == []


@pytest.mark.own_cluster
@pytest.mark.nightly("another release of KubeVirt")
def test_target_cluster_without_the_instancetype(run: Run, shop: str, oldest_cluster: Path) -> None:
    declare(run, shop)
    place = f"there-{uuid.uuid4().hex[:8]}"
    result = run("virtual_machine_info", namespace=shop, export={"target_namespace": place, "run_strategy": "Halted"})
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(config.new_client_from_config(str(oldest_cluster)))
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": place}})
        apply(dynamic.DynamicClient(connection), result["manifests"])

    def there(module: str, **options: Any) -> dict[str, Any]:
        return execute(module, {"kubeconfig": str(oldest_cluster), **options})

    here, after = expanded(run, shop), expanded(there, place)
    for name, template in here.items():
        guest = template["spec"]["domain"]
        # Up to 1.6 the defaults also request the memory.
        same = {**after[name]["spec"]["domain"], "resources": guest["resources"]}
        assert (same["cpu"], same["memory"], same["devices"]) == (guest["cpu"], guest["memory"], guest["devices"])
    started = there("virtual_machine_power", namespace=place, names=["web"], state="started", wait=True)
    assert not started.get("failed"), started
    (web,) = there("virtual_machine_info", namespace=place, names=["web"])["virtual_machines"]
    assert (web["vmi"]["guest"]["vcpus"], web["vmi"]["guest"]["memory"]) == (2, "4Gi")


def test_vms_that_cannot_be_exported(run: Run, api: Any, shop: str) -> None:
    declare(run, shop)
    revisions = api.resources.get(api_version="apps/v1", kind="ControllerRevision")
    [web] = run("virtual_machine_info", namespace=shop, names=["web"], export={})["virtual_machines"]
    revisions.delete(name=web["export"]["revisions"]["instancetype"], namespace=shop)
    failed = run("virtual_machine_info", namespace=shop, export={})
    assert failed["msg"].startswith(f"1 of 3 virtual machines cannot be exported: {shop}/web: instancetype: "), failed
    assert (failed["failed"], failed["manifests"]) == (True, [])
    exports = {item["name"]: item["export"] for item in failed["virtual_machines"]}
    assert set(exports["web"]) == {"problem"} and set(exports["db"]) == {"revisions"}
    assert run("virtual_machine_info", namespace=shop, names=["db"], export={})["manifests"]
