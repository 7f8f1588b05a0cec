"""The check of VMs as a cluster returns them, with what they have captured."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from checked_files import CHECKED, instancetype, preference, vm

Manifest = dict[str, Any]
Check = Callable[..., tuple[int, list[str]]]


def captured(kind: str, name: str, revision: str) -> Manifest:
    return {"kind": kind, "name": name, "controllerRevisionRef": {"name": revision}}


def read_vm(name: str = "web", **spec: Any) -> Manifest:
    """A stopped VM of a cluster, which captured its instancetype `own`."""
    manifest = vm(name, **{"runStrategy": "Halted", "instancetype": {"name": "own"}, **spec})
    manifest["metadata"].update(uid=f"uid-{name}", managedFields=[{"manager": "virtshape"}])
    reference = captured("VirtualMachineClusterInstancetype", "own", f"{name}-own-1")
    return {**manifest, "status": {"instancetypeRef": reference}}


def revision(name: str, data: Manifest, label: str = "own") -> Manifest:
    labels = {"instancetype.kubevirt.io/object-name": label}
    metadata = {"name": name, "namespace": "shop", "labels": labels}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": data, "revision": 0}


def listed(*items: Manifest) -> Manifest:
    return {"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": list(items)}


VMI = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachineInstance",
    "metadata": {"name": "web", "namespace": "shop", "ownerReferences": [{"kind": "VirtualMachine", "name": "web"}]},
    "spec": {"domain": {"devices": {}}},
    "status": {"phase": "Running"},
}


@pytest.mark.parametrize("dump", [yaml.safe_dump, json.dumps])
def test_dump_of_a_namespace_has_no_finding(check: Check, dump: Callable[[Any], str]) -> None:
    other = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": {"name": "a"}, "data": {"spec": {}}}
    content = listed(read_vm(), VMI, revision("web-own-1", instancetype()), other)
    # The diagnosis asks for more of a VMI.
    found = check({"dump.yaml": dump(content)}, "--ignore", "does-not-run")
    assert found == (0, [f"1 object {CHECKED}: nothing found"])


@pytest.mark.parametrize("place", ["paths", "objects"])
def test_captured_revision_decides_about_the_guest(check: Check, place: str) -> None:
    """The preference of the VM needs more than its instancetype has today, and no more than it had."""
    web = read_vm(preference={"name": "own"})
    needs = preference(requirements={"memory": {"guest": "4Gi"}})
    small = instancetype(memory={"guest": "1Gi"})
    others = [needs, small, revision("web-own-1", instancetype())]
    files = {"vm.yml": web, "others.yml": others}
    if place == "paths":
        _code, lines = check(files)
    else:
        check(files)
        _code, lines = check({"vm.yml": web}, "--objects", "others.yml")
    (found,) = [line for line in lines if "VirtualMachine shop/web" in line]
    assert found.startswith("vm.yml:10: note: VirtualMachine shop/web: spec.instancetype: the captured revision of own")
    assert "own differs from the object: memory.guest 4Gi -> 1Gi; KubeVirt refuses the VM with it: " in found


def test_one_lost_revision_among_others_is_an_error(check: Check) -> None:
    running = read_vm("lost", runStrategy="Always")
    code, lines = check({"dump.yml": listed(read_vm(), running, revision("web-own-1", instancetype()))})
    assert code == 1 and "shop/lost: spec.instancetype: the captured revision lost-own-1 was deleted" in lines[0]
    assert "shop/web" not in lines[0] and len(lines) == 2


def test_vms_without_revisions_count_as_refreshed(check: Check) -> None:
    """Older releases write what they capture into the spec."""
    old = vm("old", runStrategy="Halted", instancetype={"name": "own", "revisionName": "old-own-1"})
    old["metadata"]["uid"] = "uid-old"
    code, lines = check({"dump.yml": listed(read_vm(), old), "catalog.yml": instancetype()})
    assert (code, len(lines)) == (0, 2)
    assert "note: VirtualMachine shop/web: spec: 2 ControllerRevisions, as web-own-1, are not" in lines[0]


def test_unknown_revision_of_an_unknown_object_must_exist(check: Check) -> None:
    pinned = vm("pinned", runStrategy="Halted", instancetype={"name": "u1.small", "revisionName": "mine"})
    code, lines = check({"dump.yml": listed(read_vm(), pinned)})
    assert code == 0 and [line.partition("spec.instancetype: ")[2] for line in lines[:-1]] == [
        f"the ControllerRevision shop/{name} must exist on the cluster; pass its manifest with --objects to check what"
        " VMs get from it [must-exist]"
        for name in ("web-own-1", "mine")
    ]


@pytest.mark.parametrize(("version", "code"), [("1.6", 0), ("1.9", 1)])
def test_releases_read_the_revisions_that_they_can(check: Check, version: str, code: int) -> None:
    alpha = "instancetype.kubevirt.io/v1alpha1"
    spec = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}}
    alone = {"apiVersion": alpha, "spec": base64.b64encode(json.dumps(spec).encode()).decode()}
    whole = {**instancetype(), "apiVersion": alpha}
    content = [read_vm("a"), read_vm("b"), revision("a-own-1", alone), revision("b-own-1", whole)]
    found, lines = check({"dump.yml": listed(*content)}, "--kubevirt-version", version)
    assert found == code and sum("failed to decode object" in line for line in lines) == 2 * code, lines


def test_built_in_catalog_shows_no_drift(check: Check) -> None:
    web = vm(instancetype={"name": "u1.small"}, runStrategy="Halted")
    web["status"] = {"instancetypeRef": captured("VirtualMachineClusterInstancetype", "u1.small", "web-1")}
    older = revision("web-1", instancetype("u1.small"), "u1.small")
    assert check({"dump.yml": listed(web, older)})[1] == [f"1 object {CHECKED}: nothing found"]


def test_drift_of_a_running_guest_names_its_restart(check: Check) -> None:
    web = read_vm(runStrategy="Always")
    web["status"]["created"] = True
    devices = {"gpus": [{"name": "gpu", "deviceName": "a.com/b"}]}
    files = {"dump.yml": listed(web, revision("web-own-1", instancetype())), "own.yml": instancetype(**devices)}
    _code, lines = check(files)
    found = [line for line in lines if "changed-size" in line]
    assert len(found) == 1 and "; the VM takes it up by a refresh and a restart [" in found[0], lines


@pytest.mark.parametrize("name", [5, ["a"]])
def test_malformed_vm_of_a_dump_is_invalid(check: Check, name: Any) -> None:
    web = read_vm()
    web["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = name
    code, lines = check({"dump.yml": listed(web, instancetype())})
    text = "error: VirtualMachine shop/web: status.instancetypeRef.controllerRevisionRef.name: expected a string"
    assert code == 1 and any(text in line for line in lines), lines
