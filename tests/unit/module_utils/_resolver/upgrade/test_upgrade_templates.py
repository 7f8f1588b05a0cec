"""What becomes of VirtualMachineTemplates by an upgrade; templates.json.gz has what virt-template v0.2.2 made."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    kubevirt_of,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.machine import Side, side
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.steps import steps
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.upgrade.templates import (
    Template,
    made,
    rehearse,
    substituted,
)

Manifest = dict[str, Any]

RECORDED = json.loads(gzip.decompress(Path(__file__).with_name("templates.json.gz").read_bytes()))
KINDS = {"kind": "VirtualMachineClusterInstancetype"}
SMALL = {**KINDS, "metadata": {"name": "small"}, "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}}}
PANICS = {
    "kind": "VirtualMachineClusterPreference",
    "metadata": {"name": "panics"},
    "spec": {"devices": {"preferredPanicDeviceModel": "hyperv"}},
}
# A surrogate without its partner, which Go replaces.
GO_ONLY = {"into an annotation: '\"\\\\ud800\"'"}


def template(parameters: list[Manifest] | None = None, **spec: Any) -> Manifest:
    vm = {"metadata": {"name": "${NAME}"}, "spec": {"runStrategy": "Always", **spec}}
    vm["spec"].setdefault("template", {"spec": {"domain": {"devices": {}}}})
    named = {"name": "NAME", "generate": "expression", "from": "vm-[a-z]{5}"}
    return {
        "kind": "VirtualMachineTemplate",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"virtualMachine": vm, "parameters": [named] if parameters is None else parameters},
    }


def sides(old: str, new: str) -> tuple[Side, Side]:
    found = Objects([SMALL, PANICS])
    before, after = (side(Cluster(found, kubevirt_of({}, version))) for version in (old, new))
    return before, after


def rehearsed(manifest: Manifest, old: str = "1.8.4", new: str = "1.9.0") -> Template:
    return rehearse(manifest, *sides(old, new))


def test_substitution_is_as_recorded() -> None:
    for case in RECORDED:
        values = {one["name"]: one.get("value") or "" for one in case["template"].get("parameters") or ()}
        found = substituted(case["template"]["virtualMachine"], values | case["parameters"])
        assert found == case["expect"] or case["about"] in GO_ONLY, case["about"]
    assert len(RECORDED) > 500


def test_an_unknown_parameter_stays() -> None:
    assert substituted({"a": "${KNOWN}-${UNKNOWN}"}, {"KNOWN": "x"}) == {"a": "x-${UNKNOWN}"}


def test_a_template_whose_vms_are_different() -> None:
    found = rehearsed(template(instancetype={"name": "small"}, preference={"name": "panics"}))
    assert found.changes == ({"field": "domain.devices.panicDevices", "before": None, "after": [{"model": "hyperv"}]},)
    assert (found.concerned, found.label, found.refusal) == (True, "shop/web", "")
    assert found.before.guest["vcpus"] == 2
    same = rehearsed(template(instancetype={"name": "small"}), "1.9.0", "1.9.0")
    assert not same.concerned


def test_a_template_whose_vms_are_rejected() -> None:
    conflicting = {"spec": {"domain": {"devices": {}, "memory": {"guest": "2Gi"}}}}
    found = rehearsed(template(instancetype={"name": "small"}, template=conflicting))
    assert "conflicts with selected instance type" in found.refusal and found.refusal_before
    assert not found.concerned
    tpm = {"spec": {"domain": {"devices": {"tpm": {"persistent": True}}, "memory": {"guest": "1Gi"}}}}
    back = rehearsed(template(template=tpm), "1.9.0", "1.5.3")
    assert (back.refusal_before, "VMPersistentState" in back.refusal, back.concerned) == ("", True, True)
    before, after = (one.cluster.kubevirt for one in sides("1.9.0", "1.5.3"))
    # One that is rejected is not told of again as one that cannot start, and is compared with no other.
    problem = back.after._replace(problem="no")
    back, stuck = (Alone(*one._replace(after=problem)) for one in (back, back._replace(refusal_before="no")))
    step, other = (one for one in steps([], [], before, after, [back, stuck]) if one.templates)
    assert (other.text, len(other.templates)) == ("Change templates whose VMs the new KubeVirt cannot start", 1)
    assert (step.text, step.templates) == ("Change templates whose VMs the new KubeVirt rejects", ("shop/web",))


class Alone(Template):
    def __eq__(self, other: object) -> bool:
        raise AssertionError("templates are compared")


@pytest.mark.parametrize("value", [None, "", "small"])
def test_a_parameter_may_have_no_value(value: str | None) -> None:
    parameters = [
        {"name": "NAME", "required": True},
        {"name": "SIZE_OF", **({"value": value} if value is not None else {})},
    ]
    manifest = template(parameters, instancetype={"name": "${SIZE_OF}"})
    vm = made(manifest)
    assert vm["metadata"] == {"name": "parameter-name", "namespace": "shop"}
    assert vm["spec"]["instancetype"]["name"] == (value or "parameter-size-of")
    found = rehearsed(manifest)
    assert ('"parameter-size-of" not found' in found.after.problem) == (not value)
    assert found.before.problem == found.after.problem


@pytest.mark.parametrize("broken", [{"virtualMachine": {}}, {"virtualMachine": {"spec": {"template": 1}}}, {}])
def test_a_template_that_makes_no_vm(broken: Manifest) -> None:
    found = rehearsed({**template(), "spec": broken})
    assert found.after.problem and found.before.problem == found.after.problem
    assert (found.concerned, found.changes, found.after.guest) == (False, (), {})
