"""The effective object of a VM, and messages if there is none."""

from __future__ import annotations

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find import find, lookup
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    Objects,
    Problem,
)


def manifest(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def vm(matcher: dict[str, Any], reference: str = "") -> dict[str, Any]:
    status = {"instancetypeRef": {"name": "u", "controllerRevisionRef": {"name": reference}}} if reference else {}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"instancetype": matcher}, "status": status}


def find_spec(manifest: dict[str, Any], objects: lookup.Lookup) -> find.EffectiveSpec:
    return find.spec(manifest, INSTANCETYPE, objects)


def test_lookup_error_is_returned() -> None:
    forbidden = Problem("forbidden", "Forbidden", 403)

    class Denied:
        def get(self, kind: str, namespace: str, name: str) -> Problem:
            return forbidden

    assert find_spec(vm({"name": "u"}), Denied()).error == forbidden
    assert find_spec(vm({"name": "u"}, reference="r"), Denied()).error == forbidden


def test_error_names_field_of_bad_object() -> None:
    bad = manifest("VirtualMachineClusterInstancetype", "u", {"cpu": {"guest": "two"}, "memory": {"guest": "1Gi"}})
    error = find_spec(vm({"name": "u"}), Objects([bad])).error
    assert error is not None
    assert error.message.startswith('VirtualMachineClusterInstancetype "u": spec.cpu.guest: ')
