"""The writes of a refresh, as values."""

from typing import Any

import pytest
from captured_vms import unknown_drift

from plugins.module_utils._resolver.api.keys import REFRESH_ANNOTATION
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from plugins.module_utils._resolver.change import drift, recapture
from plugins.module_utils._resolver.change.controller_revisions import is_captured

SIZE = {"name": "big", "kind": "VirtualMachineInstancetype"}


def vm(matcher: Manifest | None = None, reference: Manifest | None = None, **metadata: Any) -> Manifest:
    return {
        "metadata": {"name": "db", "namespace": "shop", "uid": "u", "generation": 3, **metadata},
        "spec": {"instancetype": SIZE if matcher is None else matcher},
        "status": {"instancetypeRef": reference} if reference else {},
    }


def captured(name: str, kind: str = "VirtualMachineInstancetype") -> Manifest:
    return {"name": "big", "kind": kind, "controllerRevisionRef": {"name": name}}


def part(state: str, revision: str, now: int, vm: Manifest | None = None, **more: Any) -> drift.Drift:
    role_drift = drift.MatcherDrift(state, "k", "big", revision, False, 1, now, False, (), "", "")._replace(**more)
    return unknown_drift(vm or {})._replace(parts={INSTANCETYPE: role_drift})


def test_bump_patches_remove_their_annotation() -> None:
    begun, ended = (patch["spec"]["template"]["metadata"]["annotations"] for patch in recapture.BUMP_PATCHES)
    assert begun == {REFRESH_ANNOTATION: "begun"} and ended == {REFRESH_ANNOTATION: None}
    assert recapture.bump_patches(vm()) == recapture.BUMP_PATCHES


def test_annotation_of_an_interrupted_bump_is_removed() -> None:
    interrupted = vm()
    interrupted["spec"]["template"] = {"metadata": {"annotations": {REFRESH_ANNOTATION: "begun"}}}
    assert recapture.bump_patches(interrupted) == recapture.BUMP_PATCHES[1:]
    assert recapture.must_bump_generation(unknown_drift(interrupted))
    assert recapture.keeps_restart_required(interrupted, None)


def test_recapture_patch_clears_the_status() -> None:
    patch = recapture.recapture_patch(MATCHER_FIELDS)
    released = {"controllerRevisionRef": None}
    assert patch == {"status": {"instancetypeRef": released, "preferenceRef": released}}


def test_is_captured() -> None:
    assert not is_captured(vm(), INSTANCETYPE)
    assert not is_captured(vm(reference={"name": "big", "kind": SIZE["kind"]}), INSTANCETYPE)
    assert not is_captured(vm(reference=captured("r", "virtualmachineinstancetype")), INSTANCETYPE)
    assert is_captured(vm(reference=captured("r")), INSTANCETYPE)
    # Up to KubeVirt 1.4, and a VM whose matcher the cluster has expanded.
    assert is_captured(vm({**SIZE, "revisionName": "r"}), INSTANCETYPE)
    assert is_captured(vm(), PREFERENCE)


@pytest.mark.parametrize(
    ("name", "before", "stale"),
    [
        ("db-big-v1beta1-uid-2", part(drift.DRIFTED, "db-big-v1beta1-uid-1", 2), False),
        ("db-big-v1beta1-uid-3", part(drift.DRIFTED, "db-big-v1beta1-uid-1", 2), False),
        ("db-big-v1beta1-uid-2", part(drift.DRIFTED, "db-big-v1beta1-uid-1", 3), True),
        ("db-big-v1beta1-uid-1", part(drift.DRIFTED, "db-big-v1beta1-uid-1", 2), True),
        ("db-big-v1beta1-new-1", part(drift.DRIFTED, "db-big-v1beta1-old-4", 1, recreated=True), False),
        ("db-big-v1beta1-uid-1", part(drift.REVISION_LOST, "db-big-v1beta1-uid-1", 1), False),
        ("of-my-own", part(drift.DRIFTED, "db-big-v1beta1-uid-1", 2), False),
    ],
)
def test_roles_captured_from_an_old_cache_are_stale(name: str, before: drift.Drift, stale: bool) -> None:
    assert bool(recapture.stale_fields(vm(reference=captured(name)), before, [INSTANCETYPE])) is stale


def start(generation: int, revision: str | None) -> Manifest:
    spec = {"instancetype": {**SIZE, **({"revisionName": revision} if revision else {})}}
    metadata = {"name": f"revision-start-vm-u-{generation}", "namespace": "shop"}
    return {"kind": "ControllerRevision", "metadata": metadata, "data": {"spec": spec}}


def test_start_revision_of_a_generation_demands_a_bump() -> None:
    assert recapture.must_bump_generation(unknown_drift(vm(), start(3, "r")))
    assert not recapture.must_bump_generation(unknown_drift(vm(), start(2, "r")))
    assert recapture.keeps_restart_required(vm(reference=captured("new")), start(3, "old"))
    assert not recapture.keeps_restart_required(vm(reference=captured("new")), start(3, "new"))
    assert not recapture.keeps_restart_required(vm(reference=captured("new")), None)


def test_rollback_patch_pins_to_what_the_vm_had() -> None:
    before = vm({"name": "big"}, captured("old"))
    had = recapture.state_before(part(drift.DRIFTED, "old", 2, vm=before), [INSTANCETYPE])
    assert had is not None
    assert recapture.rollback_patch(had) == {
        "spec": {"instancetype": {"kind": None, "name": "big", "revisionName": "old"}}
    }
    assert recapture.pins_to_remove(before, had) == [INSTANCETYPE]
    assert recapture.unpin_patch([INSTANCETYPE]) == {"spec": {"instancetype": {"revisionName": None}}}
    for lost in (part(drift.REVISION_LOST, "old", 2), part(drift.NOT_CAPTURED, "", 2)):
        assert recapture.state_before(lost._replace(vm=before), [INSTANCETYPE]) is None
    assert recapture.state_before(part(drift.DRIFTED, "old", 2, vm=before), [PREFERENCE]) is None


def test_rollback_keeps_a_pin_of_the_user() -> None:
    before = vm({"name": "big", "revisionName": "old"}, captured("old"))
    had = recapture.state_before(part(drift.DRIFTED, "old", 2, vm=before), [INSTANCETYPE])
    assert had is not None and recapture.pins_to_remove(before, had) == []
    # Up to KubeVirt 1.4 the name in the spec is the captured revision.
    older = vm({"name": "big", "revisionName": "old"})
    had = recapture.state_before(part(drift.DRIFTED, "old", 2, vm=older), [INSTANCETYPE])
    assert had is not None and recapture.pins_to_remove(older, had) == []


def test_older_releases_capture_name_in_the_spec() -> None:
    named = {"spec": {"instancetype": {"name": "small", "revisionName": "pinned"}}, "status": {}}
    assert recapture.captured_name(named, INSTANCETYPE) == "pinned"
    assert recapture.captured_name({"spec": {}, "status": {}}, INSTANCETYPE) == ""
