"""Capture of instancetypes and preferences, beyond the vectors."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    PANIC,
    Objects,
    Problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.revision import store
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.revision.store import (
    Create,
    PatchStatus,
    Writes,
)

SPEC = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}


def obj(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


OBJECTS = [obj("VirtualMachineClusterInstancetype", "x", SPEC), obj("VirtualMachineClusterPreference", "x", {})]


def vm(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}}}}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}


def test_revisions_of_two_objects_with_same_name_collide() -> None:
    # Without uid and generation the names differ by the object's name alone.
    writes = store.store(vm(instancetype={"name": "x"}, preference={"name": "x"}), Objects(OBJECTS))
    assert writes.error == Problem("found existing ControllerRevision with unexpected data: a-x-v1beta1--0")
    assert [type(action) for action in writes.actions] == [Create, Create]
    assert writes.instancetype_ref is None


def test_missing_preference_leaves_revision_of_instancetype() -> None:
    writes = store.store(vm(instancetype={"name": "x"}, preference={"name": "gone"}), Objects(OBJECTS))
    assert [type(action) for action in writes.actions] == [Create]
    assert writes.error is not None
    assert writes.error.code == 404


def test_pinned_revision_is_referenced_without_lookup() -> None:
    writes = store.store(vm(preference={"name": "p", "revisionName": "gone"}), Objects([]))
    reference = {"name": "p", "controllerRevisionRef": {"name": "gone"}}
    patch = [{"op": "add", "path": "/status/preferenceRef", "value": reference}]
    matcher = {"name": "p", "revisionName": "gone"}
    assert writes == Writes((PatchStatus("web", "a", patch),), None, reference, preference=matcher)


def test_vm_without_template_crashes_kubevirt() -> None:
    writes = store.store(vm(instancetype={"name": "x"}, template=None), Objects(OBJECTS))
    assert writes.error is not None
    assert writes.error.reason == PANIC
    assert not writes.actions


def test_error_names_field_of_wrong_type() -> None:
    error = store.store(vm(instancetype=[]), Objects([])).error
    assert error is not None
    assert error.message.startswith("spec.instancetype: ")


def test_inputs_stay_unchanged() -> None:
    manifest = vm(instancetype={"name": "x"})
    manifest["status"] = {"instancetypeRef": {"name": "old", "controllerRevisionRef": {"name": "r"}}}
    objects = copy.deepcopy(OBJECTS)
    before = copy.deepcopy(manifest)
    writes = store.store(manifest, Objects(objects))
    assert writes.instancetype_ref == {"name": "x", "controllerRevisionRef": {"name": "a-x-v1beta1--0"}}
    assert (manifest, objects) == (before, OBJECTS)


def test_errors_that_prevent_capture() -> None:
    def error(*objects: dict[str, Any], lookup: type[Objects] = Objects, **template: Any) -> Problem | None:
        manifest = vm(instancetype={"name": "x"})
        manifest["spec"]["template"]["spec"]["domain"].update(template)
        return store.store(manifest, lookup(objects)).error

    class Forbidden(Objects):
        def get(self, kind: str, namespace: str, name: str) -> Any:
            forbidden = kind == "ControllerRevision"
            return Problem("no", "Forbidden", 403) if forbidden else super().get(kind, namespace, name)

    bad = obj("VirtualMachineClusterInstancetype", "x", {**SPEC, "cpu": {"guest": "many"}})
    assert str(error(bad)).startswith("Problem(message=\"spec.cpu.guest: expected a whole number, found 'many'\"")
    assert error(*OBJECTS, cpu={"cores": 2}) == Problem(
        "VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type"
    )
    assert error(*OBJECTS, lookup=Forbidden) == Problem("failed to get ControllerRevision: no", "Forbidden", 403)

    unreadable = {"apiVersion": "instancetype.kubevirt.io/v9", "kind": "VirtualMachineInstancetype"}
    existing = {
        "kind": "ControllerRevision",
        "metadata": {"name": "a-x-v1beta1--0", "namespace": "web"},
        "data": unreadable,
    }
    assert "no kind" in str(error(*OBJECTS, existing))
    existing["data"] = {**unreadable, "apiVersion": "instancetype.kubevirt.io/v1beta1", "spec": SPEC}
    assert error(*OBJECTS, existing) is None
