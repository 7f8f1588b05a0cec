"""The validating webhooks, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver import defaults, validate
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.admission import Response
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.find import Objects

NOTHING = Objects([])


def obj(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


SMALL = obj("VirtualMachineClusterInstancetype", "small", cpu={"guest": 3}, memory={"guest": "1Gi"})


def vm(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}


def answer(manifest: dict[str, Any], *objects: dict[str, Any], **options: Any) -> Response:
    return validate.validate("VirtualMachine", manifest, Objects(objects), **options)


def preference(**spec: Any) -> Response:
    kind = "VirtualMachinePreference"
    return validate.validate(kind, obj(kind, "p", **spec), NOTHING)


def test_inputs_stay_as_they_are() -> None:
    manifest, objects = vm(instancetype={"name": "small"}), [copy.deepcopy(SMALL)]
    before = copy.deepcopy(manifest)
    assert answer(manifest, *objects).allowed
    assert (manifest, objects) == (before, [SMALL])


def test_steps_come_in_the_order_of_kubevirt() -> None:
    wants = obj(
        "VirtualMachineClusterPreference",
        "p",
        cpu={"preferredCPUTopology": "spread"},
        requirements={"cpu": {"guest": 8}},
    )
    slirp = defaults.configuration({"network": {"defaultNetworkInterface": "slirp"}})
    matchers = {"instancetype": {"name": "small"}, "preference": {"name": "p"}}
    cores = {"cpu": {"cores": 1}}

    spread = answer(vm(cores, **matchers), SMALL, wants, config=slirp)
    assert (spread.stage, spread.causes[0].field) == ("apply", "instancetype.spec.cpu.guest")
    del wants["spec"]["cpu"]
    conflicts = answer(vm(cores, **matchers), SMALL, wants, config=slirp)
    assert (conflicts.stage, conflicts.causes[0].field) == ("apply", "spec.template.spec.domain.cpu.cores")
    assert answer(vm(**matchers), SMALL, wants, config=slirp).stage == "defaults"
    assert answer(vm(**matchers), SMALL, wants).stage == "requirements"


def test_the_default_architecture_is_that_of_the_cluster() -> None:
    wants = obj("VirtualMachineClusterPreference", "p", requirements={"architecture": "arm64"})
    manifest = vm(preference={"name": "p"})
    assert not answer(manifest, wants).allowed
    assert answer(manifest, wants, config=defaults.configuration(architecture="arm64")).allowed


def test_a_captured_revision_counts_rather_than_the_live_object() -> None:
    manifest = vm({"cpu": {"model": "host-model"}}, instancetype={"name": "small", "revisionName": "r"})
    captured = copy.deepcopy(SMALL)
    captured["spec"]["cpu"]["model"] = "host-passthrough"
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", **captured}
    revision = {"kind": "ControllerRevision", "metadata": {"name": "r", "namespace": "web"}, "data": data}
    assert answer(manifest, SMALL, revision).causes[0].field == "spec.template.spec.domain.cpu.model"


def test_a_vm_that_is_being_deleted_or_written_otherwise_is_not_looked_at() -> None:
    manifest = vm({"cpu": {"cores": 1}}, instancetype={"name": "small"})
    assert not answer(manifest, SMALL).allowed
    assert answer(manifest, SMALL, operation="DELETE").allowed
    manifest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert answer(manifest, SMALL).allowed


def test_a_crash_of_kubevirt_is_a_refusal() -> None:
    zero = obj(
        "VirtualMachineClusterPreference",
        "p",
        cpu={"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}},
    )
    refused = answer(vm(instancetype={"name": "small"}, preference={"name": "p"}), SMALL, zero)
    assert (refused.crash, refused.status()["reason"]) == (True, "InternalError")
    assert answer(vm(template=None)).crash


def test_eleven_causes_are_ten_and_one_more() -> None:
    annotations = {f"k{number:02}": "1" for number in range(11)}
    instancetype = copy.deepcopy(SMALL)
    instancetype["spec"]["annotations"] = dict.fromkeys(annotations, "2")
    manifest = vm(instancetype={"name": "small"})
    manifest["spec"]["template"]["metadata"] = {"annotations": annotations}
    status = answer(manifest, instancetype).status()
    assert len(status["details"]["causes"]) == 10
    assert status["message"].endswith(", and 1 more validation errors")


@pytest.mark.parametrize("topology", ["spread", "preferSpread"])
def test_a_preference_with_an_old_ratio_may_spread_over_cores_and_threads_by_two_alone(topology: str) -> None:
    cpu = {"preferredCPUTopology": topology, "spreadOptions": {"across": "CoresThreads"}}
    assert preference(cpu=cpu, preferSpreadSocketToCoreRatio=2).allowed
    refused = preference(cpu=cpu, preferSpreadSocketToCoreRatio=3)
    assert [cause.field for cause in refused.causes] == ["spec.cpu.spreadOptions.ratio"]
    assert refused.warnings == ()


def test_an_unknown_kind_is_no_answer() -> None:
    with pytest.raises(KeyError):
        validate.validate("Pod", {}, NOTHING)
