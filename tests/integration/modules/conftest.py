"""Runs modules as Ansible does, in this process, against the cluster of the test run."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from old_discovery import Discoverer
from plugging_support import ROOT
from webhook_support import Webhook, webhook

from modules_support import Run, Task, await_right, claim_of, execute


@pytest.fixture
def run(cluster: Path) -> Run:
    """run(module, check=False, **options): the module's result on the cluster."""

    def one(module: str, /, *, check: bool = False, **options: Any) -> dict[str, Any]:
        if module == "boot_source" and options.get("wait"):
            # CDI retries at growing intervals, which takes minutes beside other tests.
            options.setdefault("wait_timeout", 400)
        return execute(module, {"kubeconfig": str(cluster), **options}, check=check)

    return one


@pytest.fixture
def task(cluster: Path, namespace: str) -> Task:
    """task(module, check=False, **options): the result of a task of the test's namespace, which may not fail."""
    return Task(cluster, namespace)


@pytest.fixture
def declare_volumes(task: Task, namespace: str, api: Any) -> Run:
    """declare_volumes(*volumes, **options): the result for a VM that has these besides its root disk."""
    for claim in ("one", "two"):
        claim_of(api, namespace, claim)

    def one(*volumes: dict[str, Any], **options: Any) -> dict[str, Any]:
        options = {"wait": True, "volumes": [ROOT, *volumes], **options}
        return task("virtual_machine", name="web", memory="1Gi", **options)

    return one


@pytest.fixture
def seen_vm(task: Task) -> Callable[[], dict[str, Any]]:
    """seen_vm(): the VM of declare_volumes as virtual_machine_info returns it."""
    return lambda: task.vm("web", "refresh")


@pytest.fixture
def shop(task: Task, namespace: str) -> str:
    """A namespace with three instancetypes and a preference that asks for 2Gi."""
    # With a maximum, so that its memory takes a restart whether or not guests can migrate.
    medium = {"guest": "4Gi", "max_guest": "4Gi"}
    sizes = {"tiny": (1, {"guest": "512Mi"}), "small": (1, {"guest": "2Gi"}), "medium": (2, medium)}
    instancetypes = [{"name": name, "cpu": {"guest": cpu}, "memory": memory} for name, (cpu, memory) in sizes.items()]
    task("instancetype", instancetypes=instancetypes)
    preference = {"devices": {"preferred_disk_bus": "virtio"}, "requirements": {"memory": {"guest": "2Gi"}}}
    task("preference", name="linux", **preference)
    return namespace


@pytest.fixture
def api(cluster: Path) -> Any:
    """The cluster without this collection: kubernetes' dynamic client."""
    with config.new_client_from_config(str(cluster)) as connection:
        yield dynamic.DynamicClient(connection, discoverer=Discoverer)


@pytest.fixture
def hook(cluster: Path, shop: str, tmp_path: Path) -> Iterator[Webhook]:
    """A webhook that sees the VMs, instancetypes, preferences and DataImportCrons of `shop`."""
    with config.new_client_from_config(str(cluster)) as connection, webhook(connection, shop, tmp_path) as hook:
        yield hook


@pytest.fixture
def user_with(cluster: Path, namespace: str) -> Callable[..., dict[str, Any]]:
    """user_with(rules): authentication options of a user who may do in the namespace what the RBAC rules say."""

    def made(*rules: dict[str, Any]) -> dict[str, Any]:
        name = f"{namespace}-user"
        with config.new_client_from_config(str(cluster)) as connection:
            rbac = client.RbacAuthorizationV1Api(connection)
            rbac.create_namespaced_role(namespace, {"metadata": {"name": name}, "rules": list(rules)})
            subject = {"kind": "User", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
            role = {"kind": "Role", "name": name, "apiGroup": "rbac.authorization.k8s.io"}
            rbac.create_namespaced_role_binding(
                namespace, {"metadata": {"name": name}, "roleRef": role, "subjects": [subject]}
            )
            for rule in rules:
                await_right(client.AuthorizationV1Api(connection), namespace, name, rule)
        return {"impersonate_user": name}

    return made
