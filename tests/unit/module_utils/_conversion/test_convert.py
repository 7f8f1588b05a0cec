"""Revisions of older API versions, converted where KubeVirt does not read them any more."""

import base64
import json
from typing import Any

import pytest
from kubevirt_failures import failure, status

from plugins.module_utils._conversion.convert import convert, has_unreadable_revision
from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.instancetype import find
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.kubevirt.vm.migrate_revisions import Create, Delete, PatchVM

GROUP = "instancetype.kubevirt.io"
SIZE = {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}
BUS = {"devices": {"preferredDiskBus": "virtio"}}
SPEC_PATH = "/spec/instancetype/revisionName"
STATUS_PATHS = [f"/status/{name}Ref/controllerRevisionRef/name" for name in ("instancetype", "preference")]
NEW = ["db-small-v1beta1-it-3", "db-linux-v1beta1-p-3"]


def revision(name: str, data: Manifest, **labels: str) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "uid": f"uid-{name}", "labels": labels}
    return {"kind": "ControllerRevision", "metadata": metadata, "data": data}


def stored(name: str, role: str, of: str, spec: Manifest, version: str = "v1alpha2") -> Manifest:
    about = {"name": of, "uid": "it" if role == "Instancetype" else "p", "generation": 3}
    kind = f"VirtualMachineCluster{role}"
    return revision(name, {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": about, "spec": spec})


def bare(name: str, spec: Manifest) -> Manifest:
    text = base64.b64encode(json.dumps(spec).encode()).decode()
    return revision(name, {"apiVersion": f"{GROUP}/v1alpha1", "spec": text})


OLD = [stored("old-it", "Instancetype", "small", SIZE), stored("old-p", "Preference", "linux", BUS, "v1alpha1")]


def vm(pinned: str = "", captured: tuple[str, ...] = ("old-it", "old-p")) -> Manifest:
    instancetype = {"name": "small", **({"revisionName": pinned} if pinned else {})}
    references = zip(("instancetypeRef", "preferenceRef"), captured)
    return {
        "kind": "VirtualMachine",
        "metadata": {"name": "db", "namespace": "shop", "uid": "vm-uid"},
        "spec": {
            "instancetype": instancetype,
            "preference": {"name": "linux"},
            "template": {"spec": {"domain": {"devices": {}}}},
        },
        "status": {reference: {"controllerRevisionRef": {"name": name}} for reference, name in references},
    }


def moved(path: str, before: str, after: str) -> list[Manifest]:
    return [{"op": "test", "path": path, "value": before}, {"op": "replace", "path": path, "value": after}]


def names(actions: Any) -> list[str]:
    return [action.manifest["metadata"]["name"] for action in actions if isinstance(action, Create)]


def test_references_in_the_status_are_replaced() -> None:
    first, second, patch, *deletes = convert(vm(), Objects(OLD))
    assert names([first, second]) == NEW
    steps = [*moved(STATUS_PATHS[0], "old-it", NEW[0]), *moved(STATUS_PATHS[1], "old-p", NEW[1])]
    assert patch == PatchVM("shop", "db", steps, "status")
    assert deletes == [Delete("shop", name, f"uid-{name}") for name in ("old-it", "old-p")]


@pytest.mark.parametrize("captured", [(), ("old-it",), ("old-it", "old-p")])
def test_reference_in_the_spec_is_replaced_there(captured: tuple[str, ...]) -> None:
    """KubeVirt copies it to the status. It would replace the one in the status, and leave the VM a deleted revision."""
    patches = [item for item in convert(vm("old-it", captured), Objects(OLD)) if not isinstance(item, (Create, Delete))]
    expected: list[Any] = [PatchVM("shop", "db", moved(SPEC_PATH, "old-it", NEW[0]))]
    if len(captured) > 1:
        expected.append(PatchVM("shop", "db", moved(STATUS_PATHS[1], "old-p", NEW[1]), "status"))
    assert patches == expected


def test_fields_that_were_unset_stay_unset() -> None:
    """The releases that read v1alpha2 set them to "" and false, which conflicts with a VM's own."""
    created = convert(vm(captured=("old-it",)), Objects(OLD))[0]
    assert isinstance(created, Create)
    assert created.manifest["data"]["spec"] == SIZE
    dedicated = {**SIZE, "cpu": {"guest": 2, "model": "Haswell", "dedicatedCPUPlacement": True}}
    created = convert(vm(captured=("old-it",)), Objects([stored("old-it", "Instancetype", "small", dedicated)]))[0]
    assert isinstance(created, Create)
    assert created.manifest["data"]["spec"] == dedicated


def test_bare_spec_counts_for_the_matcher_afterwards() -> None:
    machine = vm()
    writes = convert(machine, Objects([bare("old-it", SIZE), bare("old-p", BUS)]))
    created = [{**item.manifest, "kind": "ControllerRevision"} for item in writes if isinstance(item, Create)]
    assert names(writes) == ["db-small-v1beta1--0", "db-linux-v1beta1--0"]
    assert [item["data"]["kind"] for item in created] == [
        "VirtualMachineClusterInstancetype",
        "VirtualMachineClusterPreference",
    ]
    machine["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = created[0]["metadata"]["name"]
    assert find.effective_spec(machine, INSTANCETYPE, Objects(created)) == SIZE


def test_current_and_shared_revisions_stay() -> None:
    created = [{**item.manifest, "kind": "ControllerRevision"} for item in convert(vm(), Objects(OLD))[:2]]
    assert convert(vm(captured=(NEW[0], NEW[1])), Objects(created)) == []
    kinds = [type(action) for action in convert(vm(), Objects(OLD), {"old-p"})]
    assert kinds == [Create, Create, PatchVM, Delete]


def test_interrupted_conversion_continues() -> None:
    created = [{**item.manifest, "kind": "ControllerRevision"} for item in convert(vm(), Objects(OLD))[:2]]
    again = convert(vm(), Objects([*OLD, created[0]]))
    assert names(again) == NEW[1:]
    other = {**created[0], "data": {**created[0]["data"], "spec": {**SIZE, "cpu": {"guest": 4}}}}
    message = f'controllerrevisions.apps "{NEW[0]}" already exists with other content'
    assert status(failure(convert, vm(), Objects([*OLD, other]))) == (message, "AlreadyExists", 409)


class Hidden(Objects):
    """Lets nobody see new revisions."""

    def get(self, kind: str, namespace: str, name: str) -> Any:
        found = super().get(kind, namespace, name)
        if found is None:
            raise KubeVirtError("forbidden")
        return found


def test_unreadable_revisions_are_reported() -> None:
    unknown = revision("old-it", {"apiVersion": f"{GROUP}/v2", "kind": "VirtualMachineInstancetype", "spec": SIZE})
    error = failure(convert, vm(captured=("old-it",)), Objects([unknown]))
    assert f"of {GROUP}/v2, which KubeVirt does not read" in error.message
    lost = failure(convert, vm(captured=("lost",)), Objects([]))
    assert lost.message == 'controllerrevisions.apps "lost" not found'
    assert failure(convert, vm(), Hidden(OLD)).message == "forbidden"


def test_old_revisions_are_found_by_release() -> None:
    for machine, revisions, expected in (
        (vm(), OLD, True),
        (vm("old-it", ()), OLD, True),
        (vm(), [], False),
        (vm(captured=()), OLD, False),
        (vm(captured=("old-it",)), [stored("old-it", "Instancetype", "small", SIZE, "v2")], False),
        (vm(captured=("old-it",)), [stored("old-it", "Instancetype", "small", SIZE, "v1beta1")], False),
    ):
        assert has_unreadable_revision(machine, Objects(revisions), NEWEST) is expected
    assert not has_unreadable_revision(vm(), Objects(OLD), parse_release("1.6"))
    assert not has_unreadable_revision(vm(), Hidden([]), NEWEST)
