"""Refreshing on clusters that keep revisions as KubeVirt up to 1.4 did, or keep none.

These tests start a cluster of their own, whatever KUBECONFIG says: they change what holds for all of it.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from fleet_support import Fleet

Launch = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def old_cluster(launch: Launch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of a cluster with the revisions' names in the spec of VMs."""
    path = str(tmp_path_factory.mktemp("styles") / "cluster")
    yield Path(launch("start", "--revision-style", "spec", "--dir", path)["kubeconfig"])
    launch("stop", "--remove", "--dir", path)


@pytest.fixture
def fleet(old_cluster: Path, tmp_path: Path) -> Fleet:
    name = f"test-{uuid.uuid4().hex[:10]}"
    with config.new_client_from_config(str(old_cluster)) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": name}})
    made = Fleet(old_cluster, name, tmp_path)
    made.size(1, "2Gi")
    return made


def set_policy(kubeconfig: Path, policy: str) -> None:
    patch = {"spec": {"configuration": {"instancetype": {"referencePolicy": policy}}}}
    with config.new_client_from_config(str(kubeconfig)) as connection:
        api = client.CustomObjectsApi(connection)
        api.patch_namespaced_custom_object("kubevirt.io", "v1", "kubevirt", "kubevirts", "kubevirt", patch)


def matcher(fleet: Fleet, name: str) -> dict[str, Any] | None:
    with config.new_client_from_config(str(fleet.kubeconfig)) as connection:
        api = client.CustomObjectsApi(connection)
        vm = api.get_namespaced_custom_object("kubevirt.io", "v1", fleet.namespace, "virtualmachines", name)
    found: dict[str, Any] | None = vm["spec"].get("instancetype")
    return found


def test_the_name_in_the_spec_is_taken_out_and_comes_back_new(fleet: Fleet) -> None:
    fleet.create(4)
    before = fleet.power()
    first = fleet.revisions()["vm-000"]["instancetype"]
    assert (matcher(fleet, "vm-000") or {})["revisionName"] == first["revision"]
    assert not first["pinned"]
    fleet.size(1, "4Gi")

    planned = fleet.run("controller_revision", _ansible_check_mode=True)
    assert [one["changed"] for one in planned["results"]] == [True] * 4
    done = fleet.run("controller_revision", names=["vm-000"], restart="if_required")
    assert (done["changed"], done["results"][0]["restarted"]) == (True, True), done
    second = done["results"][0]["revisions"]["instancetype"]
    assert second.endswith("-2")
    assert (matcher(fleet, "vm-000") or {})["revisionName"] == second
    assert fleet.memory()["vm-000"] == "4Gi"
    assert not fleet.run("controller_revision", names=["vm-000"], restart="if_required")["changed"]

    back = {"state": "pinned", "names": ["vm-000"], "restart": "if_required"}
    assert fleet.run("controller_revision", revision="previous", **back)["changed"]
    assert fleet.memory()["vm-000"] == "2Gi"
    assert not fleet.run("controller_revision", revision=first["revision"], **back)["changed"]
    refused = fleet.run("controller_revision", state="unpinned", names=["vm-000"])
    assert "use state: refreshed" in refused["msg"]

    code, output = fleet.refresh(batch_size=3, max_unavailable=3)
    assert code == 0, output
    assert "4 virtual machines: 4 refreshed" in output
    assert set(fleet.generations().values()) == {2}
    assert set(fleet.memory().values()) == {"4Gi"}
    assert fleet.power() == before
    assert len(fleet.kept()) == 8
    pruned = fleet.run("controller_revision", state="pruned")
    assert (pruned["changed"], len(fleet.kept())) == (True, 4), pruned
    assert not fleet.run("controller_revision", state="pruned")["changed"]
    code, output = fleet.refresh()
    assert code == 0, output
    assert "4 virtual machines: 4 unchanged" in output


@pytest.mark.parametrize("policy", ["expand", "expandAll"])
def test_expanded_vms_have_nothing_to_refresh(fleet: Fleet, policy: str) -> None:
    set_policy(fleet.kubeconfig, policy)
    try:
        fleet.create(2)
        while any(matcher(fleet, name) for name in ("vm-000", "vm-001")):
            pass
        fleet.size(1, "4Gi")
        for options in ({}, {"restart": "always"}, {"state": "unpinned"}, {"state": "upgraded"}, {"state": "pruned"}):
            done = fleet.run("controller_revision", **options)
            assert not done.get("failed"), done
            assert not done["changed"], done
        assert not any(one["drifted"] for one in fleet.revisions().values())
        code, output = fleet.refresh()
        assert code == 0, output
        assert "2 virtual machines: 2 unchanged" in output
    finally:
        set_policy(fleet.kubeconfig, "reference")
