"""virtual_machine on a cluster that puts what instancetype and preference stand for in the place of them."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from waiting import wait_until

from modules_support import execute, vm

pytestmark = pytest.mark.own_cluster

MERGE = "application/merge-patch+json"


@pytest.fixture(scope="module")
def own_cluster(launch: Callable[..., dict[str, Any]], run_cluster: tuple[str, ...]) -> Iterator[Path]:
    """A cluster for these tests alone: the reference policy is that of all its VMs."""
    _name, _tests, _dir, folder = run_cluster
    which = ("--name", "policies", "--dir", f"{folder}-policies")
    yield Path(launch("start", *which)["kubeconfig"])
    launch("stop", "--remove", *which)


def test_a_vm_under_each_reference_policy(own_cluster: Path) -> None:
    def run(module: str, **options: Any) -> dict[str, Any]:
        return execute(module, {"kubeconfig": str(own_cluster), **options})

    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection)
        kubevirts = api.resources.get(api_version="kubevirt.io/v1", kind="KubeVirt")
        kubevirt = kubevirts.get().items[0].metadata
        vms = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
        for policy in ("reference", "expand", "expandAll"):
            namespace = f"{policy.lower()}-{uuid.uuid4().hex[:8]}"
            client.CoreV1Api(connection).create_namespace({"metadata": {"name": namespace}})
            sizes = [{"name": name, "cpu": {"guest": 1}, "memory": {"guest": memory}} for name, memory in SIZES]
            assert run("instancetype", namespace=namespace, instancetypes=sizes)["changed"]
            assert run("preference", namespace=namespace, name="linux", devices={"preferred_disk_bus": "virtio"})[
                "changed"
            ]
            kubevirts.patch(
                name=kubevirt.name,
                namespace=kubevirt.namespace,
                body={"spec": {"configuration": {"instancetype": {"referencePolicy": policy}}}},
                content_type=MERGE,
            )
            _declared_again_and_changed(run, vms, namespace, expanded=policy != "reference")


SIZES = (("small", "2Gi"), ("medium", "4Gi"))


def _declared_again_and_changed(run: Callable[..., Any], vms: Any, namespace: str, expanded: bool) -> None:
    def declare(**options: Any) -> dict[str, Any]:
        done: dict[str, Any] = run("virtual_machine", namespace=namespace, wait=True, **options)
        assert not done.get("failed"), (namespace, done["msg"])
        return done

    def live() -> dict[str, Any]:
        matches: dict[str, Any] = vms.get(name="web", namespace=namespace).to_dict()
        return matches

    entry = vm("web", labels={"a": "1", "b": "2"})
    assert declare(**entry)["changed"]
    _await_policy(vms, namespace, expanded)
    assert ("instancetype" in live()["spec"]) is not expanded
    for _time in range(2):
        assert not declare(**entry)["changed"], namespace
    labelled = vm("web", labels={"a": "3"})
    done = declare(**labelled)
    assert done["diff"][0]["after"] == {"metadata": {"labels": {"a": "3"}}}, done
    assert live()["metadata"]["labels"] == {"a": "3"}
    assert not declare(**labelled)["changed"]
    memory = live()["spec"]["template"]["spec"]["domain"].get("memory")
    assert memory == ({"guest": "2Gi"} if expanded else None)
    # The expanded VM does not follow the instancetype, and says so.
    done = declare(**vm("web", "medium", labels={"a": "3"}))
    assert done["changed"] is not expanded
    result = str(done["result"].get("warnings"))
    assert ("(1 vCPU, 2Gi); the instancetype now gives 1 vCPU, 4Gi" in result) is expanded
    own = {**vm("web", labels={"a": "3"}), "instancetype": None, "preference": None, "memory": "3Gi"}
    if expanded:
        refused = run("virtual_machine", namespace=namespace, **own)
        assert '"virt-controller" owns spec.template.spec.domain.memory.guest' in refused["msg"]
    assert declare(**own, force_conflicts=True)["changed"]
    assert live()["spec"]["template"]["spec"]["domain"]["memory"] == {"guest": "3Gi"}
    assert not declare(**own)["changed"]


def _await_policy(vms: Any, namespace: str, expanded: bool) -> None:
    """virt-controller expands a VM soon after it was made."""
    if not expanded:
        return
    for event in vms.watch(namespace=namespace, timeout=60):
        if "instancetype" not in event["object"].to_dict()["spec"]:
            return
    raise AssertionError(f"the VM in {namespace} was not expanded")


def test_a_required_instancetype_is_expanded(own_cluster: Path) -> None:
    """Only virt-controller may replace it."""

    def run(module: str, check: bool = False, **options: Any) -> dict[str, Any]:
        return execute(module, {"kubeconfig": str(own_cluster), **options}, check=check)

    namespace = f"limits-{uuid.uuid4().hex[:8]}"
    with config.new_client_from_config(str(own_cluster)) as connection:
        api = dynamic.DynamicClient(connection)
        kubevirts = api.resources.get(api_version="kubevirt.io/v1", kind="KubeVirt")
        kubevirt = kubevirts.get().items[0].metadata
        vms = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
        client.CoreV1Api(connection).create_namespace({"metadata": {"name": namespace}})
        limit = {"name": namespace, "namespaces": [namespace], "require": ["instancetype"], "max_cpu": 1}
        definitions = [{"series": {namespace: {"sizes": {"small": {"cpu": 1, "memory": "2Gi"}}}}}]
        done = run("catalog", source="definitions", definitions=definitions, catalog=namespace, limits=[limit])
        assert not done.get("failed"), done
        patch = {"spec": {"configuration": {"instancetype": {"referencePolicy": "expand"}}}}
        kubevirts.patch(name=kubevirt.name, namespace=kubevirt.namespace, body=patch, content_type=MERGE)
        own = {"name": "own", "namespace": namespace, "memory": "1Gi", "run_strategy": "Halted"}
        wait_until(
            lambda: "denied request" in str(run("virtual_machine", **own, check=True, preflight="off").get("msg"))
        )
        web = {"name": "web", "instancetype": {"name": f"{namespace}.small"}, "run_strategy": "Halted"}
        done = run("virtual_machine", namespace=namespace, **web)
        assert not done.get("failed"), done
        _await_policy(vms, namespace, expanded=True)
        assert run("virtual_machine", **own)["msg"].endswith(
            f"missing; write the name of one in a VirtualMachine (limit {namespace})"
        )
