"""Support of the modules' tests: runs of a module, and VMs to declare."""

import contextlib
import importlib
import io
import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

from ansible.module_utils import basic
from ansible.module_utils.common import warnings
from ansible.module_utils.common.parameters import PASS_VARS
from ansible.release import __version__
from kubernetes import client, dynamic

from plugins.module_utils._resolver.api.kinds import KINDS

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

Result = dict[str, Any]
Run = Callable[..., Result]
"""A function with the options of a module, or some of them, whose result it returns."""


def server_side_apply(resource: Any, manifest: dict[str, Any], manager: str, **options: Any) -> Any:
    """Applies an object like `kubectl apply --server-side`.

    The oldest supported client sends such a body as text only.
    """
    metadata = manifest["metadata"]
    return resource.patch(
        json.dumps(manifest),
        metadata["name"],
        metadata["namespace"],
        content_type="application/apply-patch+yaml",
        field_manager=manager,
        **options,
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


class Task:
    """Tasks of a play, in the namespace of the test unless their options name another one, or None."""

    def __init__(self, kubeconfig: object, namespace: str | None = None) -> None:
        self._kubeconfig, self._namespace = str(kubeconfig), namespace

    def __call__(self, module: str, /, *, check: bool = False, **options: Any) -> Result:
        """The result of a task that succeeds."""
        done = self.outcome(module, check=check, **options)
        assert not done.get("failed"), done["msg"]
        return done

    def refused(self, module: str, /, *, check: bool = False, **options: Any) -> Result:
        """The result of a task that fails."""
        done = self.outcome(module, check=check, **options)
        assert done.get("failed"), done
        return done

    def outcome(self, module: str, /, *, check: bool = False, **options: Any) -> Result:
        """The result of a task, whether it succeeds or fails."""
        options = {"kubeconfig": self._kubeconfig, **options}
        if "namespace" in importlib.import_module(f"{MODULES}.{module}").MODULE.argument_spec:
            options = {"namespace": self._namespace, **options}
        return execute(module, options, check=check)

    def vms(self, **options: Any) -> dict[str, Result]:
        """The VMs by name, as virtual_machine_info returns them."""
        return by_name(self("virtual_machine_info", **options)["virtual_machines"])

    def vm(self, name: str, *include: str) -> Result:
        """One of them. include: other parts than the module's default."""
        options = {"include": [*include]} if include else {}
        return self.vms(names=[name], **options)[name]


def manifest(kind: str, name: str, spec: Any, **metadata: Any) -> dict[str, Any]:
    """An object of a kind that the collection knows."""
    return {
        "apiVersion": KINDS[kind].api_version,
        "kind": kind,
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def objects(api: Any, kind: str) -> Any:
    """The API of a kind that the collection knows."""
    return api.resources.get(api_version=KINDS[kind].api_version, kind=kind)


def live(api: Any, namespace: str, name: str = "web", kind: str = "VirtualMachine") -> dict[str, Any]:
    """An object as the API server has it."""
    result: dict[str, Any] = objects(api, kind).get(name=name, namespace=namespace).to_dict()
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
    body = {"metadata": metadata, "spec": spec}
    # A CDI that the cluster has may be faster.
    with contextlib.suppress(dynamic.exceptions.ConflictError):
        objects(api, "PersistentVolumeClaim").create(namespace=namespace, body=body)


def network_of(api: Any, namespace: str, name: str) -> None:
    """Makes a NetworkAttachmentDefinition, without which no guest gets on a network."""
    config = {"cniVersion": "0.3.1", "name": name, "type": "bridge", "bridge": name}
    body = manifest("NetworkAttachmentDefinition", name, {"config": json.dumps(config)})
    objects(api, body["kind"]).create(namespace=namespace, body=body)


def pool_of(api: Any, namespace: str, name: str, machine: dict[str, Any]) -> Any:
    """Makes a VirtualMachinePool without a VM of the spec. Returns the API of its kind."""
    labels = {"pool": name}
    template = {"metadata": {"labels": labels}, "spec": {"domain": {"devices": {}}}}
    template = {"metadata": {"labels": labels}, "spec": {"runStrategy": "Halted", "template": template, **machine}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "virtualMachineTemplate": template}
    kind = {"apiVersion": "pool.kubevirt.io/v1beta1", "kind": "VirtualMachinePool"}
    pools = api.resources.get(api_version=kind["apiVersion"], kind=kind["kind"])
    pools.create(body={**kind, "metadata": {"name": name}, "spec": spec}, namespace=namespace)
    return pools


def await_condition(api: Any, namespace: str, name: str, condition: str) -> None:
    """Waits until virt-controller has said of a VM whether a condition holds."""
    for event in objects(api, "VirtualMachine").watch(namespace=namespace, timeout=60):
        vm = event["object"].to_dict()
        conditions = (vm.get("status") or {}).get("conditions") or []
        if vm["metadata"]["name"] == name and any(item["type"] == condition for item in conditions):
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
