"""Drift, refresh and other changes of VMs that have the values of their instancetype."""

from typing import Any

import pytest
from sized_vms import KUBEVIRT, big, captured, cluster_of, linux, named, with_values

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, ObjectKey
from plugins.module_utils._resolver.api.tree import apply_merge_patch
from plugins.module_utils._resolver.change import drift, move, revision_change
from plugins.module_utils._resolver.change.drift import Drift
from plugins.module_utils._resolver.change.revision_change import RevisionChange
from plugins.module_utils._resolver.change.revision_steps import Revision, capture_steps
from plugins.module_utils._resolver.change.step import Act, Job, Seen
from plugins.module_utils._resolver.declare.expanded import expanded
from plugins.module_utils._resolver.guest.effect import NOTHING, UNREAD_VMI

BARE = linux(devices={})


class Facts:
    cluster = cluster_of()


def judged(vm: Manifest, *objects: Manifest, instance: Any = None) -> Drift:
    return drift.drift(vm, instance, cluster_of(*objects))


def managed(vm: Manifest) -> Manifest:
    """A VM of which `virtshape` has applied the memory and a label."""
    fields = {
        "f:metadata": {"f:labels": {"f:app": {}, "f:gone": {}}},
        "f:spec": {"f:template": {"f:spec": {"f:domain": {"f:memory": {"f:guest": {}}}}}},
    }
    entry = {"manager": "virtshape", "operation": "Apply", "fieldsV1": fields}
    return {**vm, "metadata": {**vm["metadata"], "labels": {"app": "shop", "x": "y"}, "managedFields": [entry]}}


def test_unchanged_objects_are_current() -> None:
    found = judged(with_values(named()), big(generation=3), linux())
    part = found.parts[INSTANCETYPE]
    assert (part.state, part.expanded, part.kind, part.name) == (
        drift.CURRENT,
        True,
        "VirtualMachineInstancetype",
        "big",
    )
    assert (part.generation, part.current_generation, part.revision) == (1, 3, "")
    assert found.effect.needs == NOTHING
    assert not revision_change.refresh(found, MATCHER_FIELDS).due


def test_changed_object_is_drift_as_of_a_revision() -> None:
    live, revisions = captured(named(), big(), linux())
    by_revision = judged(live, big("8Gi", 2), linux(), *revisions, instance=UNREAD_VMI)
    by_record = judged(
        {**with_values(named()), "status": {"created": True}}, big("8Gi", 2), linux(), instance=UNREAD_VMI
    )
    assert by_record.parts[INSTANCETYPE].changes == by_revision.parts[INSTANCETYPE].changes
    assert by_record.effect == by_revision.effect
    assert by_record.effect.guest_after["memory"] == "8Gi"
    assert by_record.drifted


def test_deleted_object_is_gone() -> None:
    found = judged(with_values(named()), linux())
    assert (found.parts[INSTANCETYPE].state, found.drifted) == (drift.GONE, False)


def test_unreadable_record_is_unknown() -> None:
    vm = with_values(named())
    vm["metadata"]["annotations"][INSTANCETYPE.record] = "{"
    part = judged(vm, big(), linux()).parts[INSTANCETYPE]
    assert (part.state, part.problem) == (
        drift.UNKNOWN,
        "the annotation instancetypes.virtshape.io/instancetype is unreadable",
    )


def test_results_say_which_vms_are_expanded() -> None:
    live, revisions = captured(named(), big(), linux())
    assert "expanded" not in judged(live, big(), linux(), *revisions).parts[INSTANCETYPE].facts
    assert judged(with_values(named()), big(), linux()).parts[INSTANCETYPE].facts["expanded"] is True


