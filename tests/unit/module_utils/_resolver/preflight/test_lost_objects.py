"""VMs whose instancetype or preference KubeVirt no longer finds."""

from typing import Any

from plugins.module_utils._resolver.api.release import parse_release
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight.lost_objects import power_problem

NEWEST = parse_release("1.9.0")
SMALL = {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "small"}, "spec": {}}
LOST = "spec.instancetype: the captured revision r-1 was deleted, so KubeVirt can "
REMEDY = "; refresh the VM (controller_revision, state: refreshed)"


def vm(captured: str = "", **instancetype: str) -> dict[str, Any]:
    reference = {"name": "small", "controllerRevisionRef": {"name": captured}}
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"instancetype": {"name": "small", **instancetype}, "template": {"spec": {}}},
        "status": {"instancetypeRef": reference} if captured else {},
    }


def revision(name: str) -> dict[str, Any]:
    labels = {"instancetype.kubevirt.io/object-name": "small"}
    return {"kind": "ControllerRevision", "metadata": {"name": name, "namespace": "shop", "labels": labels}}


def test_a_lost_revision_stops_nothing() -> None:
    lookup = Objects([SMALL])
    assert power_problem(vm("r-1"), lookup, NEWEST) == f"{LOST}neither start, stop nor restart the VM{REMEDY}"
    pinned = vm(revisionName="r-1")
    assert power_problem(pinned, lookup, NEWEST) == f"{LOST}neither start, stop nor restart the VM{REMEDY}"
    assert power_problem(pinned, lookup, parse_release("1.4.0")) == f"{LOST}not start the VM again{REMEDY}"


def test_a_missing_object_starts_nothing() -> None:
    text = power_problem(vm(), Objects([]), NEWEST)
    assert text == (
        'spec.instancetype.name: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found; create'
        " it, or declare the VM with another"
    )
