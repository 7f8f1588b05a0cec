"""ControllerRevisions: content, comparison by meaning, and which one counts."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    PREFERENCE,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find import naming, revision

VM = {"metadata": {"name": "a", "namespace": "web", "uid": "1"}, "spec": {}}


def stored(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    api_version = "instancetype.kubevirt.io/v1beta1"
    return {"data": {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}}


def instancetype(guest: str, **fields: Any) -> dict[str, Any]:
    return stored("VirtualMachineInstancetype", {"cpu": {"guest": 1}, "memory": {"guest": guest}, **fields})


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [
        (instancetype("4Gi"), instancetype("4294967296"), True),
        (instancetype("4Gi"), instancetype("4295M"), False),
        (instancetype("4Gi"), instancetype("4Gi", nodeSelector={}), True),
        (instancetype("4Gi", nodeSelector={"a": "b"}), instancetype("4Gi", nodeSelector={"a": "c"}), False),
        (instancetype("4Gi", gpus=[]), instancetype("4Gi"), True),
        (instancetype("4Gi", ioThreadsPolicy=""), instancetype("4Gi"), False),
        (
            instancetype("4Gi", gpus=[{"name": "a", "deviceName": "d"}]),
            instancetype("4Gi", gpus=[{"name": "a", "deviceName": "e"}]),
            False,
        ),
        (
            stored("VirtualMachinePreference", {"requirements": {"memory": {"guest": "1k"}}}),
            stored("VirtualMachineClusterPreference", {"requirements": {"memory": {"guest": "1000"}}}),
            True,
        ),
    ],
)
def test_specs_compare_by_meaning(first: dict[str, Any], second: dict[str, Any], equal: bool) -> None:
    assert revision.compare(first, second) == revision.Comparison(equal)
    assert revision.compare(second, first) == revision.Comparison(equal)


def test_empty_revision_cannot_be_compared() -> None:
    assert revision.compare({"data": None}, instancetype("1Gi")).error == "unexpected type: <nil>"


def test_empty_node_selector_is_dropped_from_revision() -> None:
    obj = {"kind": "VirtualMachineInstancetype", "metadata": {"name": "x", "labels": {"a": "b"}}}
    obj["spec"] = {"cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}, "nodeSelector": {}}
    before = copy.deepcopy(obj)
    result = revision.controller_revision(VM, obj)
    assert result["data"]["spec"] == {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    assert result["data"]["metadata"] == {"name": "x"}
    assert obj == before


def test_pinned_revision_overrides_captured_revision() -> None:
    vm = {
        "spec": {"instancetype": {"name": "u", "revisionName": "mine"}, "preference": {"name": "p"}},
        "status": {
            "instancetypeRef": {"controllerRevisionRef": {"name": "theirs"}},
            "preferenceRef": {"controllerRevisionRef": {"name": "theirs"}},
        },
    }
    assert naming.referenced(vm, INSTANCETYPE) == naming.Reference("mine", pinned=True)
    assert naming.referenced(vm, PREFERENCE) == naming.Reference("theirs")
    assert naming.referenced({"spec": {}}, PREFERENCE) == naming.Reference()
