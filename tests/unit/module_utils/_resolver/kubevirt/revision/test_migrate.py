"""Upgrades of captured revisions, beyond the vectors."""

from __future__ import annotations

from typing import Any

from plugins.module_utils._resolver.kubevirt.find.lookup import PANIC, Objects, Problem
from plugins.module_utils._resolver.kubevirt.revision.migrate import upgrade


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
