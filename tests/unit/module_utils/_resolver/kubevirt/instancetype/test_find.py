"""The effective object of a VM, and messages if there is none."""

import copy
from typing import Any

from kubevirt_failures import failure

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from plugins.module_utils._resolver.kubevirt.instancetype import find, lookup
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

SMALL = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}


def manifest(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def vm(matcher: dict[str, Any], reference: str = "") -> dict[str, Any]:
    status = {"instancetypeRef": {"name": "u", "controllerRevisionRef": {"name": reference}}} if reference else {}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"instancetype": matcher}, "status": status}


def find_spec(manifest: dict[str, Any], objects: lookup.Lookup) -> dict[str, Any] | None:
    return find.effective_spec(manifest, INSTANCETYPE, objects)


def test_lookup_error_is_passed_on() -> None:
    forbidden = KubeVirtError("forbidden", "Forbidden", 403)

    class Denied:
        def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
            raise forbidden

    assert failure(find_spec, vm({"name": "u"}), Denied()) is forbidden
    assert failure(find_spec, vm({"name": "u"}, reference="r"), Denied()) is forbidden


def test_error_names_field_of_bad_object() -> None:
    bad = manifest("VirtualMachineClusterInstancetype", "u", {"cpu": {"guest": "two"}, "memory": {"guest": "1Gi"}})
    error = failure(find_spec, vm({"name": "u"}), Objects([bad]))
    assert error.message.startswith('VirtualMachineClusterInstancetype "u": spec.cpu.guest: ')


def test_result_is_canonical_and_objects_stay_unchanged() -> None:
    live = manifest("VirtualMachineClusterInstancetype", "u", {"cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}})
    before = copy.deepcopy(live)
    result = find_spec(vm({"name": "u"}), Objects([live]))
    assert result == SMALL
    assert result is not None
    result["cpu"]["guest"] = 99
    assert live == before
