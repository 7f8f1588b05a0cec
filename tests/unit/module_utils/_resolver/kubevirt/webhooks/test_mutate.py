"""The mutating webhook, beyond what the vectors show."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.webhooks.mutate import mutate

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
    assert refusal.message == "the VirtualMachine has no template"


def test_a_value_of_a_wrong_type_is_refused_in_the_words_of_go() -> None:
    given = vm()
    given["spec"]["template"]["spec"]["domain"]["cpu"] = {"cores": -1}
    refusal = mutate(given, Objects([])).refusal
    assert refusal is not None
    assert refusal.status() == {
        "code": 400,
        "message": "json: cannot unmarshal number -1 into Go struct field"
        " VirtualMachineInstanceTemplateSpec.spec.template.spec.domain.cpu.cores of type uint32",
    }


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("1.6", ["virtualmachineclusterinstancetype", "VirtualMachinePreference"]),
        ("1.7", [None, "VirtualMachinePreference"]),
    ],
)
def test_a_missing_kind_was_written_until_1_6(version: str, kinds: list[str | None]) -> None:
    given = vm(instancetype={"name": "i"}, preference={"name": "p", "kind": "VirtualMachinePreference"})
    mutated = mutate(given, Objects([]), release=of(version)).vm
    assert mutated is not None
    assert [mutated["spec"][matcher].get("kind") for matcher in ("instancetype", "preference")] == kinds


def test_the_kind_that_was_written_is_found() -> None:
    # Until 1.3.0 a preference was not found without one.
    mutated = mutate(vm(preference={"name": "p"}), Objects([PREFERENCE]), release=of("1.3.0")).vm
    assert mutated is not None
    assert mutated["spec"]["template"]["spec"]["domain"]["machine"] == {"type": "virt"}
    assert "instancetype" not in mutated["spec"]


@pytest.mark.parametrize(
    ("version", "causes"),
    [
        (
            "1.6",
            [
                ("FieldValueNotFound", "Name should not be provided when InferFromVolume is used within the {}"),
                ("FieldValueNotFound", "Kind should not be provided when InferFromVolume is used within the {}"),
            ],
        ),
        (
            "1.7",
            [
                ("FieldValueNotSupported", "Name already set, should be cleared before setting inferFromVolume"),
                ("FieldValueNotSupported", "Kind already set, should be cleared before setting inferFromVolume"),
            ],
        ),
    ],
)
def test_a_name_beside_inference_is_refused_in_the_words_of_the_release(
    version: str, causes: list[tuple[str, str]]
) -> None:
    for matcher, matcher_type in (("instancetype", "InstancetypeMatcher"), ("preference", "PreferenceMatcher")):
        given = vm(**{matcher: {"name": "n", "kind": "k", "inferFromVolume": "v"}})
        refusal = mutate(given, Objects([]), release=of(version)).refusal
        assert refusal is not None
        assert [(cause.type, cause.message) for cause in refusal.causes] == [
            (kind, message.format(matcher_type)) for kind, message in causes
        ]
        assert fields(refusal.causes) == [f"spec.{matcher}.name", f"spec.{matcher}.kind"]


def test_the_first_release_gave_a_storage_class_to_claims_alone() -> None:
    templates = [{"spec": {"pvc": {}}}, {"spec": {"storage": {}}}]
    for version, classes in (("1.0.0", ["fast", None]), ("1.0.1", ["fast", "fast"])):
        mutated = mutate(
            vm(preference={"name": "p"}, dataVolumeTemplates=templates),
            Objects([PREFERENCE]),
            None,
            "CREATE",
            of(version),
        ).vm
        assert mutated is not None
        first, second = mutated["spec"]["dataVolumeTemplates"]
        assert [
            first["spec"]["pvc"].get("storageClassName"),
            second["spec"]["storage"].get("storageClassName"),
        ] == classes


def test_a_preference_gives_the_architecture_since_1_7() -> None:
    for version, architecture in (("1.6", None), ("1.7", "arm64")):
        mutated = mutate(vm(preference={"name": "p"}), Objects([PREFERENCE]), release=of(version)).vm
        assert mutated is not None
        assert mutated["spec"]["template"]["spec"].get("architecture") == architecture


def test_the_first_release_knew_no_failure_policy() -> None:
    given = vm(instancetype={"inferFromVolume": "v", "inferFromVolumeFailurePolicy": "Never"})
    given["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "containerDisk": {"image": "i"}}]
    told = {version: mutate(given, Objects([]), release=of(version)).refusal for version in ("1.0", "1.1")}
    assert told["1.0"] is not None and told["1.1"] is not None
    assert told["1.0"].message == "unable to infer defaults from volume v as type is not supported"
    assert told["1.1"].message == "Invalid value 'Never' for InferFromVolumeFailurePolicy"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"preference": {"kind": "VirtualMachinePreference"}},
            (
                "FieldValueNotFound",
                "Either Name or InferFromVolume should be provided within the PreferenceMatcher",
                "spec.preference",
            ),
        ),
        (
            {"instancetype": {"revisionName": "r"}},
            (
                "FieldValueNotFound",
                "Either Name or InferFromVolume should be provided within the InstancetypeMatcher",
                "spec.instancetype",
            ),
        ),
        (
            {"instancetype": {"name": "i", "inferFromVolumeFailurePolicy": "Maybe"}},
            (
                "FieldValueInvalid",
                "Invalid value 'Maybe' for InferFromVolumeFailurePolicy",
                "spec.instancetype.inferFromVolumeFailurePolicy",
            ),
        ),
    ],
)
def test_a_matcher_that_cannot_be(spec: dict[str, Any], told: tuple[str, str, str]) -> None:
    refusal = mutate(vm(**spec), Objects([])).refusal
    assert refusal is not None
    assert [(cause.type, cause.message, cause.field) for cause in refusal.causes] == [told]


@pytest.mark.parametrize("policy", ["Ignore", "Reject"])
def test_the_failure_policies_that_there_are(policy: str) -> None:
    given = vm(instancetype={"name": "i", "inferFromVolumeFailurePolicy": policy})
    mutated = mutate(given, Objects([])).vm
    assert mutated is not None
    assert mutated["spec"]["instancetype"] == {"name": "i", "inferFromVolumeFailurePolicy": policy}


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        ({"name": "p", "revisionName": "r"}, {"name": "q", "revisionName": "r"}, True),
        ({"name": "p", "revisionName": "r"}, {"name": "q", "revisionName": "s"}, False),
        ({"name": "p", "revisionName": "r"}, {"name": "p", "revisionName": "r"}, False),
        ({"name": "p", "revisionName": "r"}, {"name": "q"}, False),
        ({"name": "p", "revisionName": "r"}, None, False),
        ({"name": "p"}, {"name": "q"}, False),
        (None, {"name": "q", "revisionName": "r"}, False),
    ],
)
def test_a_revision_is_of_one_name(before: Any, after: Any, refused: bool) -> None:
    for matcher in ("instancetype", "preference"):
        old, new = (vm(**({matcher: given} if given else {})) for given in (before, after))
        refusal = mutate(new, Objects([]), old, "UPDATE").refusal
        causes = refusal.causes if refusal is not None else ()
        message = "the Matcher Name has been updated without updating the RevisionName"
        expected = [("FieldValueInvalid", message, f"spec.{matcher}.revisionName")] if refused else []
        assert [(cause.type, cause.message, cause.field) for cause in causes] == expected


def test_the_stored_vm_counts_on_an_update_alone() -> None:
    old, new = vm(preference={"name": "p", "revisionName": "r"}), vm(preference={"name": "q", "revisionName": "r"})
    assert mutate(new, Objects([]), old).refusal is None
    assert mutate(new, Objects([]), None, "UPDATE").refusal is None
    refusal = mutate(vm(), Objects([]), vm(runStrategy=1), "UPDATE").refusal
    assert refusal is not None
    assert refusal.message == "spec.runStrategy: expected text, found 1"
    # What the release does not know is not read, nor is what nobody asks for.
    newer = vm(preference={"name": "p", "inferFromVolumeFailurePolicy": 5})
    assert mutate(vm(), Objects([]), newer, "UPDATE", of("1.0")).refusal is None
    assert mutate(vm(), Objects([]), newer, "CREATE").refusal is None


def test_a_release_infers_from_what_it_knows() -> None:
    snapshot = {
        "kind": "VolumeSnapshot",
        "metadata": {
            "name": "s",
            "namespace": "web",
            "labels": {"instancetype.kubevirt.io/default-preference": "p"},
        },
    }
    volume = {
        "kind": "DataVolume",
        "metadata": {"name": "d", "namespace": "web"},
        "spec": {"source": {"snapshot": {"name": "s", "namespace": "web"}}},
    }
    given = vm(preference={"inferFromVolume": "v"})
    given["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "dataVolume": {"name": "d"}}]
    mutated = mutate(given, Objects([snapshot, volume])).vm
    assert mutated is not None
    assert mutated["spec"]["preference"] == {"name": "p"}
    refusal = mutate(given, Objects([snapshot, volume]), release=of("1.8")).refusal
    assert refusal is not None
    assert not refusal.crash
    assert refusal.status() == {
        "code": 400,
        "message": "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported",
    }


def test_of_two_templates_each_gets_the_storage_class_and_other_fields_stay() -> None:
    templates = [
        {"spec": {"storage": {"volumeMode": "Block"}}},
        {"spec": {"pvc": {"storageClassName": "own"}}},
        {"spec": {"pvc": {}}},
    ]
    mutated = mutate(vm(preference={"name": "p"}, dataVolumeTemplates=templates), Objects([PREFERENCE])).vm
    assert mutated is not None
    specs = [template["spec"] for template in mutated["spec"]["dataVolumeTemplates"]]
    assert [(spec.get("storage") or spec.get("pvc"))["storageClassName"] for spec in specs] == ["fast", "own", "fast"]
    assert specs[0]["storage"]["volumeMode"] == "Block"


def test_a_machine_type_of_the_vm_stays() -> None:
    for own, given in (("pc", "pc"), ("", "virt")):
        machine = vm(preference={"name": "p"})
        machine["spec"]["template"]["spec"]["domain"]["machine"] = {"type": own}
        mutated = mutate(machine, Objects([PREFERENCE])).vm
        assert mutated is not None
        assert mutated["spec"]["template"]["spec"]["domain"]["machine"] == {"type": given}
