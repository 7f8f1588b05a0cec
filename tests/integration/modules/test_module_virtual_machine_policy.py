"""virtual_machine under settings of KubeVirt for all VMs: reference policies, permitted devices, live updates."""

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from old_discovery import Discoverer
from waiting import wait_until

from modules_support import Task, live, objects, vm, warned

pytestmark = pytest.mark.own_cluster

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def own_cluster(start_cluster: Callable[..., dict[str, Any]]) -> Path:
    """A cluster for these tests alone: the reference policy is that of all its VMs."""
    return Path(start_cluster("--name", "policies")["kubeconfig"])


def test_a_vm_under_each_reference_policy(own_cluster: Path) -> None:
    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection, discoverer=Discoverer)
        for policy in ("reference", "expand", "expandAll"):
            namespace = f"{policy.lower()}-{uuid.uuid4().hex[:8]}"
            client.CoreV1Api(connection).create_namespace({"metadata": {"name": namespace}})
            task = Task(own_cluster, namespace)
            sizes = [{"name": name, "cpu": {"guest": 1}, "memory": {"guest": memory}} for name, memory in SIZES]
            task("instancetype", instancetypes=sizes)
            task("preference", name="linux", devices={"preferred_disk_bus": "virtio"})
            _configure(api, {"instancetype": {"referencePolicy": policy}})
            _declared_again_and_changed(task, api, namespace, expanded=policy != "reference")


def _configure(api: Any, configuration: dict[str, Any]) -> None:
    _patch(api, {"configuration": configuration})


def _patch(api: Any, spec: dict[str, Any]) -> None:
    kubevirts = api.resources.get(api_version="kubevirt.io/v1", kind="KubeVirt")
    kubevirt = kubevirts.get().items[0].metadata
    kubevirts.patch(name=kubevirt.name, namespace=kubevirt.namespace, body={"spec": spec}, content_type=MERGE)


def test_a_device_that_kubevirt_does_not_permit(own_cluster: Path) -> None:
    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection, discoverer=Discoverer)
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": "devices"}})
        task = Task(own_cluster, "devices")
        gpu = {"name": "g", "device_name": "example.com/T4"}
        task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": "2Gi"}, gpus=[gpu])
        task("preference", name="linux", devices={"preferred_disk_bus": "virtio"})
        assert warned(task("virtual_machine", **vm("web"), check=True)) == []
        other = {"pciVendorSelector": "10DE:1111", "resourceName": "example.com/other"}
        _configure(api, {"permittedHostDevices": {"pciHostDevices": [other]}})
        told = "GPU example.com/T4 is not permitted in permittedHostDevices configuration"
        for check in (True, False):
            (warning,) = warned(task("virtual_machine", **vm("web"), check=check))
            assert warning.startswith(f"devices/web: spec.instancetype: {told}; KubeVirt accepts the VM"), warning
            assert warning.endswith("it lists example.com/other")

        def conditions() -> str:
            conditions = (live(api, "devices").get("status") or {}).get("conditions") or []
            return " ".join(str(condition.get("message")) for condition in conditions)

        wait_until(lambda: told in conditions())
        # The warning says that the VM starts once the device is listed.
        listed = [other, {**other, "resourceName": "example.com/T4"}]
        _configure(api, {"permittedHostDevices": {"pciHostDevices": listed}})
        wait_until(lambda: told not in conditions())


def test_sockets_that_nobody_migrates_are_not_awaited(own_cluster: Path) -> None:
    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection, discoverer=Discoverer)
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": "updates"}})
        task = Task(own_cluster, "updates")
        for name, cpus in (("small", 1), ("medium", 2)):
            task("instancetype", name=name, cpu={"guest": cpus}, memory={"guest": "2Gi"})
        task("preference", name="linux", devices={"preferred_disk_bus": "virtio"})
        # Others of these tests leave another policy.
        _configure(api, {"instancetype": None})
        _patch(api, {"workloadUpdateStrategy": {"workloadUpdateMethods": []}})
        assert warned(task("virtual_machine", **vm("web"), wait=True)) == []

        def under_way() -> bool:
            return "HotVCPUChange" in str(live(api, "updates")["status"]["conditions"])

        said = warned(task("virtual_machine", **vm("web", "medium"), wait=True))
        wait_until(under_way)
        # A run that changes nothing says so too.
        said += warned(task("virtual_machine", **vm("web", "medium"), wait=True))
        why = "only by a migration, which KubeVirt does not start by itself (workloadUpdateMethods without LiveMigrate)"
        assert [warning.partition(why)[0] for warning in said] == [
            "updates/web: the guest gets 2 sockets ",
            "updates/web: the guest gets its new sockets or memory ",
        ]
        task("virtual_machine_power", names=["web"], state="migrated", wait=True)
        wait_until(lambda: not under_way())
        assert warned(task("virtual_machine", **vm("web", "medium"), wait=True)) == []


