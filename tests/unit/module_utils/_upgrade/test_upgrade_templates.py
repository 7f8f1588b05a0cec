"""An upgrade's changes of VirtualMachineTemplates."""

from typing import Any

import pytest

from plugins.module_utils._resolver.kubevirt.cluster import Cluster, kubevirt_of
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._upgrade.steps import steps
from plugins.module_utils._upgrade.vm import UpgradeChange, UpgradeSide, default_vm, template_change, upgrade_side

Manifest = dict[str, Any]

KINDS = {"kind": "VirtualMachineClusterInstancetype"}
SMALL = {**KINDS, "metadata": {"name": "small"}, "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}}
PANICS = {
    "kind": "VirtualMachineClusterPreference",
    "metadata": {"name": "panics"},
    "spec": {"devices": {"preferredPanicDeviceModel": "hyperv"}},
}


def template(parameters: list[Manifest] | None = None, **spec: Any) -> Manifest:
    vm = {"metadata": {"name": "${NAME}"}, "spec": {"runStrategy": "Always", **spec}}
    vm["spec"].setdefault("template", {"spec": {"domain": {"devices": {}}}})
    named = {"name": "NAME", "generate": "expression", "from": "vm-[a-z]{5}"}
    return {
        "kind": "VirtualMachineTemplate",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"virtualMachine": vm, "parameters": [named] if parameters is None else parameters},
    }


def sides(before: str, after: str) -> tuple[UpgradeSide, UpgradeSide]:
    lookup = Objects([SMALL, PANICS])
    before, after = (upgrade_side(Cluster(lookup, kubevirt_of({}, version))) for version in (before, after))
    return before, after


def upgraded(manifest: Manifest, before: str = "1.8.4", after: str = "1.9.0") -> UpgradeChange:
    return template_change(manifest, *sides(before, after))


def test_changes_of_the_vms_of_a_template() -> None:
    change = upgraded(template(instancetype={"name": "small"}, preference={"name": "panics"}))
    assert change.changes == ({"field": "domain.devices.panicDevices", "before": None, "after": [{"model": "hyperv"}]},)
    assert (change.affected, change.label, change.refusal) == (True, "shop/web", "")
    assert change.before.guest["vcpus"] == 2
    same = upgraded(template(instancetype={"name": "small"}), "1.9.0", "1.9.0")
    assert not same.affected


def test_rejected_vms_of_a_template() -> None:
    conflicting = {"spec": {"domain": {"devices": {}, "memory": {"guest": "2Gi"}}}}
    change = upgraded(template(instancetype={"name": "small"}, template=conflicting))
    assert "conflicts with selected instance type" in change.refusal and change.refusal_before
    assert not change.affected
    tpm = {"spec": {"domain": {"devices": {"tpm": {"persistent": True}}, "memory": {"guest": "1Gi"}}}}
    back = upgraded(template(template=tpm), "1.9.0", "1.5.3")
    assert (back.refusal_before, "VMPersistentState" in back.refusal, back.affected) == ("", True, True)
    before, after = (entry.cluster.kubevirt for entry in sides("1.9.0", "1.5.3"))
    # A rejected template is not listed again as one that cannot start. Alone fails if templates are compared.
    problem = back.after._replace(problem="no")
    back, stuck = (Alone(**{**vars(back), "after": problem, "refusal_before": why}) for why in ("", "no"))
    other, step = (entry for entry in steps([], [], before, after, [back, stuck]) if entry.templates)
    assert (other.text, len(other.templates)) == ("Change templates whose VMs the new KubeVirt cannot start", 1)
    assert (step.text, step.templates) == ("Change templates whose VMs the new KubeVirt rejects", ("shop/web",))


class Alone(UpgradeChange):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("templates are compared")


@pytest.mark.parametrize("value", [None, "", "small"])
def test_a_parameter_may_have_no_value(value: str | None) -> None:
    parameters = [
        {"name": "NAME", "required": True},
        {"name": "SIZE_OF", **({"value": value} if value is not None else {})},
    ]
    manifest = template(parameters, instancetype={"name": "${SIZE_OF}"})
    vm = default_vm(manifest)
    assert vm["metadata"] == {"name": "1", "namespace": "shop"}
    assert vm["spec"]["instancetype"]["name"] == (value or "1")
    change = upgraded(manifest)
    assert ('"1" not found' in change.after.problem) == (not value)
    assert change.before.problem == change.after.problem


@pytest.mark.parametrize("broken", [{"virtualMachine": {}}, {"virtualMachine": {"spec": {"template": 1}}}, {}])
def test_a_template_that_makes_no_vm(broken: Manifest) -> None:
    change = upgraded({**template(), "spec": broken})
    assert change.after.problem and change.before.problem == change.after.problem
    assert (change.affected, change.changes, change.after.guest) == (False, (), {})
