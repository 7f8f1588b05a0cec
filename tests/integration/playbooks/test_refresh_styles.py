"""Refreshing on clusters that keep revisions in the status, in the spec as KubeVirt up to 1.4 did, or keep none.

These tests start a cluster of their own, whatever KUBECONFIG says: they change what holds for all of it.
"""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from waiting import wait_until

from fleet_support import Fleet

pytestmark = pytest.mark.own_cluster


OLDEST = pytest.param("1.4.0", marks=pytest.mark.nightly("another release of KubeVirt"))


@pytest.fixture(scope="module", params=[OLDEST, "1.9.0"])
def styled_cluster(request: pytest.FixtureRequest, start_cluster: Callable[..., dict[str, Any]]) -> Path:
    """The kubeconfig of a cluster with the names of captured revisions in the spec of VMs, or in their status.

    The policy of the second one is changed by tests, so that it is not shared.
    """
    if request.param == "1.4.0":
        oldest: Path = request.getfixturevalue("oldest_cluster")
        return oldest
    return Path(start_cluster("--kubevirt-version", request.param)["kubeconfig"])


@pytest.fixture
def style(request: pytest.FixtureRequest) -> str:
    return "spec" if request.node.callspec.params["styled_cluster"] == "1.4.0" else "status"


@pytest.fixture
def fleet(styled_cluster: Path, tmp_path: Path) -> Fleet:
    name = f"test-{uuid.uuid4().hex[:10]}"
    with config.new_client_from_config(str(styled_cluster)) as connection:
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": name}})
    made = Fleet(styled_cluster, name, tmp_path)
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
    result: dict[str, Any] | None = vm["spec"].get("instancetype")
    return result


def until_expanded(fleet: Fleet, *names: str) -> None:
    wait_until(lambda: not any(matcher(fleet, name) for name in names))


def test_each_transition_is_predicted_and_done_once(fleet: Fleet, style: str) -> None:
    fleet.create(4)
    before = fleet.power()
    restarting = {"restart": "if_required"}
    back = {"state": "pinned", "revision": "previous"}
    first = {name: item["instancetype"]["revision"] for name, item in fleet.revisions().items()}
    pinned = {"state": "pinned", "revisions": {name: {"instancetype": item} for name, item in first.items()}}
    fleet.size(1, "4Gi")
    # Up to 1.4 there is no pin to take out: what was rolled back is refreshed.
    unpinned = [({"state": "unpinned"}, 1, "2Gi")] if style == "status" else []
    for options, generation, memory in [
        ({}, 2, "4Gi"),
        (back, 1, "2Gi"),
        *unpinned,
        ({}, 2, "4Gi"),
        (pinned, 1, "2Gi"),
        *unpinned,
        ({"restart": "always"}, 2, "4Gi"),
        ({"state": "pruned"}, 2, "4Gi"),
    ]:
        options = {**restarting, **options}
        kept = (fleet.revisions(), fleet.kept())
        planned = fleet.run("controller_revision", check=True, **options)
        assert planned["changed"], (options, planned)
        assert (fleet.revisions(), fleet.kept()) == kept, options
        done = fleet.run("controller_revision", **options)
        assert [item["changed"] for item in done["results"]] == [True] * 4, (options, done)
        assert set(fleet.generations().values()) == {generation}, options
        assert set(fleet.memory().values()) == {memory}, options
        assert fleet.power() == before, options
        # Twice back would be further back.
        named = pinned if options.get("revision") else options
        again = fleet.run("controller_revision", **{**restarting, **named})
        assert not again["changed"], (options, again)
    assert not fleet.run("controller_revision", state="upgraded")["changed"]
    assert len(fleet.kept()) == 4


# KubeVirt 1.4 stages changes of a running VM unless it is told otherwise.
@pytest.mark.parametrize("styled_cluster", ["1.9.0"], indirect=True)
def test_sockets_are_plugged_in(fleet: Fleet) -> None:
    fleet.create(1)
    fleet.size(2, "2Gi")
    assert fleet.revisions()["vm-000"]["needs"] == "live_update"
    done = fleet.run("controller_revision", restart="if_required")
    assert [(item["needs"], item["restarted"]) for item in done["results"]] == [("live_update", False)], done
    assert fleet.vms()["vm-000"]["vmi"]["guest"]["vcpus"] == 2


