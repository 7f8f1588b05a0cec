"""KubeVirt's and CDI's programs as parts of a cluster.

These tests start clusters of their own, whatever KUBECONFIG says. All but a few share one, which each finds running.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config
from waiting import wait_until

from local_cluster.processes import started

pytestmark = pytest.mark.own_cluster
KILLED = pytest.mark.nightly("kills of processes; test_launcher_lifecycle kills one each day")
FROZEN = pytest.mark.nightly("waits until the launcher gives up a process")

Launch = Callable[..., dict[str, Any]]
RESTARTED = ("virt-api", "virt-controller", "cdi", "node")
PARTS = {"control-plane", "supervisor", *RESTARTED}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, launch: Launch) -> Iterator[str]:
    """The state directory that most tests share, removed at the end."""
    path = str(tmp_path_factory.mktemp("kubevirt") / "cluster")
    yield path
    launch("stop", "--remove", "--dir", path)


@pytest.fixture
def directory(shared: str, launch: Launch) -> str:
    """The state directory of a running cluster without VMs."""
    launch("start", "--dir", shared)
    for name in _names(shared):
        with _objects(shared) as api:
            api.delete_namespaced_custom_object(*VMS, name)
    wait_until(lambda: not _names(shared))
    return shared


@pytest.fixture
def own(tmp_path: Path, launch: Launch) -> Iterator[str]:
    """A state directory of the test's own."""
    path = str(tmp_path / "cluster")
    yield path
    launch("stop", "--remove", "--dir", path)


def _processes(launch: Launch, directory: str) -> dict[str, int]:
    result: dict[str, int] = launch("status", "--dir", directory)["processes"]
    return result


def _machine(name: str, **spec: Any) -> dict[str, Any]:
    """A halted VM whose architecture only the mutating webhook writes."""
    template = {"spec": {"domain": {"memory": {"guest": "1Gi"}, "devices": {}}}}
    metadata = {"name": name}
    return {"metadata": metadata, "spec": {"runStrategy": "Halted", "template": template, **spec}, **VM}


def _is_defaulted(machine: dict[str, Any]) -> bool:
    return machine["spec"]["template"]["spec"].get("architecture") == "amd64"


VM = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine"}
VMS = ("kubevirt.io", "v1", "default", "virtualmachines")
INSTANCETYPES = ("instancetype.kubevirt.io", "v1beta1", "default", "virtualmachineinstancetypes")


def _size(name: str, memory: str = "1Gi") -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": name},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


@contextmanager
def _objects(directory: str) -> Iterator[client.CustomObjectsApi]:
    with config.new_client_from_config(f"{directory}/kubeconfig") as connection:
        yield client.CustomObjectsApi(connection)


def _create_vm(directory: str, name: str) -> None:
    with _objects(directory) as api:
        assert _is_defaulted(api.create_namespaced_custom_object(*VMS, _machine(name)))


def _names(directory: str) -> set[str]:
    with _objects(directory) as api:
        return {item["metadata"]["name"] for item in api.list_namespaced_custom_object(*VMS)["items"]}


def _guest(api: client.CustomObjectsApi) -> dict[str, Any]:
    """The status of the VMI `one`; {} without a VMI."""
    try:
        found = api.get_namespaced_custom_object(*VMS[:3], "virtualmachineinstances", "one")
    except client.ApiException:
        return {}
    return found.get("status") or {}


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: started(pid) is None)


def test_all_parts_run_and_webhooks_are_called(launch: Launch, directory: str) -> None:
    assert set(_processes(launch, directory)) == PARTS
    _create_vm(directory, "one")
    assert not launch("start", "--dir", directory)["changed"]


