"""A task that declares a part of a VM is warned before all volumes or all networks go."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import managed_fields, schema
from plugins.module_utils._resolver.declare import plan
from plugins.module_utils._resolver.declare.losses import loss

POD: dict[str, Any] = {
    "domain": {
        "devices": {"disks": [{"name": "root", "disk": {}}], "interfaces": [{"name": "default", "masquerade": {}}]}
    },
    "networks": [{"name": "default", "pod": {}}],
    "volumes": [{"name": name, "emptyDisk": {"capacity": "1Gi"}} for name in ("root", "a", "b", "c")],
}
SPEC: dict[str, Any] = {"dataVolumeTemplates": [{"metadata": {"name": "data"}, "spec": {}}], "template": {"spec": POD}}
REMEDY = (
    ", because the task does not declare them; declare them, or give a task that declares only a part of the VM a"
    " field_manager of its own"
)


def vm(**spec: Any) -> dict[str, Any]:
    manifest = {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": spec,
    }
    return schema.as_declared("VirtualMachine", manifest)


def warning(spec: dict[str, Any], owned: dict[str, Any], others: dict[str, Any] | None = None) -> str:
    """owned: what our manager declared before of a VM with everything. others: what another one declares too."""
    live = vm(**SPEC)
    fields = {"manager": "other", "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": others or {}}
    live["metadata"] = {**live["metadata"], "managedFields": [fields] if others else []}
    declared = set(managed_fields.leaf_fields(vm(**owned)))
    return loss(plan.present(vm(**spec), live, declared, "virtshape"), live)


def test_all_parts_that_go_are_named() -> None:
    assert warning({}, SPEC) == (f"the VM loses all volumes (root, a, b and 1 more), all networks (default){REMEDY}")


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ({"volumes": []}, "the VM loses all volumes (root, a, b and 1 more)"),
        ({"volumes": POD["volumes"][:1]}, ""),
        ({"networks": []}, "the VM loses all networks (default)"),
        # A disk that is unplugged takes its entry and its template with it.
        ({"domain": {"devices": {}}}, ""),
    ],
)
def test_what_stays_in_part_is_no_loss(left: dict[str, Any], words: str) -> None:
    after = {**SPEC, "template": {"spec": {**POD, **left}}}
    assert warning(after, SPEC) == (f"{words}{REMEDY}" if words else "")


def test_what_was_not_ours_stays() -> None:
    assert warning({"runStrategy": "Halted"}, {"runStrategy": "Always"}) == ""
    shared = {"f:spec": {"f:template": {"f:spec": {"f:volumes": {}}}}}
    only = {"template": {"spec": {"volumes": POD["volumes"]}}}
    assert warning({}, only, shared) == ""
