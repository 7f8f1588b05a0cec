"""Upgrades of captured revisions, beyond the vectors."""

from typing import Any

from kubevirt_failures import failure

from plugins.module_utils._resolver.api.errors import KubeVirtError, Panic
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.migrate_revisions import migrate


def vm(instancetype: str, preference: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "a", "namespace": "web"},
        "spec": {"instancetype": {"name": "i"}, "preference": {"name": "p"}, "template": {}},
        "status": {
            "instancetypeRef": {"name": "i", "controllerRevisionRef": {"name": instancetype}},
            "preferenceRef": {"name": "p", "controllerRevisionRef": {"name": preference}},
        },
    }


def test_empty_revision_crashes_kubevirt() -> None:
    empty = {"kind": "ControllerRevision", "metadata": {"name": "r1", "namespace": "web"}}
    assert isinstance(failure(list, migrate(vm("r1", "r2"), Objects([empty]))), Panic)


def test_lookup_error_is_passed_on() -> None:
    forbidden = KubeVirtError("forbidden", "Forbidden", 403)

    class Denied:
        def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
            raise forbidden

    assert failure(list, migrate(vm("r1", "r2"), Denied())) is forbidden


def test_error_names_field_of_wrong_type() -> None:
    error = failure(list, migrate({"metadata": {"name": "a"}, "spec": {"runStrategy": 1}}, Objects([])))
    assert (error.code, error.message.partition(":")[0]) == (400, "spec.runStrategy")