def test_killed_parts_are_started_again(launch: Launch, directory: str) -> None:
    def status() -> dict[str, Any]:
        return launch("status", "--dir", directory)

    before = status()
    for part in RESTARTED:
        _kill(before["processes"][part])
    wait_until(lambda: set(status()["restarts"]) == set(RESTARTED) and status()["state"] == "running")
    after = status()
    assert [after["restarts"][part]["count"] for part in RESTARTED] == [1] * len(RESTARTED)
    assert not {after["processes"][part] for part in RESTARTED} & set(before["processes"].values())
    assert after["processes"]["control-plane"] == before["processes"]["control-plane"]
    lines = Path(after["logs"]["supervisor"]).read_text().splitlines()
    assert len(lines) == len(RESTARTED) and all("started again, restart 1" in line for line in lines)
    with _objects(directory) as api:
        api.create_namespaced_custom_object(*VMS, _machine("one", runStrategy="Always"))
        wait_until(lambda: _guest(api).get("phase") == "Running")


def test_guest_migrates_to_the_other_node_and_back(directory: str) -> None:
    def place(api: client.CustomObjectsApi) -> str:
        """Where the guest is; "" while it is not ready."""
        status = _guest(api)
        ready = any((entry["type"], entry["status"]) == ("Ready", "True") for entry in status.get("conditions") or ())
        return str(status["nodeName"]) if ready else ""

    with _objects(directory) as api:
        api.create_namespaced_custom_object(*VMS, _machine("one", runStrategy="Always"))
        wait_until(lambda: place(api) == "node01")
        for node in ("node02", "node01"):
            kind = {"apiVersion": VM["apiVersion"], "kind": "VirtualMachineInstanceMigration"}
            migration = {**kind, "metadata": {"generateName": "one-"}, "spec": {"vmiName": "one"}}
            api.create_namespaced_custom_object(*VMS[:3], "virtualmachineinstancemigrations", migration)
            wait_until(lambda node=node: place(api) == node)


@KILLED
def test_killed_api_server_restarts_with_its_data(launch: Launch, directory: str) -> None:
    _create_vm(directory, "one")
    _kill(_processes(launch, directory)["control-plane"])
    wait_until(lambda: launch("status", "--dir", directory)["state"] == "running")
    after = launch("status", "--dir", directory)
    assert after["restarts"]["control-plane"]["count"] >= 1
    assert "the API server ended and was started again" in Path(after["logs"]["supervisor"]).read_text()
    _create_vm(directory, "two")
    assert _names(directory) == {"one", "two"}


@pytest.mark.parametrize(
    "killed",
    [
        ["virt-api"],
        *(pytest.param(some, marks=KILLED) for some in (["supervisor"], ["supervisor", "control-plane", "cdi"])),
    ],
)
def test_start_restarts_nothing_else(launch: Launch, directory: str, killed: list[str]) -> None:
    """A supervisor that has ended comes back, and the parts that it starts again are waited for."""
    before = _processes(launch, directory)
    for part in killed:
        _kill(before[part])
    if "supervisor" in killed:
        output = launch("status", "--dir", directory)
        assert output["state"] == "broken" and output["reason"].endswith("does not run")
    result = launch("start", "--dir", directory)
    # The supervisor may have been faster.
    assert result["changed"] or killed == ["virt-api"]
    assert launch("status", "--dir", directory)["state"] == "running"
    after = _processes(launch, directory)
    assert {part for part in before if before[part] != after[part]} == set(killed)
    assert not launch("start", "--dir", directory)["changed"]


def test_writes_fail_while_virt_api_is_down(launch: Launch, directory: str) -> None:
    _create_vm(directory, "one")
    _kill(_processes(launch, directory)["supervisor"])
    _kill(_processes(launch, directory)["virt-api"])
    assert launch("status", "--dir", directory)["reason"] == "virt-api does not run"
    with _objects(directory) as api:
        writes = (
            lambda: api.create_namespaced_custom_object(*VMS, _machine("two")),
            lambda: api.patch_namespaced_custom_object(*VMS, "one", {"spec": {"runStrategy": "Always"}}),
            lambda: api.create_namespaced_custom_object(*INSTANCETYPES, _size("refused")),
        )
        for write in writes:
            with pytest.raises(client.ApiException, match="failed calling webhook") as refused:
                write()
            assert refused.value.status == 500
        # Reading goes on, and shows that nothing came of it.
        machine = api.get_namespaced_custom_object(*VMS, "one")
        assert machine["spec"]["runStrategy"] == "Halted"
        result = api.list_namespaced_custom_object(*INSTANCETYPES)["items"]
        assert "refused" not in [item["metadata"]["name"] for item in result]
    assert _names(directory) == {"one"}
    launch("start", "--dir", directory)
    _create_vm(directory, "two")


