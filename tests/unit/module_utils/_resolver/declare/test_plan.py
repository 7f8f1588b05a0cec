"""Plans: what is a change and what is not."""

import copy
from typing import Any

import pytest

from plugins.module_utils._resolver.api import managed_fields
from plugins.module_utils._resolver.api.tree import value_at
from plugins.module_utils._resolver.declare import plan

MANIFEST = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "web", "labels": {"team": "a"}},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}},
}
OWNER = set(managed_fields.leaf_fields(MANIFEST))


def live(**spec: Any) -> dict[str, Any]:
    result = copy.deepcopy(MANIFEST)
    result["metadata"].update(resourceVersion="7", uid="u", generation=1)
    result["spec"].update(spec)
    return result


def test_a_missing_object_is_created() -> None:
    manifest = plan.present(MANIFEST, None, None)
    assert (manifest.action, manifest.before) == (plan.CREATE, {})
    assert manifest.after == {"metadata": {"labels": {"team": "a"}}, "spec": MANIFEST["spec"]}


OLD_SCHEDULER = {"spec": {"schedulerName": "old"}}


@pytest.mark.parametrize(
    ("spec", "owner", "action", "before", "after"),
    [
        pytest.param({"memory": {"guest": "1024Mi"}}, OWNER, plan.NONE, {}, {}, id="another spelling"),
        pytest.param({"schedulerName": "old"}, OWNER, plan.NONE, {}, {}, id="a field of another manager"),
        pytest.param(
            {"cpu": {"guest": 4}},
            OWNER,
            plan.APPLY,
            {"spec": {"cpu": {"guest": 4}}},
            {"spec": {"cpu": {"guest": 2}}},
            id="a changed value",
        ),
        pytest.param(
            {"schedulerName": "old"},
            OWNER | {("spec", "schedulerName")},
            plan.APPLY,
            OLD_SCHEDULER,
            {},
            id="a field formerly declared",
        ),
        pytest.param({}, None, plan.APPLY, {}, {}, id="an object never applied"),
        pytest.param({}, OWNER - {("spec", "cpu", "guest")}, plan.APPLY, {}, {}, id="a field not owned"),
    ],
)
def test_live_objects(spec: dict[str, Any], owner: Any, action: str, before: Any, after: Any) -> None:
    step = plan.present(MANIFEST, live(**spec), owner)
    assert (step.action, step.before, step.after) == (action, before, after)


def test_same_value_is_sent_as_stored() -> None:
    """Another spelling would be a conflict with the manager that owns the field."""
    step = plan.present(MANIFEST, live(memory={"guest": "1024Mi"}, cpu={"guest": 4}), OWNER)
    assert step.manifest["spec"] == {"cpu": {"guest": 2}, "memory": {"guest": "1024Mi"}}
    assert MANIFEST["spec"]["memory"] == {"guest": "1Gi"}  # type: ignore[index]


def test_an_unknown_field_is_compared_as_it_is() -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["spec"]["future"] = {"a": 1}  # type: ignore[index]
    owner = set(managed_fields.leaf_fields(manifest))
    assert plan.present(manifest, live(future={"a": 1}), owner).action == plan.NONE
    assert plan.present(manifest, live(future={"a": 2}), owner).action == plan.APPLY


def test_an_empty_object_declares_only_its_presence() -> None:
    manifest = {
        "kind": "VirtualMachine",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"domain": {"devices": {}}}}},
    }
    filled = copy.deepcopy(manifest)
    filled["spec"]["template"]["spec"]["domain"]["devices"] = {"rng": {}}  # type: ignore[index]
    assert plan.present(manifest, filled, set(managed_fields.leaf_fields(manifest))).action == plan.NONE


def test_dropped_contents_of_an_empty_object_are_patched() -> None:
    def devices(**fields: Any) -> dict[str, Any]:
        spec = {"template": {"spec": {"domain": {"devices": fields}}}}
        return {"kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": spec}

    path = ("spec", "template", "spec", "domain", "devices")
    both = devices(disks=[{"name": "a"}], rng={})
    owner = set(managed_fields.leaf_fields(both))
    assert plan.present(devices(), both, owner).merge_patch == {(*path, "disks"): None, (*path, "rng"): None}
    # With something of somebody else in it, it does not become empty.
    assert plan.present(devices(), both, owner - {(*path, "rng")}).merge_patch == {}
    assert plan.present(devices(rng={}), both, owner).merge_patch == {}


