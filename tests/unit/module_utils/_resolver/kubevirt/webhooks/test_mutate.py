"""The mutating webhook, beyond what the vectors show."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from plugins.module_utils._resolver.kubevirt.webhooks.mutate import mutate, with_source_architecture

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


def test_inputs_stay_unchanged() -> None:
    manifest, objects = vm(preference={"name": "p"}), [copy.deepcopy(PREFERENCE)]
    before = copy.deepcopy(manifest)
    mutated = mutate(manifest, Objects(objects))
    assert (manifest, objects) == (before, [PREFERENCE])
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "arm64"
    assert mutated.vm["spec"]["template"]["spec"]["domain"]["machine"] == {"type": "virt"}


def test_fields_of_vm_stay() -> None:
    manifest = vm(preference={"name": "p"}, dataVolumeTemplates=[{"spec": {"storage": {"storageClassName": ""}}}])
    manifest["spec"]["template"]["spec"]["architecture"] = "amd64"
    mutated = mutate(manifest, Objects([PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "amd64"
    assert mutated.vm["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]["storageClassName"] == ""


def test_preference_changes_nothing_without_template() -> None:
    manifest = vm(preference={"name": "p"}, template=None, dataVolumeTemplates=[{"spec": {"storage": {}}}])
    mutated = mutate(manifest, Objects([PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"] is None
    assert "storageClassName" not in mutated.vm["spec"]["dataVolumeTemplates"][0]["spec"]["storage"]


def test_inferred_preference_is_applied() -> None:
    labels = {"instancetype.kubevirt.io/default-preference": "p"}
    pvc = {"kind": "PersistentVolumeClaim", "metadata": {"name": "d", "namespace": "web", "labels": labels}}
    manifest = vm(preference={"inferFromVolume": "v"})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": "d"}}]
    mutated = mutate(manifest, Objects([pvc, PREFERENCE]))
    assert mutated.vm is not None
    assert mutated.vm["spec"]["template"]["spec"]["architecture"] == "arm64"


def test_vm_being_deleted_is_allowed() -> None:
    manifest = vm(instancetype={})
    manifest["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert mutate(manifest, Objects([])).refusal is None


def test_inference_without_template_crashes_kubevirt() -> None:
    refusal = mutate(vm(instancetype={"inferFromVolume": "v"}, template=None), Objects([])).refusal
    assert refusal is not None
    assert refusal.code == 500
    assert refusal.message == "the VirtualMachine has no template"


@pytest.mark.parametrize(
    ("version", "kinds"),
    [
        ("1.6", ["virtualmachineclusterinstancetype", "VirtualMachinePreference"]),
        ("1.7", [None, "VirtualMachinePreference"]),
    ],
)
def test_missing_kind_is_written_until_1_6(version: str, kinds: list[str | None]) -> None:
    manifest = vm(instancetype={"name": "i"}, preference={"name": "p", "kind": "VirtualMachinePreference"})
    mutated = mutate(manifest, Objects([]), release=parse_release(version)).vm
    assert mutated is not None
    assert [mutated["spec"][matcher].get("kind") for matcher in ("instancetype", "preference")] == kinds


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
def test_name_with_inference_is_refused(version: str, causes: list[tuple[str, str]]) -> None:
    for matcher, matcher_type in (("instancetype", "InstancetypeMatcher"), ("preference", "PreferenceMatcher")):
        manifest = vm(**{matcher: {"name": "n", "kind": "k", "inferFromVolume": "v"}})
        refusal = mutate(manifest, Objects([]), release=parse_release(version)).refusal
        assert refusal is not None
        assert [(cause.type, cause.message) for cause in refusal.causes] == [
            (kind, message.format(matcher_type)) for kind, message in causes
        ]
        assert fields(refusal.causes) == [f"spec.{matcher}.name", f"spec.{matcher}.kind"]


@pytest.mark.parametrize(
    ("spec", "expected"),
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
def test_invalid_matchers(spec: dict[str, Any], expected: tuple[str, str, str]) -> None:
    refusal = mutate(vm(**spec), Objects([])).refusal
    assert refusal is not None
    assert [(cause.type, cause.message, cause.field) for cause in refusal.causes] == [expected]


@pytest.mark.parametrize("policy", ["Ignore", "Reject"])
def test_failure_policies(policy: str) -> None:
    manifest = vm(instancetype={"name": "i", "inferFromVolumeFailurePolicy": policy})
    mutated = mutate(manifest, Objects([])).vm
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
def test_new_name_needs_new_revision_name(before: Any, after: Any, refused: bool) -> None:
    for matcher in ("instancetype", "preference"):
        stored, manifest = (vm(**({matcher: value} if value else {})) for value in (before, after))
        refusal = mutate(manifest, Objects([]), stored, "UPDATE").refusal
        causes = refusal.causes if refusal is not None else ()
        message = "the Matcher Name has been updated without updating the RevisionName"
        expected = [("FieldValueInvalid", message, f"spec.{matcher}.revisionName")] if refused else []
        assert [(cause.type, cause.message, cause.field) for cause in causes] == expected


def test_stored_vm_counts_only_on_update() -> None:
    stored, manifest = (
        vm(preference={"name": "p", "revisionName": "r"}),
        vm(preference={"name": "q", "revisionName": "r"}),
    )
    assert mutate(manifest, Objects([]), stored).refusal is None
    assert mutate(manifest, Objects([]), None, "UPDATE").refusal is None
    refusal = mutate(vm(), Objects([]), vm(runStrategy=1), "UPDATE").refusal
    assert refusal is not None
    assert refusal.message == "spec.runStrategy: expected a string, found 1"
    # A stored VM of which nobody asks is not read.
    wrong = vm(preference={"name": "p", "inferFromVolumeFailurePolicy": 5})
    assert mutate(vm(), Objects([]), wrong, "CREATE").refusal is None


def test_inference_depends_on_release() -> None:
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
    manifest = vm(preference={"inferFromVolume": "v"})
    manifest["spec"]["template"]["spec"]["volumes"] = [{"name": "v", "dataVolume": {"name": "d"}}]
    mutated = mutate(manifest, Objects([snapshot, volume])).vm
    assert mutated is not None
    assert mutated["spec"]["preference"] == {"name": "p"}
    refusal = mutate(manifest, Objects([snapshot, volume]), release=parse_release("1.8")).refusal
    assert refusal is not None
    assert refusal.as_json() == {
        "allowed": False,
        "code": 400,
        "message": "unable to infer defaults from DataVolumeSpec as DataVolumeSource is not supported",
    }


def test_every_template_gets_missing_storage_class() -> None:
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


def test_machine_type_of_vm_stays() -> None:
    for own, expected in (("pc", "pc"), ("", "virt")):
        machine = vm(preference={"name": "p"})
        machine["spec"]["template"]["spec"]["domain"]["machine"] = {"type": own}
        mutated = mutate(machine, Objects([PREFERENCE])).vm
        assert mutated is not None
        assert mutated["spec"]["template"]["spec"]["domain"]["machine"] == {"type": expected}


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