@KILLED
def test_dying_virt_api_admits_no_invalid_vm(launch: Launch, directory: str) -> None:
    pid = _processes(launch, directory)["virt-api"]

    def create(number: int) -> int:
        try:
            with _objects(directory) as api:
                api.create_namespaced_custom_object(*VMS, _machine(f"vm-{number}"))
        except client.ApiException as error:
            assert error.status == 500
            return 1
        if number == 20:
            os.kill(pid, signal.SIGKILL)
        return 0

    with ThreadPoolExecutor(4) as pool:
        refused = sum(pool.map(create, range(60)))
    with _objects(directory) as api:
        stored = api.list_namespaced_custom_object(*VMS)["items"]
    assert refused > 0
    assert len(stored) == 60 - refused
    assert all(map(_is_defaulted, stored))


@pytest.mark.nightly(
    "a further option of the launcher; test_a_vm_under_each_reference_policy has the policies each day"
)
def test_reference_policy_changes_on_a_running_cluster(launch: Launch, directory: str) -> None:
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
    matcher = {"kind": "VirtualMachineInstancetype", "name": "size"}
    machine = _machine("one", instancetype=matcher, template={"spec": {"domain": {"devices": {}}}})
    with _objects(directory) as api:
        api.create_namespaced_custom_object(*INSTANCETYPES, _size("size", "3Gi"))
        api.create_namespaced_custom_object(*VMS, machine)
        wait_until(lambda: "instancetype" not in api.get_namespaced_custom_object(*VMS, "one")["spec"])
        result = api.get_namespaced_custom_object(*VMS, "one")
        assert result["spec"]["template"]["spec"]["domain"]["memory"]["guest"] == "3Gi"
    assert policy("--reference-policy", "reference")


@pytest.mark.nightly("KubeVirt's own strategy; test_sockets_are_plugged_in has the node's part each day")
def test_sockets_change_live_unless_changes_are_staged(launch: Launch, directory: str) -> None:
    def conditions(api: client.CustomObjectsApi, plural: str) -> set[str]:
        result = api.get_namespaced_custom_object(*VMS[:3], plural, "one").get("status") or {}
        return {entry["type"] for entry in result.get("conditions") or [] if entry["status"] == "True"}

    def sockets(api: client.CustomObjectsApi) -> int:
        result = api.get_namespaced_custom_object(*VMS[:3], "virtualmachineinstances", "one")
        return int((result["status"].get("currentCPUTopology") or {}).get("sockets") or 0)

    def give(api: client.CustomObjectsApi, number: int) -> None:
        spec = {"template": {"spec": {"domain": {"cpu": {"sockets": number}}}}}
        api.patch_namespaced_custom_object(*VMS, "one", {"spec": spec})

    def rollout(api: client.CustomObjectsApi, strategy: str) -> None:
        body = {"spec": {"configuration": {"vmRolloutStrategy": strategy}}}
        api.patch_namespaced_custom_object("kubevirt.io", "v1", "kubevirt", "kubevirts", "kubevirt", body)

    machine = _machine("one", runStrategy="Always")
    machine["spec"]["template"]["spec"]["domain"]["cpu"] = {"sockets": 1}
    with _objects(directory) as api:
        api.create_namespaced_custom_object(*VMS, machine)
        wait_until(lambda: "Ready" in conditions(api, "virtualmachines"))
        give(api, 2)
        wait_until(lambda: sockets(api) == 2)
        assert "RestartRequired" not in conditions(api, "virtualmachines")
        rollout(api, "Stage")
        try:
            number = 2

            def asks_for_a_restart() -> bool:
                # virt-controller learns of the strategy a moment later.
                nonlocal number
                number += 1
                give(api, number)
                time.sleep(1)
                return "RestartRequired" in conditions(api, "virtualmachines")

            wait_until(asks_for_a_restart)
        finally:
            rollout(api, "LiveUpdate")


