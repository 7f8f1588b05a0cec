"""The effective object of a VM, and messages if there is none."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._resolver.kubevirt.find import find, lookup
from plugins.module_utils._resolver.kubevirt.find.lookup import Objects, Problem

SMALL = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
LARGE = {"cpu": {"guest": 8}, "memory": {"guest": "8Gi"}}


def manifest(kind: str, name: str, spec: dict[str, Any], namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": metadata, "spec": spec}


def captured(name: str, label: str | None) -> dict[str, Any]:
    labels = {"instancetype.kubevirt.io/object-name": label} if label is not None else {}
    return {
        "kind": "ControllerRevision",
        "metadata": {"name": name, "namespace": "web", "labels": labels},
        "data": manifest("VirtualMachineClusterInstancetype", "u", LARGE),
    }


def vm(matcher: dict[str, Any], reference: str = "") -> dict[str, Any]:
    status = {"instancetypeRef": {"name": "u", "controllerRevisionRef": {"name": reference}}} if reference else {}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"instancetype": matcher}, "status": status}


def find_spec(manifest: dict[str, Any], objects: lookup.Lookup) -> find.EffectiveSpec:
    return find.spec(manifest, INSTANCETYPE, objects)


LIVE = manifest("VirtualMachineClusterInstancetype", "u", SMALL)


def test_vm_without_matchers() -> None:
    nothing = Objects([])
    assert find_spec({"spec": {}}, nothing) == find.EffectiveSpec()
    assert find.spec({"spec": None}, PREFERENCE, nothing) == find.EffectiveSpec()


@pytest.mark.parametrize("kind", ["VIRTUALMACHINEINSTANCETYPE", "virtualMachineInstancetypes"])
def test_namespaced_kind_is_looked_up_in_vm_namespace(kind: str) -> None:
    elsewhere = manifest("VirtualMachineInstancetype", "u", LARGE, namespace="db")
    here = manifest("VirtualMachineInstancetype", "u", SMALL, namespace="web")
    result = find_spec(vm({"name": "u", "kind": kind}), Objects([LIVE, here, elsewhere]))
    assert result == find.EffectiveSpec(SMALL)
    missing = find_spec(vm({"name": "u", "kind": kind}), Objects([LIVE, elsewhere]))
    message = 'virtualmachineinstancetypes.instancetype.kubevirt.io "u" not found'
    assert missing.error == Problem(message, "NotFound", 404)


def test_captured_revision_needs_label_of_matcher() -> None:
    for label, guest in (("u", 8), ("other", 1), (None, 1)):
        objects = Objects([LIVE, captured("r", label)])
        result = find_spec(vm({"name": "u"}, reference="r"), objects)
        assert result.spec is not None
        assert result.spec["cpu"]["guest"] == guest, label
        assert result.revision == ("r" if guest == 8 else "")


def test_pinned_revision_counts_whatever_its_label() -> None:
    pinned = vm({"name": "u", "kind": "Foo", "revisionName": "r"}, reference="gone")
    assert find_spec(pinned, Objects([captured("r", "other")])) == find.EffectiveSpec(LARGE, revision="r")


def test_missing_revision_fails_despite_live_object() -> None:
    result = find_spec(vm({"name": "u"}, reference="r"), Objects([LIVE]))
    assert result.error == Problem('controllerrevisions.apps "r" not found', "NotFound", 404)


def test_unknown_kind_is_named_as_written() -> None:
    result = find_spec(vm({"name": "u", "kind": "Foo"}), Objects([LIVE]))
    assert result.error == Problem("got unexpected kind in InstancetypeMatcher: Foo")


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


def test_result_is_canonical_and_objects_stay_unchanged() -> None:
    live = manifest("VirtualMachineClusterInstancetype", "u", {"cpu": {"guest": 1}, "memory": {"guest": "1024Mi"}})
    before = copy.deepcopy(live)
    result = find_spec(vm({"name": "u"}), Objects([live]))
    assert result.spec == SMALL
    result.spec["cpu"]["guest"] = 99
    assert live == before


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("PersistentVolumeClaim", "persistentvolumeclaims"),
        ("DataSource", "datasources.cdi.kubevirt.io"),
        ("VolumeSnapshot", "volumesnapshots.snapshot.storage.k8s.io"),
    ],
)
def test_not_found_message_is_the_api_servers(kind: str, name: str) -> None:
    assert lookup.not_found(kind, "x").message == f'{name} "x" not found'