def test_dropped_field_keeps_siblings_added_by_admission() -> None:
    def vm(firmware: dict[str, Any]) -> dict[str, Any]:
        spec = {"domain": {"devices": {}, **firmware}, "terminationGracePeriodSeconds": 0}
        return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "spec": {"template": {"spec": spec}}}

    bootloader = {"bootloader": {"efi": {"secureBoot": False}}}
    efi = vm({"firmware": bootloader})
    owner = set(managed_fields.leaf_fields(efi))
    live_vm = {**vm({"firmware": {**bootloader, "uuid": "u"}}), "metadata": {}}
    firmware = ("spec", "template", "spec", "domain", "firmware")
    dropped = plan.present(vm({}), live_vm, owner)
    assert dropped.merge_patch == {(*firmware, "bootloader"): None}
    assert value_at(plan.merged(dropped, live_vm), firmware) == {"uuid": "u"}
    labelled = vm({})
    labelled["spec"]["template"]["metadata"] = {"labels": {"tier": "web"}}
    owned = set(managed_fields.leaf_fields(labelled))
    labelled["spec"]["template"]["metadata"]["annotations"] = {"kubevirt.io/pci-topology-version": "v3"}
    unlabelled = plan.present(vm({}), {**labelled, "metadata": {}}, owned)
    assert unlabelled.merge_patch == {("spec", "template", "metadata", "labels"): None}
    # Nothing but the field would go.
    assert plan.present(vm({"firmware": {"serial": "1"}}), live_vm, owner).merge_patch == {}
    assert plan.present(vm({}), {**efi, "metadata": {}}, owner).merge_patch == {}
    fields = {"f:spec": {"f:template": {"f:spec": {"f:domain": {"f:firmware": {"f:uuid": {}}}}}}}
    managed = {"managedFields": [{"manager": "virt-controller", "operation": "Update", "fieldsV1": fields}]}
    assert plan.present(vm({}), {**live_vm, "metadata": managed}, owner).merge_patch == {}
    # By an update of ours, too.
    fields["f:spec"]["f:template"]["f:spec"]["f:domain"]["f:firmware"] = {
        "f:bootloader": {"f:efi": {"f:secureBoot": {}}}
    }
    managed["managedFields"][0]["manager"] = "virtshape"
    updated = plan.present(vm({}), {**live_vm, "metadata": managed}, owner, "virtshape")
    assert updated.merge_patch == dropped.merge_patch