@FROZEN
@pytest.mark.parametrize("part", ["virt-api", "node"])
def test_a_frozen_part_is_replaced(launch: Launch, directory: str, part: str) -> None:
    pid = _processes(launch, directory)[part]
    os.kill(pid, signal.SIGSTOP)
    title = "the node" if part == "node" else part
    assert launch("start", "--dir", directory)["reason"] == f"{title} does not answer"
    assert started(pid) is None
    _create_vm(directory, "one")


@KILLED
@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="there is no file system in memory")
def test_data_in_memory_survive_a_crash(launch: Launch, directory: str) -> None:
    _create_vm(directory, "one")
    before = _processes(launch, directory)
    assert launch("start", "--data", "memory", "--dir", directory)["reason"] == "the settings changed"
    assert not set(before.values()) & set(_processes(launch, directory).values())
    folder = Path(directory, "etcd").readlink()
    assert folder.parent == Path("/dev/shm")
    assert (folder / "member").is_dir()
    _kill(_processes(launch, directory)["control-plane"])
    launch("start", "--data", "memory", "--dir", directory)
    assert _names(directory) == {"one"}
    running = _processes(launch, directory)
    launch("stop", "--dir", directory)
    assert not folder.exists()
    assert {started(pid) for pid in running.values()} == {None}


def test_without_kubevirt_there_is_no_reference_policy(launch: Launch, tmp_path: Path) -> None:
    expected = ("start", "--no-kubevirt", "--reference-policy", "expand", "--dir", str(tmp_path / "cluster"))
    assert launch(*expected, check=False)["msg"].startswith("reference_policy: the cluster has no KubeVirt")
    assert not (tmp_path / "cluster").exists()


def test_unbuildable_release_is_reported(launch: Launch, tmp_path: Path) -> None:
    expected = ("start", "--kubevirt-version", "1.2.3", "--dir", str(tmp_path / "cluster"))
    assert launch(*expected, check=False)["msg"].startswith("kubevirt_version: 1.2.3 cannot be built; use one of 1.9.0")
    assert not (tmp_path / "cluster").exists()


def _begin(*arguments: str) -> subprocess.Popen[str]:
    """A launcher that works beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "local_cluster", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _recorded(directory: str) -> dict[str, int]:
    """Part → process number."""
    files = Path(directory, "run").glob("*.process.json")
    return {file.name.partition(".")[0]: json.loads(file.read_text())["pid"] for file in files}


@KILLED
def test_failed_first_start_does_not_block_next(launch: Launch, own: str) -> None:
    starting = _begin("start", "--dir", own)
    assert starting.stderr is not None
    next(line for line in starting.stderr if "installing KubeVirt" in line)
    time.sleep(0.5)
    starting.kill()
    starting.communicate()
    left = _recorded(own)
    assert started(left["control-plane"]) is not None
    # A part that dies while the cluster starts ends the start.
    starting = _begin("start", "--dir", own)
    wait_until(lambda: "virt-controller" in _recorded(own))
    running = _recorded(own)
    os.kill(running["virt-controller"], signal.SIGKILL)
    result, _unused = starting.communicate(timeout=180)
    assert json.loads(result)["msg"].startswith("virt-controller ended while starting: ")
    assert started(left["control-plane"]) is None
    assert {started(pid) for pid in running.values() if pid != starting.pid} == {None}
    assert launch("status", "--dir", own)["state"] == "stopped"
    assert launch("start", "--dir", own)["state"] == "running"
    _create_vm(own, "one")
