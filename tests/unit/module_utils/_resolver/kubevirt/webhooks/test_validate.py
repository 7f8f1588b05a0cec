"""The validating webhooks, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api import release_schema
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import (
    NEWEST,
    Release,
    parse_release,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.config.cluster import (
    Cluster,
    KubeVirt,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.webhooks import validate
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.webhooks.response import (
    Response,
)


def obj(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": name}, "spec": spec}


SMALL = obj("VirtualMachineClusterInstancetype", "small", cpu={"guest": 3}, memory={"guest": "1Gi"})


def vm(domain: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}, **(domain or {})}}}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **spec}}


def response(
    manifest: dict[str, Any],
    *objects: dict[str, Any],
    release: Release = NEWEST,
    settings: dict[str, Any] | None = None,
    architecture: str = "amd64",
) -> Response:
    canonical = release_schema.canonical("VirtualMachine", manifest, release)
    return validate.virtual_machine(
        canonical, Cluster(Objects(objects), KubeVirt(release, settings or {}, architecture))
    )


def preference(**spec: Any) -> Response:
    kind = "VirtualMachinePreference"
    return validate.validate(kind, obj(kind, "p", **spec))


def test_inputs_stay_unchanged() -> None:
    manifest, objects = vm(instancetype={"name": "small"}), [copy.deepcopy(SMALL)]
    before = copy.deepcopy(manifest)
    assert response(manifest, *objects).allowed
    assert (manifest, objects) == (before, [SMALL])


def test_order_of_validation_steps() -> None:
    demanding_preference = obj(
        "VirtualMachineClusterPreference",
        "p",
        cpu={"preferredCPUTopology": "spread"},
        requirements={"cpu": {"guest": 8}},
    )
    slirp = {"network": {"defaultNetworkInterface": "slirp"}}
    matchers = {"instancetype": {"name": "small"}, "preference": {"name": "p"}}
    cores = {"cpu": {"cores": 1}}

    spread = response(vm(cores, **matchers), SMALL, demanding_preference, settings=slirp)
    assert (spread.stage, spread.causes[0].field) == ("apply", "instancetype.spec.cpu.guest")
    del demanding_preference["spec"]["cpu"]
    conflicts = response(vm(cores, **matchers), SMALL, demanding_preference, settings=slirp)
    assert (conflicts.stage, conflicts.causes[0].field) == ("apply", "spec.template.spec.domain.cpu.cores")
    assert response(vm(**matchers), SMALL, demanding_preference, settings=slirp).stage == "defaults"
    assert response(vm(**matchers), SMALL, demanding_preference).stage == "requirements"


def test_default_architecture_is_that_of_cluster() -> None:
    demanding_preference = obj("VirtualMachineClusterPreference", "p", requirements={"architecture": "arm64"})
    manifest = vm(preference={"name": "p"})
    assert not response(manifest, demanding_preference).allowed
    assert response(manifest, demanding_preference, architecture="arm64").allowed


def test_captured_revision_overrides_live_object() -> None:
    manifest = vm({"cpu": {"model": "host-model"}}, instancetype={"name": "small", "revisionName": "r"})
    captured = copy.deepcopy(SMALL)
    captured["spec"]["cpu"]["model"] = "host-passthrough"
    data = {"apiVersion": "instancetype.kubevirt.io/v1beta1", **captured}
    revision = {"kind": "ControllerRevision", "metadata": {"name": "r", "namespace": "web"}, "data": data}
    assert response(manifest, SMALL, revision).causes[0].field == "spec.template.spec.domain.cpu.model"


def test_deleted_vm_is_allowed() -> None:
    manifest = vm({"cpu": {"cores": 1}}, instancetype={"name": "small"})
    assert not response(manifest, SMALL).allowed
    manifest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert response(manifest, SMALL).allowed


def test_crash_of_kubevirt_is_a_refusal() -> None:
    zero = obj(
        "VirtualMachineClusterPreference",
        "p",
        cpu={"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}},
    )
    refused = response(vm(instancetype={"name": "small"}, preference={"name": "p"}), SMALL, zero)
    assert refused.reason == "InternalError"
    assert response(vm(template=None)).code == 500


def test_causes_beyond_ten_are_counted() -> None:
    annotations = {f"k{number:02}": "1" for number in range(11)}
    instancetype = copy.deepcopy(SMALL)
    instancetype["spec"]["annotations"] = dict.fromkeys(annotations, "2")
    manifest = vm(instancetype={"name": "small"})
    manifest["spec"]["template"]["metadata"] = {"annotations": annotations}
    refused = response(manifest, instancetype)
    assert len(refused.causes) == 10
    assert refused.message.endswith(", and 1 more validation errors")


@pytest.mark.parametrize("topology", ["spread", "preferSpread"])
def test_cores_threads_spread_needs_ratio_of_two(topology: str) -> None:
    cpu = {"preferredCPUTopology": topology, "spreadOptions": {"across": "CoresThreads"}}
    assert preference(cpu=cpu, preferSpreadSocketToCoreRatio=2).allowed
    refused = preference(cpu=cpu, preferSpreadSocketToCoreRatio=3)
    assert [cause.field for cause in refused.causes] == ["spec.cpu.spreadOptions.ratio"]
    assert refused.warnings == ()


def test_unknown_kind_raises_key_error() -> None:
    with pytest.raises(KeyError):
        validate.validate("Pod", {})


# As the mutating webhook of the releases before 1.7 leaves a matcher without kind.
NAMED = {"name": "p", "kind": "virtualmachineclusterpreference"}
DEMANDING_PREFERENCE = obj("VirtualMachineClusterPreference", "p", requirements={"cpu": {"guest": 2}})


def test_missing_objects_are_refused_until_1_5() -> None:
    manifest = vm(instancetype={"name": "small"}, preference={"name": "p"})
    refused = response(manifest, release=parse_release("1.5"))
    assert (refused.code, refused.stage) == (422, "apply")
    assert [cause._asdict() for cause in refused.causes] == [
        {
            "type": "FieldValueNotFound",
            "message": "Failure to find instancetype: "
            'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "small" not found',
            "field": "spec.instancetype",
        }
    ]
    preference_alone = response(manifest, SMALL, release=parse_release("1.5")).causes[0]
    assert preference_alone.message.startswith("Failure to find preference: virtualmachineclusterpreferences.")
    assert preference_alone.field == "spec.preference"
    assert response(manifest, SMALL, DEMANDING_PREFERENCE, release=parse_release("1.5")).allowed
    assert response(manifest, release=parse_release("1.6")).allowed


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.4", "VM field spec.template.spec.domain.cpu.cores conflicts with selected instance type"),
        ("1.5", "VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type"),
    ],
)
def test_conflict_message_depends_on_release(version: str, message: str) -> None:
    refusal = response(vm({"cpu": {"cores": 1}}, instancetype={"name": "small"}), SMALL, release=parse_release(version))
    assert (refusal.message, refusal.causes[0].field) == (message, "spec.template.spec.domain.cpu.cores")


def test_memory_requirement_depends_on_release() -> None:
    demanding_preference = obj("VirtualMachineClusterPreference", "p", requirements={"memory": {"guest": "2Gi"}})
    huge_pages_only = vm({"memory": {"hugepages": {"pageSize": "2Mi"}}}, preference={"name": "p"})
    assert response(vm(preference={"name": "p"}), demanding_preference).stage == "requirements"
    # The default of the guest's memory comes first, here from the huge pages.
    assert response(huge_pages_only, demanding_preference, release=parse_release("1.5.0")).stage == "requirements"
    no_guest_memory = vm({"memory": {"maxGuest": "4Gi"}}, preference={"name": "p"})
    assert response(no_guest_memory, demanding_preference, release=parse_release("1.5.0")).code == 500
    assert response(no_guest_memory, demanding_preference, release=parse_release("1.5.1")).stage == "requirements"


def stored(kind: str, version: str, **spec: Any) -> Response:
    return validate.validate(kind, obj(kind, "p", **spec), parse_release(version))


def test_instancetype_and_preference_webhooks_by_release() -> None:
    preference, instancetype = "VirtualMachinePreference", "VirtualMachineInstancetype"
    unknown, deprecated = {"preferredCPUTopology": "dice"}, {"preferredCPUTopology": "preferCores"}
    assert stored(preference, "1.4", cpu=unknown).message == "unknown preferredCPUTopology dice"
    assert stored(preference, "1.4", cpu=deprecated).warnings == (
        "PreferredCPUTopology preferCores is deprecated for removal in a future release, please use cores instead",
    )

    odd = {"preferredCPUTopology": "preferSpread", "spreadOptions": {"across": "Threads"}}
    assert stored(preference, "1.4", cpu=odd).message == "across Threads is not supported"

    guarded = {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "launchSecurity": {"sev": {}}}
    assert stored(instancetype, "1.8", **guarded) == Response()
    assert stored(instancetype, "1.9", **guarded).warnings == (
        "launchSecurity is deprecated and will be removed in a future release. Use preference instead.",
    )
