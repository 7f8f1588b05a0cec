"""Upgrades of captured revisions, beyond the vectors."""

import copy
from typing import Any

from plugins.module_utils._resolver.kubevirt.find.lookup import PANIC, Objects, Problem
from plugins.module_utils._resolver.kubevirt.revision.migrate import Create, Delete, PatchStatus, upgrade

API_VERSION = "instancetype.kubevirt.io/v1beta1"


def captured_revision(name: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    data = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": f"of-{name}", "uid": "u"}, "spec": spec}
    return {
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": "web", "uid": f"uid-{name}"},
        "data": data,
    }


SPEC = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
REVISIONS = [
    captured_revision("r1", "VirtualMachineInstancetype", SPEC),
    captured_revision("r2", "VirtualMachinePreference", {}),
]


def vm(instancetype: str, preference: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "namespace": "web"},
        "spec": {"instancetype": {"name": "i"}, "preference": {"name": "p"}, "template": {}},
        "status": {
            "instancetypeRef": {"name": "i", "controllerRevisionRef": {"name": instancetype}},
            "preferenceRef": {"name": "p", "controllerRevisionRef": {"name": preference}},
        },
    }


def test_old_revisions_are_deleted_after_vm_is_patched() -> None:
    manifest, revisions = vm("r1", "r2"), copy.deepcopy(REVISIONS)
    writes = upgrade(manifest, Objects(revisions))
    assert [type(action) for action in writes.actions] == [Create, Create, PatchStatus, Delete, Delete]
    assert writes.actions[3:] == (Delete("web", "r1", "uid-r1"), Delete("web", "r2", "uid-r2"))
    patch = writes.actions[2]
    assert isinstance(patch, PatchStatus)
    path = "/status/preferenceRef/controllerRevisionRef/name"
    assert patch.patch[3] == {"op": "replace", "path": path, "value": "a-of-r2-v1beta1-u-0"}
    assert (manifest, revisions) == (vm("r1", "r2"), REVISIONS)


def test_two_references_to_same_revision_collide() -> None:
    writes = upgrade(vm("r1", "r1"), Objects(REVISIONS))
    message = 'controllerrevisions.apps "a-of-r1-v1beta1-u-0" already exists'
    assert writes.error == Problem(message, "AlreadyExists", 409)
    assert [type(action) for action in writes.actions] == [Create, Create]


def test_empty_revision_crashes_kubevirt() -> None:
    empty = {"kind": "ControllerRevision", "metadata": {"name": "r1", "namespace": "web"}}
    writes = upgrade(vm("r1", "r2"), Objects([empty]))
    assert writes.error is not None
    assert writes.error.reason == PANIC


def test_lookup_error_is_returned() -> None:
    forbidden = Problem("forbidden", "Forbidden", 403)

    class Denied:
        def get(self, kind: str, namespace: str, name: str) -> Problem:
            return forbidden

    assert upgrade(vm("r1", "r2"), Denied()).error == forbidden


def test_error_names_field_of_wrong_type() -> None:
    error = upgrade({"metadata": {"name": "a"}, "spec": {"runStrategy": 1}}, Objects([])).error
    assert error is not None
    assert (error.code, error.message.partition(":")[0]) == (400, "spec.runStrategy")