SIZES = (("small", "2Gi"), ("medium", "4Gi"))


def _declared_again_and_changed(task: Task, api: Any, namespace: str, expanded: bool) -> None:
    def declare(**options: Any) -> dict[str, Any]:
        return task("virtual_machine", wait=True, **options)

    entry = vm("web", labels={"a": "1", "b": "2"})
    assert declare(**entry)["changed"]
    _await_policy(api, namespace, expanded)
    assert ("instancetype" in live(api, namespace)["spec"]) is not expanded
    for _time in range(2):
        assert not declare(**entry)["changed"], namespace
    labelled = vm("web", labels={"a": "3"})
    done = declare(**labelled)
    assert done["diff"][0]["after"] == {"metadata": {"labels": {"a": "3"}}}, done
    assert live(api, namespace)["metadata"]["labels"] == {"a": "3"}
    assert not declare(**labelled)["changed"]
    memory = live(api, namespace)["spec"]["template"]["spec"]["domain"].get("memory")
    assert memory == ({"guest": "2Gi"} if expanded else None)
    # The expanded VM does not follow the instancetype, and says so.
    done = declare(**vm("web", "medium", labels={"a": "3"}))
    assert done["changed"] is not expanded
    result = str(done["result"].get("warnings"))
    assert ("(1 vCPU, 2Gi); the instancetype now gives 1 vCPU, 4Gi" in result) is expanded
    own = {**vm("web", labels={"a": "3"}), "instancetype": None, "preference": None, "memory": "3Gi"}
    if expanded:
        refused = task.refused("virtual_machine", **own)
        assert '"virt-controller" owns spec.template.spec.domain.memory.guest' in refused["msg"]
    assert declare(**own, force_conflicts=True)["changed"]
    assert live(api, namespace)["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "3Gi"}
    assert not declare(**own)["changed"]


def _await_policy(api: Any, namespace: str, expanded: bool) -> None:
    """virt-controller expands a VM soon after it was made."""
    if not expanded:
        return
    for event in objects(api, "VirtualMachine").watch(namespace=namespace, timeout=60):
        if "instancetype" not in event["object"].to_dict()["spec"]:
            return
    raise AssertionError(f"the VM in {namespace} was not expanded")


def test_a_required_instancetype_is_expanded(own_cluster: Path) -> None:
    """Only virt-controller may replace it."""
    namespace = f"limits-{uuid.uuid4().hex[:8]}"
    task = Task(own_cluster, namespace)
    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection, discoverer=Discoverer)
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": namespace}})
        limit = {"name": namespace, "namespaces": [namespace], "require": ["instancetype"], "max_cpu": 1}
        definitions = [{"series": {namespace: {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}]
        task("catalog", source="definitions", definitions=definitions, catalog=namespace, limits=[limit])
        _configure(api, {"instancetype": {"referencePolicy": "expand"}})
        own = {"name": "own", "memory": "1Gi", "run_strategy": "Halted"}
        wait_until(
            lambda: (
                "denied request" in str(task.outcome("virtual_machine", **own, check=True, preflight="off").get("msg"))
            )
        )
        web = {"name": "web", "instancetype": {"name": f"{namespace}.small"}, "run_strategy": "Halted"}
        task("virtual_machine", **web)
        _await_policy(api, namespace, expanded=True)
        assert task.refused("virtual_machine", **own)["msg"].endswith(
            f"missing; write the name of one in a VirtualMachine (limit {namespace})"
        )