def test_the_merge_patch_leaves_a_valid_object() -> None:
    """KubeVirt refuses a network without an interface, also between two requests."""
    path = ("spec", "template", "spec")

    def vm(devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
        inside = {"domain": {"devices": devices}, **spec}
        return {"kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": {"template": {"spec": inside}}}

    both = vm({"interfaces": [{"name": "a", "bridge": {}}]}, networks=[{"name": "a"}])
    both["metadata"]["labels"] = {"old": "x"}  # type: ignore[index]
    manifest = plan.present(vm({}), both, set(managed_fields.leaf_fields(both)))
    # The label goes by the apply.
    assert manifest.merge_patch == {(*path, "domain", "devices", "interfaces"): None, (*path, "networks"): None}
    # Admission would write a template anew with the patch, so that the apply would not remove it.
    both["spec"]["dataVolumeTemplates"] = [{"metadata": {"name": "a"}}]
    patch = plan.present(vm({}), both, set(managed_fields.leaf_fields(both))).merge_patch
    assert patch == {**manifest.merge_patch, ("spec", "dataVolumeTemplates"): None}
    # Where the apply can take out both, nothing goes first.
    retained = vm({"interfaces": [{"name": "a", "bridge": {}}], "rng": {}}, networks=[{"name": "a"}])
    assert plan.present(vm({"rng": {}}), retained, set(managed_fields.leaf_fields(retained))).merge_patch == {}


def test_absent_deletes_an_existing_object() -> None:
    assert plan.absent(MANIFEST, None).action == plan.NONE
    manifest = plan.absent(MANIFEST, live())
    assert (manifest.action, manifest.after) == (plan.DELETE, {})
    assert manifest.before["spec"] == MANIFEST["spec"]


def managed(**managers: list[str]) -> dict[str, Any]:
    """The live object, with labels that managers own by Update; ours owns by Apply what OWNER says."""
    entries = []
    for manager, labels in managers.items():
        fields = {"f:metadata": {"f:labels": {f"f:{label}": {} for label in labels}}}
        entries.append({"manager": manager, "operation": "Update", "fieldsV1": fields})
    result = live()
    result["metadata"].update(labels={"team": "a", "old": "x"}, managedFields=entries)
    return result


OLD = ("metadata", "labels", "old")


def test_fields_of_other_managers_stay_without_force() -> None:
    shared = managed(kubectl=["old"], helm=["old", "team"], virtshape=[])
    manifest = plan.present(MANIFEST, shared, OWNER | {OLD}, "virtshape")
    assert (manifest.action, manifest.before, manifest.retained) == (plan.APPLY, {}, ((OLD, ("helm", "kubectl")),))
    assert manifest.merge_patch == {}
    forced = plan.present(MANIFEST, shared, OWNER | {OLD}, "virtshape", force=True)
    assert (forced.before, forced.retained, forced.merge_patch) == (
        {"metadata": {"labels": {"old": "x"}}},
        (),
        {OLD: None},
    )


def test_fields_from_own_updates_are_removed_by_patch() -> None:
    manifest = plan.present(MANIFEST, managed(virtshape=["old"]), OWNER | {OLD}, "virtshape")
    assert (manifest.before, manifest.retained, manifest.merge_patch) == (
        {"metadata": {"labels": {"old": "x"}}},
        (),
        {OLD: None},
    )


def test_an_emptied_object_is_removed() -> None:
    bare = {**MANIFEST, "metadata": {"name": "web"}}
    owner = OWNER | {OLD}
    manifest = plan.present(bare, managed(kubectl=["old", "team"]), owner, "virtshape", force=True)
    assert manifest.merge_patch == {("metadata", "labels"): None}


def test_changing_another_managers_value_is_a_conflict() -> None:
    changed = {**MANIFEST, "metadata": {"name": "web", "labels": {"team": "b"}}}
    theirs = managed(kubectl=["team"], virtshape=["team"])
    words = str(plan.present(changed, theirs, OWNER, "virtshape").conflict)
    assert words.startswith('another field manager owns declared fields: "kubectl" owns metadata.labels.team; remove')
    assert plan.present(changed, theirs, OWNER, "virtshape", force=True).conflict is None
    # The value that they declare, too.
    assert plan.present(MANIFEST, theirs, None, "virtshape").conflict is None


def test_taken_fields_are_no_conflict() -> None:
    changed = {**MANIFEST, "metadata": {"name": "web", "labels": {"team": "b"}}}
    theirs = managed(kubectl=["team"], virtshape=["team"])
    step = plan.present(changed, theirs, OWNER, "virtshape", take_over=lambda manager: manager == "kubectl")
    assert (step.taken_from, step.conflict) == (("kubectl",), None)
    assert step.fields == managed_fields.leaf_fields(changed)
    assert plan.present(changed, theirs, OWNER, "virtshape").fields == {}


def test_plan_adds_a_part_to_the_object() -> None:
    there = managed(kubectl=["team"])
    del there["spec"]
    after = plan.merged(plan.present(MANIFEST, there, OWNER, "virtshape"), there)
    metadata = {key: value for key, value in there["metadata"].items() if key != "managedFields"}
    assert after == {**there, "metadata": metadata, "spec": MANIFEST["spec"]}


def test_a_spec_without_declared_fields_is_removed() -> None:
    bare = {name: value for name, value in MANIFEST.items() if name != "spec"}
    fields = {"f:spec": {"f:cpu": {"f:guest": {}}, "f:memory": {"f:guest": {}}}}
    there = live()
    there["metadata"]["managedFields"] = [{"manager": "kubectl", "operation": "Update", "fieldsV1": fields}]
    manifest = plan.present(bare, there, OWNER, "virtshape", force=True)
    assert (manifest.action, manifest.merge_patch) == (plan.APPLY, {("spec",): None})
    assert manifest.before == {"spec": MANIFEST["spec"]}


def test_diff_of_a_list_shows_no_filler() -> None:
    """KubeVirt stores `resources: {}`, which nobody declares."""

    def vm(size: str | None, **filled: dict[str, str]) -> dict[str, Any]:
        storage = {"resources": {"requests": {"storage": size}}} if size else dict(filled)
        template = {"metadata": {"name": "disk"}, "spec": {"storage": storage, "source": {"blank": {}}}}
        metadata = {"name": "web", "namespace": "shop"}
        return {"kind": "VirtualMachine", "metadata": metadata, "spec": {"dataVolumeTemplates": [template]}}

    step = plan.present(vm(None), vm("1Gi"), set())
    (after,) = step.after["spec"]["dataVolumeTemplates"]
    assert after["spec"]["storage"] == {"resources": {}}
    # The task sends what it declares.
    assert step.manifest == vm(None)
    assert plan.present(vm(None), vm(None, resources={}), {("spec", "dataVolumeTemplates")}).action == plan.NONE


def test_all_changes_as_one_patch() -> None:
    """A dry run of it shows what several requests lead to."""
    before = {"spec": {"running": True, "instancetype": {"name": "a", "revisionName": "a-1"}, "old": "x"}}
    after = {"spec": {"runStrategy": "Always", "instancetype": {"name": "b"}}}
    first = {("spec", "running"): None, ("spec", "runStrategy"): "Always", ("spec", "instancetype"): {"name": "b"}}
    step = plan.Plan(plan.APPLY, {}, before, after, merge_patch=first)
    assert plan.patched_fields(step, before) == {**first, ("spec", "old"): None}
    assert plan.patched_fields(plan.Plan(plan.APPLY, {}, {}, {}), before) == {}


def test_nameless_matcher_is_removed_in_one_patch() -> None:
    """KubeVirt's webhook refuses a matcher with neither a name nor a volume."""
    live = {"spec": {"preference": {"name": "a", "kind": "VirtualMachinePreference"}, "running": False}}
    before = {"spec": {"preference": live["spec"]["preference"]}}
    step = plan.Plan(plan.APPLY, {"spec": {"running": False}}, before, {})
    assert plan.patched_fields(step, live) == {("spec", "preference"): None}
