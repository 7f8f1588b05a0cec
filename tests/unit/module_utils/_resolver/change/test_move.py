"""Moves of VMs to other instancetypes, preferences and templates, and the way back."""

import copy
from typing import Any

import pytest
from captured_vms import CapturingWorld

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.api.tree import apply_merge_patch
from plugins.module_utils._resolver.change import move, recapture
from plugins.module_utils._resolver.change.revision_change import RevisionChange
from plugins.module_utils._resolver.guest.effect import RESTART
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

CLUSTER = KubeVirt(NEWEST)
MACHINE = {"spec": {"domain": {"machine": {"type": "pc-q35-rhel9.4.0"}}}}


def instancetype(name: str, memory: str = "2Gi", replacement: str = "", state: str = "") -> Manifest:
    marks: Manifest = {}
    if replacement or state:
        marks["labels"] = {"instancetypes.virtshape.io/state": state or "deprecated"}
        marks["annotations"] = {"instancetypes.virtshape.io/replacement": replacement}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "generation": 1, **marks},
        "spec": {"cpu": {"guest": 1}, "memory": {"guest": memory}},
    }


def preference(name: str, vcpus: int = 1) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": name, "namespace": "shop", "uid": name, "generation": 1},
        "spec": {"requirements": {"cpu": {"guest": vcpus}}},
    }


class World(CapturingWorld):
    """A VM with the instancetype `small` and the preference `linux`, which it has captured. style: see `capture`."""

    def __init__(self, *others: Manifest, small: Manifest | None = None, style: str = "status", **domain: Any) -> None:
        super().__init__([small or instancetype("small"), preference("linux"), *others], **domain)
        for matcher_field, manifest in zip(MATCHER_FIELDS, self.live):
            self.vm["spec"][matcher_field.name] = {"name": manifest["metadata"]["name"], "kind": manifest["kind"]}
            self.capture(matcher_field, manifest, style)

    def move(self, replace: Any = None, patch: Any = None, matcher_fields: Any = MATCHER_FIELDS) -> RevisionChange:
        return move.move(self.drift, matcher_fields, replace, patch)

    def restore(self, had: Manifest) -> RevisionChange:
        return move.restore(self.drift, had)

    def carry_out(self, change: RevisionChange) -> None:
        self.vm["spec"] = apply_merge_patch(self.vm["spec"], change.spec or {})


def test_a_vm_moves_to_the_named_object() -> None:
    change = World(instancetype("large", "4Gi")).move({"small": "large", "nobody": "has-it"})
    assert (change.due, change.matcher_fields, change.recapture) == (True, (INSTANCETYPE,), False)
    assert change.spec == {"instancetype": {"name": "large", "revisionName": None}}
    assert change.effect is not None
    assert (change.effect.guest_before["memory"], change.effect.guest_after["memory"]) == ("2Gi", "4Gi")


def test_a_patch_changes_the_template() -> None:
    change = World(machine={"type": "pc-q35-rhel8.6.0"}).move(patch=MACHINE)
    assert (change.due, change.matcher_fields, change.spec) == (True, (), {"template": MACHINE})
    assert change.effect is not None and change.effect.needs == RESTART
    assert change.effect.changes == (
        {"field": "domain.machine.type", "before": "pc-q35-rhel8.6.0", "after": "pc-q35-rhel9.4.0"},
    )


def test_unaffected_vm_is_not_changed() -> None:
    world = World(instancetype("large"), machine={"type": "pc-q35-rhel9.4.0"})
    assert world.move({"other": "large", "small": "small"}) == RevisionChange()
    assert world.move("deprecated") == RevisionChange()
    assert world.move(patch=MACHINE) == RevisionChange()
    # A removal of what is not there.
    assert world.move(patch={"spec": {"domain": {"firmware": None}}}) == RevisionChange()
    # The other role is not asked for.
    assert world.move({"small": "large"}, matcher_fields=(PREFERENCE,)) == RevisionChange()


def test_deprecated_objects_name_their_replacements() -> None:
    small, medium = instancetype("small", replacement="medium"), instancetype("medium", "3Gi", "large", "obsolete")
    # Not one after the other, which would take a run and a restart for each.
    change = World(medium, instancetype("large", "4Gi"), small=small).move("deprecated")
    assert change.spec == {"instancetype": {"name": "large", "revisionName": None}}


@pytest.mark.parametrize(
    ("replace", "refusal"),
    [
        ({"small": "gone"}, "the replacement gone cannot be read: "),
        ({"small": "old"}, "the replacement old is obsolete; name another instancetype"),
        ({"small": "old", "old": "small"}, "the replacements are a cycle: small > old > small; remove one of them"),
        ({"linux": "choosy"}, "KubeVirt would reject the VM: insufficient CPU resources of 1 vCPU"),
    ],
)
def test_refused_moves_give_the_reason(replace: Manifest, refusal: str) -> None:
    change = World(instancetype("old", state="obsolete"), preference("choosy", 2)).move(replace)
    assert not change.due and change.spec is None
    assert str(change.refusal).startswith(refusal)