def test_refresh_writes_the_values_and_records_them() -> None:
    vm = with_values(named())
    change = revision_change.refresh(judged(vm, big("8Gi", 2), linux()), MATCHER_FIELDS)
    assert (change.matcher_fields, change.recapture, change.refusal) == ((INSTANCETYPE,), False, None)
    assert change.spec == {"template": {"spec": {"domain": {"memory": {"guest": "8Gi"}}}}}
    after = apply_merge_patch(vm, {"spec": change.spec, "metadata": {"annotations": change.annotations}})
    assert after == with_values(named(), big("8Gi", 2))


def test_refresh_of_an_unfit_object_is_refused() -> None:
    found = judged(with_values(named()), big(), linux(2, requirements={"memory": {"guest": "64Gi"}}))
    change = revision_change.refresh(found, MATCHER_FIELDS)
    assert not change.due and "insufficient" in str(change.refusal)


def test_refresh_with_a_named_preference() -> None:
    """A VM whose preference stays named: its topology counts, and KubeVirt captures it again."""
    first, second = (
        linux(number, cpu={"preferredCPUTopology": kind}) for number, kind in ((1, "cores"), (2, "threads"))
    )
    vm = expanded(named(), {INSTANCETYPE: big()}, KUBEVIRT, first["spec"])
    live, revisions = captured(vm, first)
    half = judged(live, big("8Gi", 2, cpu={"guest": 4}), second, *revisions)
    only = revision_change.refresh(half, [INSTANCETYPE])
    assert (only.spec or {})["template"]["spec"]["domain"]["cpu"] == {"cores": 4}
    assert not only.recapture
    both = revision_change.refresh(half, MATCHER_FIELDS)
    assert (both.spec or {})["template"]["spec"]["domain"]["cpu"] == {"cores": 1, "threads": 4}
    assert both.recapture


def test_former_revision_is_given_up_with_a_refresh() -> None:
    before, revisions = captured(named(), big(), linux())
    vm = {**with_values(named()), "status": before["status"]}
    found = judged(vm, big("8Gi", 2), linux(), *revisions)
    assert found.parts[INSTANCETYPE].revision == ""
    assert revision_change.refresh(found, MATCHER_FIELDS).recapture


@pytest.mark.parametrize("requested", [revision_change.CURRENT, "big-1"])
def test_expanded_vm_has_no_revision_to_pin(requested: str) -> None:
    change = revision_change.pin(judged(with_values(named()), big(), linux()), MATCHER_FIELDS, requested)
    assert "declare it with virtual_machine" in str(change.refusal)


def test_expanded_vm_does_not_move_by_name() -> None:
    found = judged(with_values(named()), big(), linux())
    assert "expanded sizes" in str(move.move(found, MATCHER_FIELDS, {"big": "small"}, None).refusal)
    assert not move.move(found, MATCHER_FIELDS, {"other": "small"}, None).due
    patched = move.move(found, MATCHER_FIELDS, None, {"spec": {"terminationGracePeriodSeconds": 5}})
    assert (patched.due, patched.refusal) == (True, None)


def written(change: RevisionChange) -> Any:
    vm = managed(with_values(named()))
    job = Job(ObjectKey("VirtualMachine", "shop", "db"), Revision(judged(vm, big(), linux()), change), seen=Seen(vm))
    steps = {step.name: step for step in capture_steps("virtshape", check_mode=False)}
    for name in ("bump", "check start"):
        assert steps[name].decide(job, Facts()) is None
    act = steps["change"].decide(job, Facts())
    assert isinstance(act, Act)
    return act.writes[0]


def test_refresh_is_applied_with_what_the_task_owns() -> None:
    spec = {"template": {"spec": {"domain": {"memory": {"guest": "8Gi"}}}}}
    write = written(RevisionChange((INSTANCETYPE,), spec, recapture=True, annotations={"a": "b"}))
    assert write.body == {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "db", "namespace": "shop", "labels": {"app": "shop"}, "annotations": {"a": "b"}},
        "spec": spec,
    }
    assert dict(write.query)["force"] == "true"
    assert PREFERENCE.recorded_in(with_values(named()))
