"""The warnings of the API server, which reach the users of all modules."""

from collections.abc import Callable
from typing import Any

import pytest
from kubernetes import client
from waiting import wait_until
from webhook_support import Manifest, Webhook

from modules_support import Task, live, objects, vm, warned

FROZEN = "this namespace is frozen from Friday on; ask platform@example.com"
VM_GROUP = "kubevirt.io"
TENANT = {
    "apiGroups": [VM_GROUP, "instancetype.kubevirt.io"],
    "resources": [
        "virtualmachines",
        "virtualmachineinstances",
        "virtualmachineinstancetypes",
        "virtualmachinepreferences",
    ],
    "verbs": ["get", "list", "watch", "create", "patch"],
}
# The webhook is on this machine.
local = pytest.mark.needs("cdi_here")


@pytest.fixture
def limit(task: Task, shop: str, api: Any) -> Any:
    """A limit of `shop` that permits no VM's instancetype, and only warns."""
    sizes = {"small": {"cpu": 1, "memory": "1Gi"}}
    catalog = {"source": "definitions", "definitions": [{"series": {shop: {"sizes": sizes}}}], "catalog": shop}
    limit = {"name": shop, "namespaces": [shop], "series": [shop], "action": "warn"}
    task("catalog", **catalog, limits=[limit])
    name = f"{shop}.small"

    def warns() -> bool:
        body = {
            "apiVersion": "kubevirt.io/v1",
            "kind": "VirtualMachine",
            "metadata": {"name": "probe"},
            "spec": {
                "instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"},
                "runStrategy": "Halted",
                "template": {"spec": {"domain": {"devices": {}}}},
            },
        }
        _body, _code, headers = client.CustomObjectsApi(api.client).create_namespaced_custom_object_with_http_info(
            VM_GROUP, "v1", shop, "virtualmachines", body, dry_run="All"
        )
        return "is not permitted here" in headers.get("Warning", "")

    wait_until(warns)
    yield name
    task("catalog", **catalog, state="absent", force=True)


def test_limit_that_warns(task: Task, shop: str, limit: str, user_with: Callable[..., dict[str, Any]]) -> None:
    """A tenant may not read policies; who may has it from the checks before the request, in the same words."""
    tenant = user_with(TENANT)
    entries = [vm(name, run_strategy="Halted") for name in ("one", "two")]
    for check in (True, False):
        (text,) = [
            text
            for text in warned(task("virtual_machine", virtual_machines=entries, **tenant, check=check))
            if "is not permitted here" in text
        ]
        assert text.startswith(f"{shop}/one, {shop}/two: Validation failed for ValidatingAdmissionPolicy"), text
        assert f"spec.instancetype.name: small is not permitted here; choose from {limit}" in text
    told = task("virtual_machine", virtual_machines=[{**entry, "labels": {"a": "b"}} for entry in entries])
    words = [text for text in warned(told) if "is not permitted here" in text]
    assert len(words) <= 1 and not any("Validation failed" in text for text in words), words
    # Nothing is sent, so nothing warns.
    assert (
        warned(task("virtual_machine", virtual_machines=[{**entry, "labels": {"a": "b"}} for entry in entries])) == []
    )


@local
def test_webhook_that_warns(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    hook.warnings = [FROZEN, 'with "quotes", a comma and a \\ in it']
    quoted = f"{shop}/web: {hook.warnings[1]}"
    for check in (True, False):
        made = task("virtual_machine", **vm("web"), wait=not check, check=check)
        assert warned(made) == [f"{shop}/web: {FROZEN}", quoted], made
    assert warned(task("instancetype", name="new", cpu={"guest": 1}, memory={"guest": "1Gi"})) == [
        f"{shop}/new: {FROZEN}",
        f"{shop}/new: {hook.warnings[1]}",
    ]
    assert (
        warned(task("preference", name="new", devices={"preferred_disk_bus": "virtio"}))[0] == f"{shop}/new: {FROZEN}"
    )
    # virt-api passes on what its own write of the VM is warned of, or not: the task has what reaches it.
    hook.warnings = [FROZEN]
    task("controller_revision", names=["web"])
    assert warned(task("virtual_machine", **vm("web", labels={"a": "b"}))) == [f"{shop}/web: {FROZEN}"]


@local
def test_refusal_with_warnings(task: Task, hook: Webhook, shop: str) -> None:
    def break_it(new: Manifest, _old: Manifest) -> None:
        new["spec"]["template"]["spec"]["volumes"] = [{"name": "lost", "emptyDisk": {"capacity": "none"}}]

    hook.warnings, hook.mutate = [FROZEN], break_it
    refused = task.refused("virtual_machine", **vm("web", run_strategy="Halted"))
    assert f"{shop}/web: {FROZEN}" in warned(refused), refused


def test_deprecation_of_kubevirt(task: Task, shop: str, api: Any) -> None:
    """`running` instead of a run strategy."""
    options = {**vm("web"), "spec": {"running": False}}
    for check in (True, False):
        texts = warned(task("virtual_machine", **options, check=check))
        assert any(text.startswith(f"{shop}/web: spec.running is deprecated") for text in texts), texts
    assert live(api, shop)["spec"]["running"] is False
    assert objects(api, "VirtualMachine").get(namespace=shop, name="web")


@local
def test_adoption_that_the_cluster_undoes(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    options = {"name": "web", "memory": "2Gi", "cpu": {"sockets": 1}, "run_strategy": "Halted"}
    task("virtual_machine", **options, volumes=[{"name": "root", "container_disk": "registry.example.com/disk:1"}])

    def keep(new: Manifest, old: Manifest) -> None:
        new["spec"] = old["spec"]

    hook.mutate = keep
    for check in (True, False):
        refused = task.refused("virtual_machine_adopt", instancetypes=["small"], preferences=[], check=check)
        assert f"spec.instancetype: MutatingWebhookConfiguration pool-{shop} does not let the object" in refused["msg"]
        assert not refused["changed"]
    assert "instancetype" not in live(api, shop)["spec"]


@local
def test_move_that_the_cluster_undoes(task: Task, hook: Webhook, shop: str, api: Any) -> None:
    task("virtual_machine", **vm("web", run_strategy="Halted"))
    wait_until(lambda: (task.vm("web").get("instancetype") or {}).get("revision"))

    def keep(new: Manifest, old: Manifest) -> None:
        if old and new["kind"] == "VirtualMachine":
            new["spec"]["instancetype"]["name"] = "small"

    hook.mutate = keep
    for check in (True, False):
        refused = task.refused(
            "controller_revision", state="moved", names=["web"], replace={"small": "medium"}, check=check
        )
        assert f"spec.instancetype.name: MutatingWebhookConfiguration pool-{shop} does not let" in refused["msg"]
        assert not refused["changed"], refused
    assert live(api, shop)["spec"]["instancetype"]["name"] == "small"
