"""Support of the modules' tests: runs of a module, and VMs to declare."""

import contextlib
import importlib
import io
import json
import time
from types import SimpleNamespace
from typing import Any
from unittest import mock

from ansible.module_utils import basic
from ansible.module_utils.common import warnings
from ansible.module_utils.common.parameters import PASS_VARS
from ansible.release import __version__
from kubernetes import client, dynamic

try:
    from ansible.module_utils import _internal
    from ansible.module_utils.testing import patch_module_args
except ImportError:  # ansible-core 2.18 and before
    _internal = SimpleNamespace(is_controller=False)

    def patch_module_args(arguments: dict[str, Any]) -> Any:
        return mock.patch.object(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode())


ANSIBLE_CORE = tuple(int(part) for part in __version__.split(".")[:2])
"""The release of ansible-core, such as (2, 19)."""
MODULES = "ansible_collections.virtshape.instancetypes.plugins.modules"


def server_side_apply(resource: Any, manifest: dict[str, Any], manager: str) -> None:
    """Applies an object like `kubectl apply --server-side`.

    The oldest supported client sends such a body as text only.
    """
    metadata = manifest["metadata"]
    resource.patch(
        json.dumps(manifest),
        metadata["name"],
        metadata["namespace"],
        content_type="application/apply-patch+yaml",
        field_manager=manager,
    )


def execute(name: str, options: dict[str, Any], *, check: bool = False) -> dict[str, Any]:
    """The result that a module prints, whether it succeeds or fails, with what became of all objects."""
    module = importlib.import_module(f"{MODULES}.{name}")
    if "virtshape.instancetypes.writes" in module.DOCUMENTATION:
        options = {"results_on_failure": "all", **options}
    arguments = {**options, "_ansible_check_mode": check, "_ansible_diff": True}
    if "inject_invocation" in PASS_VARS:  # From ansible-core 2.21 on, options are in the result only if asked for.
        arguments["_ansible_inject_invocation"] = True
    printed = io.StringIO()
    # A module is a process of its own elsewhere; here it would repeat the warnings of the modules before it, or, once
    # another test has loaded Ansible's controller side, hand its own to that.
    warnings._global_warnings.clear()
    with (
        patch_module_args(arguments),
        mock.patch.object(_internal, "is_controller", False),
        contextlib.redirect_stdout(printed),
        contextlib.suppress(SystemExit),
    ):
        module.main()
    result: dict[str, Any] = json.loads(printed.getvalue())
    # From ansible-core 2.22 on, a module hands its secrets to Ansible, which hides them and drops this.
    result.pop("_ansible_new_secrets", None)
    return result


def warned(result: dict[str, Any]) -> list[str]:
    """The texts of a task's warnings; from ansible-core 2.19 on, each is an event."""
    return [item if isinstance(item, str) else item["event"]["msg"] for item in result.get("warnings", [])]


def vm(name: str, instancetype: str = "small", **options: Any) -> dict[str, Any]:
    """An entry for a VM with the instancetypes and the preference of `shop`."""
    return {
        "name": name,
        "instancetype": {"name": instancetype, "kind": "VirtualMachineInstancetype"},
        "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
        "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
        **options,
    }


def by_name(results: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {result["name"]: result for result in results}


def claim_of(api: Any, namespace: str, name: str, owner: Any = None, labels: dict[str, str] | None = None) -> None:
    """Makes a PersistentVolumeClaim, owned by an object or by none, if there is none of the name yet."""
    metadata: dict[str, Any] = {"name": name, "labels": labels or {}}
    if owner is not None:
        same = {"apiVersion": owner.apiVersion, "kind": owner.kind}
        metadata["ownerReferences"] = [{**same, "name": owner.metadata.name, "uid": owner.metadata.uid}]
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    # A CDI that the cluster has may be faster.
    with contextlib.suppress(dynamic.exceptions.ConflictError):
        api.resources.get(api_version="v1", kind="PersistentVolumeClaim").create(namespace=namespace, body=body)


def network_of(api: Any, namespace: str, name: str) -> None:
    """Makes a NetworkAttachmentDefinition, without which no guest gets on a network."""
    config = {"cniVersion": "0.3.1", "name": name, "type": "bridge", "bridge": name}
    kind = {"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition"}
    body = {**kind, "metadata": {"name": name}, "spec": {"config": json.dumps(config)}}
    api.resources.get(api_version=kind["apiVersion"], kind=kind["kind"]).create(namespace=namespace, body=body)


def await_condition(api: Any, namespace: str, name: str, condition: str) -> None:
    """Waits until virt-controller has said of a VM whether a condition holds."""
    vms = api.resources.get(api_version="kubevirt.io/v1", kind="VirtualMachine")
    for event in vms.watch(namespace=namespace, timeout=60):
        live = event["object"].to_dict()
        conditions = (live.get("status") or {}).get("conditions") or []
        if live["metadata"]["name"] == name and any(item["type"] == condition for item in conditions):
            return
    raise AssertionError(f"{namespace}/{name} has not got the condition {condition}")


def await_right(api: client.AuthorizationV1Api, namespace: str, user: str, rule: dict[str, Any]) -> None:
    """The API server's authorizer learns of a binding a little later."""
    plural, _slash, subresource = rule["resources"][0].partition("/")
    requested = {"namespace": namespace, "verb": rule["verbs"][0], "group": rule["apiGroups"][0], "resource": plural}
    review = {"spec": {"user": user, "resourceAttributes": {**requested, "subresource": subresource}}}
    for _attempt in range(100):
        if api.create_subject_access_review(review).status.allowed:
            return
        time.sleep(0.1)
    raise AssertionError(f"{user} has not got {rule}")