@pytest.mark.parametrize("styled_cluster", [OLDEST], indirect=True)
def test_revision_name_in_spec_is_replaced(fleet: Fleet) -> None:
    fleet.create(4)
    before = fleet.power()
    first = fleet.revisions()["vm-000"]["instancetype"]
    assert (matcher(fleet, "vm-000") or {})["revisionName"] == first["revision"]
    assert not first["pinned"]
    fleet.size(1, "4Gi")

    planned = fleet.run("controller_revision", check=True)
    assert [item["changed"] for item in planned["results"]] == [True] * 4
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
    refused = fleet.run.refused("controller_revision", state="unpinned", names=["vm-000"])
    assert "use state: refreshed" in refused["msg"]

    output = fleet.refresh(batch_size=3, max_unavailable=3)
    assert "4 virtual machines: 4 refreshed" in output
    assert set(fleet.generations().values()) == {2}
    assert set(fleet.memory().values()) == {"4Gi"}
    assert fleet.power() == before
    assert len(fleet.kept()) == 8
    pruned = fleet.run("controller_revision", state="pruned")
    assert (pruned["changed"], len(fleet.kept())) == (True, 4), pruned
    assert not fleet.run("controller_revision", state="pruned")["changed"]
    output = fleet.refresh()
    assert "4 virtual machines: 4 unchanged" in output


@pytest.mark.parametrize("styled_cluster", [OLDEST], indirect=True)
def test_another_instancetype_removes_the_revision_name(fleet: Fleet) -> None:
    fleet.run("instancetype", name="large", cpu={"guest": 1}, memory={"guest": "4Gi"})

    def declare(**options: Any) -> dict[str, Any]:
        done = fleet.run("virtual_machine", name="web", wait=True, **options)
        assert not fleet.run("virtual_machine", name="web", wait=True, **options)["changed"]
        return {**done["result"], **(matcher(fleet, "web") or {})}

    for name, restart in (("fleet", "never"), ("large", "if_required")):
        result = declare(instancetype={"name": name, "kind": "VirtualMachineInstancetype"}, restart=restart)
        assert (result["name"], result["restarted"]) == (name, restart == "if_required")
        assert result["revisionName"] == result["instancetype_revision"]
        assert result["revisionName"].startswith(f"web-{name}-")
    own = declare(cpu={"cores": 2}, memory="1Gi")
    assert "revisionName" not in own and "instancetype_revision" not in own
    assert declare(instancetype={"name": "fleet", "kind": "VirtualMachineInstancetype"})["changed"]


# In KubeVirt 1.4 the policy has no effect without a feature gate.
@pytest.mark.parametrize("styled_cluster", ["1.9.0"], indirect=True)
@pytest.mark.parametrize("policy", ["expand", "expandAll"])
def test_expanded_vms_have_nothing_to_refresh(fleet: Fleet, policy: str) -> None:
    set_policy(fleet.kubeconfig, policy)
    try:
        fleet.create(2)
        until_expanded(fleet, "vm-000", "vm-001")
        fleet.size(1, "4Gi")
        for options in ({}, {"restart": "always"}, {"state": "unpinned"}, {"state": "upgraded"}, {"state": "pruned"}):
            assert not fleet.run("controller_revision", **options)["changed"]
        assert not any(item["drifted"] for item in fleet.revisions().values())
        output = fleet.refresh()
        assert "2 virtual machines: 2 unchanged" in output
    finally:
        set_policy(fleet.kubeconfig, "reference")


@pytest.mark.parametrize("styled_cluster", ["1.9.0"], indirect=True)
def test_refresh_expands_vms_older_than_the_policy(fleet: Fleet) -> None:
    fleet.create(2)
    before = fleet.power()
    fleet.size(1, "4Gi")
    set_policy(fleet.kubeconfig, "expand")
    try:
        done = fleet.run("controller_revision", restart="if_required")
        assert [(item["changed"], item["expanded"]) for item in done["results"]] == [(True, ["instancetype"])] * 2, done
        assert (fleet.power(), fleet.memory()) == (before, {"vm-000": "4Gi"})
        assert not fleet.run("controller_revision", restart="if_required")["changed"]
    finally:
        set_policy(fleet.kubeconfig, "reference")
