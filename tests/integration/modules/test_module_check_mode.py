"""Check mode on an API server: what it refuses fails the check, nothing is stored, the unknown is a warning."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client, config, dynamic
from old_discovery import Discoverer

from modules_support import Task, by_name, vm, warned
from plugins.module_utils._resolver.change.power import STATES

UNKNOWN = "check mode cannot tell whether an earlier task of the play creates it"
CHANGES = "check mode cannot tell whether an earlier task of the play changes that"
READ = ["get", "list"]


@pytest.fixture
def names(cluster: Path) -> Callable[[str, str], set[str]]:
    """names(plural, namespace): of the objects that are stored."""

    def found(plural: str, namespace: str) -> set[str]:
        group = "kubevirt.io" if plural == "virtualmachines" else "instancetype.kubevirt.io"
        version = "v1" if plural == "virtualmachines" else "v1beta1"
        with config.new_client_from_config(str(cluster)) as connection:
            objects = client.CustomObjectsApi(connection)
            items = objects.list_namespaced_custom_object(group, version, namespace, plural)["items"]
        return {item["metadata"]["name"] for item in items}

    return found


@pytest.fixture
def policy(cluster: Path, namespace: str) -> Iterator[None]:
    """A policy of the cluster: VMs of the namespace need the label team."""
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "resourceRules": [
                {
                    "apiGroups": ["kubevirt.io"],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["virtualmachines"],
                }
            ],
        },
        "validations": [{"expression": "has(object.metadata.labels) && 'team' in object.metadata.labels"}],
    }
    with config.new_client_from_config(str(cluster)) as connection:
        resources = dynamic.DynamicClient(connection, discoverer=Discoverer).resources
        binding = {"policyName": namespace, "validationActions": ["Deny"]}
        made = {"ValidatingAdmissionPolicy": spec, "ValidatingAdmissionPolicyBinding": binding}
        kinds = {kind: resources.get(api_version="admissionregistration.k8s.io/v1", kind=kind) for kind in made}
        for kind, content in made.items():
            kinds[kind].create({"metadata": {"name": namespace}, "spec": content})
        yield
        for kind in reversed(kinds):
            kinds[kind].delete(namespace)


def test_webhook_refusal_fails_the_check(task: Task, shop: str, names: Any) -> None:
    entries = [vm("fine"), vm("poor", "tiny")]
    checked = task.refused(
        "virtual_machine", check=True, virtual_machines=entries, preflight="off", run_strategy="Halted"
    )
    result = by_name(checked["results"])
    assert (result["fine"]["changed"], result["poor"]["changed"]) == (True, False)
    assert "insufficient Memory resources" in result["poor"]["msg"]
    assert names("virtualmachines", shop) == set()
    trusting = task("virtual_machine", check=True, virtual_machines=entries, preflight="off", server_dry_run=False)
    assert [item["changed"] for item in trusting["results"]] == [True] * 2


def test_schema_refusal_fails_the_check(task: Task, shop: str, names: Any) -> None:
    checked = task.refused(
        "instancetype", check=True, name="odd", cpu={"guest": 1}, memory={"guest": "1Gi", "overcommit_percent": 120}
    )
    assert "overcommitPercent" in checked["msg"]
    assert "odd" not in names("virtualmachineinstancetypes", shop)


def test_policy_refusal_fails_the_check(task: Task, shop: str, policy: None) -> None:
    for _attempt in range(100):
        checked = task.outcome("virtual_machine", check=True, virtual_machines=[vm("web")])
        if checked.get("failed"):
            break
        time.sleep(0.2)  # a new policy counts a little later
    assert checked["failed"] and "ValidatingAdmissionPolicy" in checked["msg"], checked
    assert task("virtual_machine", check=True, virtual_machines=[vm("web", labels={"team": "a"})])["changed"]


def test_a_check_of_a_deletion_deletes_nothing(task: Task, shop: str, names: Any) -> None:
    checked = task("instancetype", check=True, name="medium", state="absent")
    assert (checked["changed"], checked["result"]["action"]) == (True, "delete")
    assert "medium" in names("virtualmachineinstancetypes", shop)


def test_a_change_is_checked_and_not_stored(task: Task, shop: str) -> None:
    task("virtual_machine", virtual_machines=[vm("web", run_strategy="Halted")])
    assert task("virtual_machine", check=True, virtual_machines=[vm("web", "medium")])["changed"]
    assert not task("virtual_machine", check=True, virtual_machines=[vm("web")])["changed"]


def test_object_of_earlier_task_gives_a_warning(task: Task) -> None:
    nowhere = "test-nowhere"
    checked = task("virtual_machine", check=True, namespace=nowhere, virtual_machines=[vm("web"), vm("db")])
    assert checked["msg"] == "2 virtual machines: would be 2 created"
    warnings = "\n".join(str(item) for item in checked["warnings"])
    assert f'namespaces "{nowhere}" not found; {UNKNOWN}' in warnings
    assert 'virtualmachineinstancetypes.instancetype.kubevirt.io "small" not found; the cluster has 0' in warnings
    # One warning for all that have it.
    assert len(checked["warnings"]) == 3
    task.refused("virtual_machine", namespace=nowhere, virtual_machines=[vm("web")], retry_timeout=0)


def test_check_without_write_rights_predicts_locally(
    task: Task, shop: str, user_with: Callable[..., dict[str, Any]]
) -> None:
    reader = user_with(
        {"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": READ},
        {"apiGroups": ["instancetype.kubevirt.io"], "resources": ["*"], "verbs": READ},
    )
    entries = [vm("fine"), vm("poor", "tiny")]
    checked = task.refused("virtual_machine", check=True, virtual_machines=entries, **reader)
    result = by_name(checked["results"])
    assert result["fine"]["changed"] and "insufficient Memory resources" in result["poor"]["msg"]
    (warning,) = [item for item in result["fine"]["warnings"] if "the dry run could not check the object" in item]
    assert 'grant {apiGroups: ["kubevirt.io"], resources: ["virtualmachines"], verbs: ["create", "patch"]}' in warning


@pytest.mark.parametrize("absent", ["instancetype", "preference"])
def test_denial_because_of_absent_object_is_a_warning(task: Task, absent: str) -> None:
    """In a first run, an earlier task of the play makes what the VM needs: memory, or the firmware for secure boot."""
    if absent == "instancetype":
        guest = {"requirements": {"memory": {"guest": "2Gi"}}}
        task("preference", name="linux", **guest)
        entry = vm("fresh", "nothing")
    else:
        task("instancetype", name="small", cpu={"guest": 1}, memory={"guest": "2Gi"})
        secure = {"firmware": {"bootloader": {"efi": {"secureBoot": True}}}}
        entry = vm("fresh", template={"spec": {"domain": secure}})
    foretold = task("virtual_machine", check=True, **entry)
    assert foretold["changed"], foretold
    missing, denied = warned(foretold)[:2]
    assert "not found" in missing and UNKNOWN in missing
    assert "the dry run was denied, perhaps because of what does not exist yet" in denied
    refused = task.refused("virtual_machine", **entry)
    assert "not found" in refused["msg"], refused


def test_vms_of_an_earlier_task_are_operated_on(task: Task, shop: str) -> None:
    new = {"names": ["new"]}
    tasks: list[tuple[str, dict[str, Any]]] = [
        *(("virtual_machine_power", {**new, "state": state}) for state in STATES),
        ("virtual_machine_power", {"label_selectors": ["app=new"], "state": "started"}),
        ("controller_revision", new),
        ("controller_revision", {**new, "restart": "always"}),
        ("controller_revision", {**new, "state": "pinned", "revision": "previous"}),
        ("virtual_machine_adopt", new),
        ("virtual_machine_info", {**new, "export": {}}),
    ]
    for module, options in tasks:
        checked = task(module, check=True, **options)
        assert not checked["changed"]
        (problem,) = [text.removesuffix(f"; {UNKNOWN}") for text in warned(checked) if text.endswith(UNKNOWN)]
        assert task.refused(module, **options)["msg"] == problem
    estate = {"source": "cluster"}
    assert warned(task("estate_info", check=True, **estate)) == [f"source: cluster: has no machine; {UNKNOWN}"]
    assert task.refused("estate_info", **estate)["msg"] == "source: cluster: has no machine"
    nowhere = {"namespace": "test-nowhere"}
    for module, options in (*tasks, ("controller_revision", {"state": "pruned"})):
        assert warned(task(module, check=True, **options, **nowhere))[0].endswith(UNKNOWN)


def test_states_of_an_earlier_task_are_operated_on(task: Task, shop: str) -> None:
    task("virtual_machine", virtual_machines=[vm("web", run_strategy="Halted")], wait=True)
    for state in set(STATES) - {"started", "stopped"}:
        checked = task("virtual_machine_power", check=True, names=["web"], state=state)
        assert (checked["changed"], warned(checked)) == (False, [f"{shop}/web: the VM is not running; {CHANGES}"])
    assert task.refused("virtual_machine_power", names=["web"], state="paused")["msg"].endswith("not found")
    changes: list[dict[str, Any]] = [
        {"state": "pinned", "revision": "nowhere"},
        {"state": "pinned", "revision": "previous"},
        {"state": "moved", "replace": {"small": "nowhere"}},
    ]
    for change in changes:
        checked = task("controller_revision", check=True, names=["web"], **change)
        assert not checked["changed"] and warned(checked)[0].endswith(CHANGES)
        task.refused("controller_revision", names=["web"], **change)


def test_boot_sources_of_what_an_earlier_task_creates(task: Task, shop: str) -> None:
    image = {"name": "image", "image": "registry.invalid/image:1", "size": "1Gi", "secret_ref": "pull"}
    labeled = {"name": "claim", "state": "labeled", "kind": "PersistentVolumeClaim", "preference": {"name": "linux"}}
    for options in (image, labeled):
        assert warned(task("boot_source", check=True, **options))[0].endswith(UNKNOWN)
        assert "there is no" in task.refused("boot_source", **options)["msg"]
