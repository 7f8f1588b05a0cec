"""The mutating webhook, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.find import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.mutate import mutate

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


def fields(causes: Any) -> list[str]:
    return [cause.field for cause in causes]


def test_inputs_stay_as_they_are() -> None:
    given, objects = vm(preference={"name": "p"}), [copy.deepcopy(PREFERENCE)]
    before = copy.deepcopy(given)
    mutated = mutate(given, Objects(objects))
    assert (given, objects) == (before, [PREFERENCE])
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "arm64"
    assert mutated.vm["spec"]["template"]["spec"]["domain"]["machine"] == {"type": "virt"}


def test_what_the_vm_sets_stays() -> None:
    given = vm(preference={"name": "p"}, dataVolumeTemplates=[{"spec": {"storage": {"storageClassName": ""}}}])
    given["spec"]["template"]["spec"]["architecture"] = "amd64"
    mutated = mutate(given, Objects([PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "amd64"
    assert mutated.vm["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]["storageClassName"] == ""


def test_a_vm_without_template_gets_nothing_from_its_preference() -> None:
    given = vm(preference={"name": "p"}, template=None, dataVolumeTemplates=[{"spec": {"storage": {}}}])
    mutated = mutate(given, Objects([PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"] is None
    assert "storageClassName" not in mutated.vm["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]


def test_the_preference_counts_after_it_was_inferred() -> None:
    labels = {"instancetype.kubevirt.io/default-preference": "p"}
    pvc = {"kind": "PersistentVolumeClaim", "metadata": {"name": "d", "namespace": "web", "labels": labels}}
    given = vm(preference={"inferFromVolume": "v"})
    given["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "d"}}]
    mutated = mutate(given, Objects([pvc, PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "arm64"


def test_an_update_is_compared_with_the_stored_vm_before_the_matchers_are_looked_at() -> None:
    old = vm(instancetype={}, preference={"name": "p", "revisionName": "r"})
    new = vm(instancetype={}, preference={"name": "q", "revisionName": "r"})
    refusal = mutate(new, Objects([]), old, "UPDATE").refusal
    assert refusal is not None
    assert fields(refusal.causes) == ["spec.preference.revisionName"]
    refusal = mutate(new, Objects([]), old, "CREATE").refusal
    assert refusal is not None
    assert fields(refusal.causes) == ["spec.instancetype"]


def test_a_vm_that_is_being_deleted_is_let_through() -> None:
    given = vm(instancetype={})
    given["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert mutate(given, Objects([])).refusal is None


def test_inference_without_a_template_is_a_crash_of_kubevirt() -> None:
    refusal = mutate(vm(instancetype={"inferFromVolume": "v"}, template=None), Objects([])).refusal
    assert refusal is not None
    assert refusal.crash
    assert refusal.status()["code"] == 500


def test_a_value_of_a_wrong_type_is_refused_in_the_words_of_go() -> None:
    given = vm()
    given["spec"]["template"]["spec"]["domain"]["cpu"] = {"cores": -1}
    refusal = mutate(given, Objects([])).refusal
    assert refusal is not None
    assert refusal.status() == {
        "code": 400,
        "message": "json: cannot unmarshal number -1 into Go struct field CPU.spec.template.spec.domain.cpu.cores"
        " of type uint32",
    }
