"""The validating webhooks, beyond what the vectors show."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import release_schema
from plugins.module_utils._resolver.api.release import NEWEST, Release, parse_release
from plugins.module_utils._resolver.kubevirt.admission import validate
from plugins.module_utils._resolver.kubevirt.admission.response import Response
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects


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


def test_unknown_kind_raises_key_error() -> None:
    with pytest.raises(KeyError):
        validate.validate("Pod", {})


# The mutating webhook of the releases before 1.7 leaves a matcher without kind so.
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
