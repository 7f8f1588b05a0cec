"""The mutating webhook, beyond what the vectors show."""

import copy
from typing import Any

import pytest
from kubevirt_failures import failure

from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.admission.mutate import mutate, with_source_architecture
from plugins.module_utils._resolver.kubevirt.admission.response import Refused, Response
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

PREFERENCE = {
    "kind": "VirtualMachineClusterPreference",
    "metadata": {"name": "p"},
    "spec": {
        "preferredArchitecture": "arm64",
        "machine": {"preferredMachineType": "virt"},
        "volumes": {"preferredStorageClassName": "fast"},
    },
}


def vm(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"domain": {"devices": {}}}}
    return {"metadata": {"name": "a", "namespace": "web"}, "spec": {"template": template, **copy.deepcopy(spec)}}


def refusal(*arguments: Any) -> Response:
    error = failure(mutate, *arguments)
    assert isinstance(error, Refused)
    return error.response


def test_inputs_stay_unchanged() -> None:
    manifest, objects = vm(preference={"name": "p"}), [copy.deepcopy(PREFERENCE)]
    before = copy.deepcopy(manifest)
    mutated = mutate(manifest, Objects(objects))
    assert (manifest, objects) == (before, [PREFERENCE])
    assert mutated["spec"]["template"]["spec"]["architecture"] == "arm64"
    assert mutated["spec"]["template"]["spec"]["domain"]["machine"] == {"type": "virt"}


def test_preference_changes_nothing_without_template() -> None:
    manifest = vm(preference={"name": "p"}, template=None, dataVolumeTemplates=[{"spec": {"storage": {}}}])
    mutated = mutate(manifest, Objects([PREFERENCE]))
    assert mutated["spec"]["template"] is None
    assert "storageClassName" not in mutated["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]


def test_inferred_preference_is_applied() -> None:
    labels = {"instancetype.kubevirt.io/default-preference": "p"}
    pvc = {"kind": "PersistentVolumeClaim", "metadata": {"name": "d", "namespace": "web", "labels": labels}}
    manifest = vm(preference={"inferFromVolume": "v"})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "d"}}]
    mutated = mutate(manifest, Objects([pvc, PREFERENCE]))
    assert mutated["spec"]["template"]["spec"]["architecture"] == "arm64"


def test_vm_being_deleted_is_allowed() -> None:
    manifest = vm(instancetype={})
    manifest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert mutate(manifest, Objects([]))["spec"]["instancetype"] == {}


def test_inference_without_template_crashes_kubevirt() -> None:
    answer = refusal(vm(instancetype={"inferFromVolume": "v"}, template=None), Objects([]))
    assert (answer.code, answer.message) == (500, "the VirtualMachine has no template")


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("1.6", ["virtualmachineclusterinstancetype", "VirtualMachinePreference"]),
        ("1.7", [None, "VirtualMachinePreference"]),
    ],
)
def test_missing_kind_is_written_until_1_6(version: str, kinds: list[str | None]) -> None:
    manifest = vm(instancetype={"name": "i"}, preference={"name": "p", "kind": "VirtualMachinePreference"})
    mutated = mutate(manifest, Objects([]), release=parse_release(version))
    assert [mutated["spec"][matcher].get("kind") for matcher in ("instancetype", "preference")] == kinds


def test_stored_vm_counts_only_on_update() -> None:
    stored, manifest = (
        vm(preference={"name": "p", "revisionName": "r"}),
        vm(preference={"name": "q", "revisionName": "r"}),
    )
    assert mutate(manifest, Objects([]), stored) == mutate(manifest, Objects([]), None, "UPDATE")
    answer = refusal(vm(), Objects([]), vm(runStrategy=1), "UPDATE")
    assert answer.message == "spec.runStrategy: expected a string, found 1"
    # A stored VM of which nobody asks is not read.
    wrong = vm(preference={"name": "p", "inferFromVolumeFailurePolicy": 5})
    assert mutate(vm(), Objects([]), wrong, "CREATE") == mutate(vm(), Objects([]))


# The architecture that a VM's DataSources are for.


VM: dict[str, Any] = {
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "dataVolumeTemplates": [{"spec": {"sourceRef": {"kind": "DataSource", "name": "os"}}}],
        "template": {"spec": {}},
    },
}


def source(name: str, label: str = "", **spec: Any) -> dict[str, Any]:
    labels = {"template.kubevirt.io/architecture": label} if label else {}
    metadata = {"name": name, "namespace": "shop", "labels": labels}
    return {"kind": "DataSource", "metadata": metadata, "spec": spec}


def test_data_source_may_refer_to_another() -> None:
    alias = source("os", source={"dataSource": {"name": "real", "namespace": "shop"}})
    result = with_source_architecture(VM, Objects([alias, source("real", "arm64")]), NEWEST)
    assert result["spec"]["template"]["spec"]["architecture"] == "arm64"
    unresolved = with_source_architecture(VM, Objects([alias]), NEWEST)
    assert "architecture" not in unresolved["spec"]["template"]["spec"]