def test_a_conflict_of_the_patch_is_refused() -> None:
    change = World().move(patch={"spec": {"domain": {"memory": {"guest": "8Gi"}}}})
    assert "spec.template.spec.domain.memory" in str(change.refusal)


def test_lost_revision_prevents_a_move() -> None:
    world = World(instancetype("large"))
    world.revisions.clear()
    assert "no way back; refresh it first" in str(world.move({"small": "large"}).refusal)
    # A patch leaves the revisions alone.
    assert world.move(patch=MACHINE).due
    world.vm["status"].clear()
    assert "has not captured its instancetype yet" in str(world.move({"small": "large"}).refusal)


@pytest.mark.parametrize("pinned", [False, True])
@pytest.mark.parametrize("style", ["status", "spec"])
def test_rollback_restores_the_former_vm_exactly(style: str, pinned: bool) -> None:
    world = World(instancetype("large", "4Gi"), style=style, machine={"type": "pc-q35-rhel8.6.0"})
    if pinned:
        world.vm["spec"]["instancetype"]["revisionName"] = recapture.captured_name(world.vm, INSTANCETYPE)
    before = copy.deepcopy(world.vm["spec"])
    patch = {**MACHINE, "metadata": {"annotations": {"moved": "yes"}}}
    change = world.move({"small": "large"}, patch)
    assert change.previous is not None
    world.carry_out(change)
    world.capture(INSTANCETYPE, world.live[2], style)
    assert world.vm["spec"] != before and not world.move({"small": "large"}, patch).due

    back = world.restore(change.previous)
    captured = change.previous["revisions"]["instancetype"]
    assert back.expected == {"instancetype": captured}
    assert back.effect is not None and back.effect.guest_after["memory"] == "2Gi"
    world.carry_out(back)
    assert world.vm["spec"]["instancetype"]["revisionName"] == captured
    if style == "status":
        world.refer(INSTANCETYPE, captured)
    assert (back.afterwards is not None) == (style == "status" and not pinned)
    world.vm["spec"] = apply_merge_patch(world.vm["spec"], (back.afterwards or {}).get("spec", {}))
    # The object of annotations that the patch has added stays, empty.
    template = world.vm["spec"]["template"]
    assert template.pop("metadata", {}) in ({}, {"annotations": {}})
    assert world.vm["spec"] == before
    assert not world.restore(change.previous).due


def test_rollback_without_its_revision_is_refused() -> None:
    had = {"spec": {"instancetype": {"name": "small"}}, "revisions": {"instancetype": "pruned"}}
    assert "the previous revision pruned does not exist" in str(World().restore(had).refusal)


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"spec": {"domian": {}}}, "spec.domian: this KubeVirt has no such field; did you mean domain?"),
        ({"machine": {"type": "q35"}}, "machine: this KubeVirt has no such field"),
        ({"spec": {"volumes": []}}, "spec.volumes: a patch would replace the whole list"),
        ({"spec": {"domain": {"machine": "q35"}}}, "spec.domain.machine: "),
        (MACHINE, ""),
        ({"spec": {"domain": {"machine": None}}}, ""),
    ],
)
def test_a_wrong_patch_names_its_field(patch: Manifest, problem: str) -> None:
    result = move.patch_problem(patch, NEWEST)
    assert result.startswith(problem) and bool(result) == bool(problem)


def test_a_patch_must_fit_the_vm() -> None:
    change = World().move(patch={"spec": {"domain": "small"}})
    assert str(change.refusal).startswith("the patch does not fit the VM: spec.domain")


class Forbidden(World):
    """Its revisions may not be read."""

    @property
    def objects(self) -> Objects:
        class Hidden(Objects):
            def get(self, kind: str, namespace: str, name: str) -> Any:
                if kind == "ControllerRevision":
                    raise KubeVirtError("no", "Forbidden", 403)
                return super().get(kind, namespace, name)

        return Hidden(self.live)


def test_unreadable_revisions_refuse_the_move() -> None:
    large = instancetype("large", "4Gi")
    assert "small cannot be read: no" in str(Forbidden(large).move({"small": "large"}).refusal)
    world = World(large)
    change = world.move({"small": "large"})
    assert change.previous is not None
    world.carry_out(change)
    for item in world.revisions:
        item["data"] = {"kind": "Other"}
    assert str(world.restore(change.previous).refusal).startswith("cannot read the revision ")
