"""The KubeVirt emulation as a part of a cluster. These tests start clusters of their own, whatever KUBECONFIG says."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config

from local_cluster.processes import started

pytestmark = pytest.mark.own_cluster

Launch = Callable[..., dict[str, Any]]


@pytest.fixture
def directory(tmp_path: Path, launch: Launch) -> Iterator[str]:
    """The state directory of a running cluster with the emulation, removed after the test."""
    path = str(tmp_path / "cluster")
    launch("start", "--dir", path)
    yield path
    launch("stop", "--remove", "--dir", path)


def _processes(launch: Launch, directory: str) -> dict[str, int]:
    found: dict[str, int] = launch("status", "--dir", directory)["processes"]
    return found


def _machine(name: str, **spec: Any) -> dict[str, Any]:
    """A halted VM whose memory only the mutating webhook writes as 1Gi."""
    template = {"spec": {"domain": {"memory": {"guest": "1024Mi"}, "devices": {}}}}
    metadata = {"name": name}
    return {"metadata": metadata, "spec": {"runStrategy": "Halted", "template": template, **spec}, **VM}


def _memory(machine: dict[str, Any]) -> Any:
    return machine["spec"]["template"]["spec"]["domain"]["memory"]["guest"]


VM = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
VMS = ("kubevirt.io", "v1", "default", "virtualmachines")
INSTANCETYPES = ("instancetype.kubevirt.io", "v1beta1", "default", "virtualmachineinstancetypes")


@contextmanager
def _objects(directory: str) -> Iterator[client.CustomObjectsApi]:
    with config.new_client_from_config(f"{directory}/kubeconfig") as connection:
        yield client.CustomObjectsApi(connection)


def _create_vm(directory: str, name: str) -> None:
    with _objects(directory) as api:
        assert _memory(api.create_namespaced_custom_object(*VMS, _machine(name))) == "1Gi"


def _names(directory: str) -> set[str]:
    with _objects(directory) as api:
        return {item["metadata"]["name"] for item in api.list_namespaced_custom_object(*VMS)["items"]}


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    _until(lambda: started(pid) is None)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 180
    while not condition():
        assert time.monotonic() < deadline, "did not happen within 180 seconds"
        time.sleep(0.02)


def test_both_processes_run_and_webhooks_are_called(launch: Launch, directory: str) -> None:
    assert set(_processes(launch, directory)) == {"control-plane", "emulation"}
    _create_vm(directory, "one")
    assert not launch("start", "--dir", directory)["changed"]


@pytest.mark.parametrize("part", ["emulation", "control-plane"])
def test_a_killed_part_comes_back_with_the_data(launch: Launch, directory: str, part: str) -> None:
    _create_vm(directory, "one")
    _kill(_processes(launch, directory)[part])
    assert launch("status", "--dir", directory)["state"] == "broken"
    assert launch("start", "--dir", directory)["changed"]
    _create_vm(directory, "two")
    assert _names(directory) == {"one", "two"}


def test_without_the_emulation_nothing_is_written_past_its_webhooks(launch: Launch, directory: str) -> None:
    _create_vm(directory, "one")
    _kill(_processes(launch, directory)["emulation"])
    size = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "size"},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}},
    }
    with _objects(directory) as api:
        writes = (
            lambda: api.create_namespaced_custom_object(*VMS, _machine("two")),
            lambda: api.patch_namespaced_custom_object(*VMS, "one", {"spec": {"runStrategy": "Always"}}),
            lambda: api.create_namespaced_custom_object(*INSTANCETYPES, size),
        )
        for write in writes:
            with pytest.raises(client.ApiException, match="failed calling webhook") as refused:
                write()
            assert refused.value.status == 500
        # Reading goes on, and shows that nothing came of it.
        machine = api.get_namespaced_custom_object(*VMS, "one")
        assert machine["spec"]["runStrategy"] == "Halted"
        assert api.list_namespaced_custom_object(*INSTANCETYPES)["items"] == []
    assert _names(directory) == {"one"}
    launch("start", "--dir", directory)
    _create_vm(directory, "two")


def test_what_gets_in_while_the_emulation_dies_has_passed_its_webhooks(launch: Launch, directory: str) -> None:
    pid = _processes(launch, directory)["emulation"]

    def create(number: int) -> int:
        try:
            with _objects(directory) as api:
                api.create_namespaced_custom_object(*VMS, _machine(f"vm-{number}"))
        except client.ApiException as error:
            assert error.status == 500
            return 1
        if number == 40:
            os.kill(pid, signal.SIGKILL)
        return 0

    with ThreadPoolExecutor(4) as pool:
        refused = sum(pool.map(create, range(120)))
    with _objects(directory) as api:
        stored = api.list_namespaced_custom_object(*VMS)["items"]
    assert refused > 0
    assert len(stored) == 120 - refused
    assert {_memory(machine) for machine in stored} == {"1Gi"}


def test_the_reference_policy_is_changed_while_the_cluster_runs(launch: Launch, directory: str) -> None:
    def policy(*arguments: str) -> bool:
        return bool(launch("start", "--dir", directory, *arguments)["changed"])

    before = _processes(launch, directory)
    expand = ("--reference-policy", "expand")
    assert not policy("--reference-policy", "reference")
    assert policy(*expand, "--check")
    assert policy(*expand)
    assert not policy(*expand)
    assert not policy(*expand, "--check")
    assert not policy()
    assert _processes(launch, directory) == before
    size = {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "size"},
        "spec": {"cpu": {"guest": 2}, "memory": {"guest": "3Gi"}},
    }
    matcher = {"kind": "VirtualMachineInstancetype", "name": "size"}
    machine = _machine("one", instancetype=matcher, template={"spec": {"domain": {"devices": {}}}})
    with _objects(directory) as api:
        api.create_namespaced_custom_object(*INSTANCETYPES, size)
        api.create_namespaced_custom_object(*VMS, machine)
        _until(lambda: "instancetype" not in api.get_namespaced_custom_object(*VMS, "one")["spec"])
        assert _memory(api.get_namespaced_custom_object(*VMS, "one")) == "3Gi"


def test_sockets_change_live_unless_changes_are_staged(launch: Launch, directory: str) -> None:
    def conditions(api: client.CustomObjectsApi, plural: str) -> set[str]:
        found = api.get_namespaced_custom_object(*VMS[:3], plural, "one").get("status") or {}
        return {entry["type"] for entry in found.get("conditions") or [] if entry["status"] == "True"}

    def give(api: client.CustomObjectsApi, sockets: int) -> None:
        spec = {"template": {"spec": {"domain": {"cpu": {"sockets": sockets}}}}}
        api.patch_namespaced_custom_object(*VMS, "one", {"spec": spec})

    machine = _machine("one", runStrategy="Always")
    machine["spec"]["template"]["spec"]["domain"]["cpu"] = {"sockets": 1}
    with _objects(directory) as api:
        api.create_namespaced_custom_object(*VMS, machine)
        _until(lambda: "Ready" in conditions(api, "virtualmachines"))
        give(api, 2)
        _until(lambda: "HotVCPUChange" in conditions(api, "virtualmachineinstances"))
        _until(lambda: "HotVCPUChange" in conditions(api, "virtualmachines"))
        assert "RestartRequired" not in conditions(api, "virtualmachines")
        staged = {"spec": {"configuration": {"vmRolloutStrategy": "Stage"}}}
        place = ("kubevirt.io", "v1", "kubevirt", "kubevirts")
        generation = api.patch_namespaced_custom_object(*place, "kubevirt", staged)["metadata"]["generation"]
        _until(
            lambda: api.get_namespaced_custom_object(*place, "kubevirt")["status"]["observedGeneration"] == generation
        )
        give(api, 3)
        _until(lambda: "RestartRequired" in conditions(api, "virtualmachines"))


def test_without_kubevirt_there_is_no_reference_policy(launch: Launch, tmp_path: Path) -> None:
    wanted = ("start", "--no-emulation", "--reference-policy", "expand", "--dir", str(tmp_path / "cluster"))
    assert launch(*wanted, check=False)["msg"].startswith("reference_policy: the cluster does not emulate KubeVirt")
    assert not (tmp_path / "cluster").exists()


def test_two_clusters_keep_their_vms_apart(launch: Launch, directory: str, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    try:
        launch("start", "--kubevirt-version", "1.4.1", "--dir", other)
        _create_vm(directory, "one")
        _create_vm(other, "two")
        assert (_names(directory), _names(other)) == ({"one"}, {"two"})
        _kill(_processes(launch, other)["emulation"])
        _create_vm(directory, "three")
    finally:
        launch("stop", "--remove", "--dir", other)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no file system in memory")
def test_data_in_memory_outlive_a_crash_and_go_with_the_cluster(launch: Launch, directory: str) -> None:
    _create_vm(directory, "one")
    assert launch("start", "--data", "memory", "--dir", directory)["reason"] == "the settings changed"
    folder = Path(directory, "etcd").readlink()
    assert folder.parent == Path("/dev/shm")
    assert (folder / "member").is_dir()
    _kill(_processes(launch, directory)["control-plane"])
    launch("start", "--data", "memory", "--dir", directory)
    assert _names(directory) == {"one"}
    launch("stop", "--dir", directory)
    assert not folder.exists()


def test_a_frozen_emulation_is_replaced(launch: Launch, directory: str) -> None:
    pid = _processes(launch, directory)["emulation"]
    os.kill(pid, signal.SIGSTOP)
    assert launch("start", "--dir", directory)["reason"] == "the KubeVirt emulation does not answer"
    assert started(pid) is None
    _create_vm(directory, "one")


def test_another_release_of_kubevirt_is_another_cluster(launch: Launch, directory: str) -> None:
    before = _processes(launch, directory)
    result = launch("start", "--kubevirt-version", "1.4.1", "--dir", directory)
    assert result["reason"] == "the settings changed"
    assert result["kubevirt_version"] == "1.4.1"
    assert not set(before.values()) & set(_processes(launch, directory).values())


def test_stop_leaves_neither_process(launch: Launch, directory: str) -> None:
    before = _processes(launch, directory)
    launch("stop", "--dir", directory)
    assert [started(pid) for pid in before.values()] == [None, None]
