"""What is written to give a VM other revisions."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    PREFERENCE,
    ROLES,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find import naming, revision
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import KubeVirt
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh import (
    controller_revisions,
    drift,
    revision_change,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh.controller_revisions import (
    RevisionIndex,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.refresh.revision_change import (
    RevisionChange,
)

Manifest = dict[str, Any]


def size(generation: int, memory: str = "2Gi", uid: str = "size", **cpu: Any) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "big", "namespace": "shop", "uid": uid, "generation": generation},
        "spec": {"cpu": {"guest": 1, **cpu}, "memory": {"guest": memory}},
    }


def taste(generation: int, bus: str = "virtio", **spec: Any) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "linux", "namespace": "shop", "uid": "taste", "generation": generation},
        "spec": {"devices": {"preferredDiskBus": bus}, **spec},
    }


class World:
    """A VM, the revisions that were captured of its objects, in that order, and the objects as they are now.

    style: "status" as from KubeVirt 1.5 on, "spec" as up to 1.4. What was captured last is what the VM refers to.
    """

    def __init__(self, kept: list[Manifest], live: list[Manifest], style: str = "status", **domain: Any) -> None:
        self.vm: Manifest = {
            "kind": "VirtualMachine",
            "metadata": {"name": "db", "namespace": "shop", "uid": "vm"},
            "spec": {
                "instancetype": {"name": "big", "kind": "VirtualMachineInstancetype"},
                "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
                "template": {"spec": {"domain": {"devices": {}, **domain}}},
            },
            "status": {},
        }
        self.live = live
        self.kept: list[Manifest] = []
        for one in kept:
            made = revision.controller_revision(self.vm, one)
            self.kept.append({"apiVersion": "apps/v1", "kind": "ControllerRevision", **made})
            role = INSTANCETYPE if "Instancetype" in one["kind"] else PREFERENCE
            name = made["metadata"]["name"]
            if style == "spec":
                self.vm["spec"][role.matcher]["revisionName"] = name
            else:
                reference = {
                    "name": one["metadata"]["name"],
                    "kind": one["kind"],
                    "controllerRevisionRef": {"name": name},
                }
                self.vm["status"][role.reference] = reference

    def name(self, generation: int, kind: str = "VirtualMachineInstancetype") -> str:
        for one in self.kept:
            if one["data"]["kind"] == kind and one["data"]["metadata"]["generation"] == generation:
                return str(one["metadata"]["name"])
        raise KeyError(generation)

    def pin(self, name: str) -> None:
        """As a user does, and virt-controller after him."""
        self.vm["spec"]["instancetype"]["revisionName"] = name
        self.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = name

    @property
    def drift(self) -> drift.Drift:
        return drift.drift(self.vm, Objects([*self.kept, *self.live]), KubeVirt(NEWEST))

    def refresh(self, *roles: Any) -> RevisionChange:
        return revision_change.refresh(self.vm, self.drift, roles or ROLES)

    def to(self, wanted: Any, *roles: Any) -> RevisionChange:
        return revision_change.pin(
            self.vm, self.drift, roles or ROLES, wanted, RevisionIndex(self.kept), KubeVirt(NEWEST)
        )


def drifted(style: str = "status", **domain: Any) -> World:
    """The instancetype is two generations ahead, the preference is as captured."""
    return World([size(1), taste(1)], [size(3, "4Gi"), taste(1)], style, **domain)


class TestRefresh:
    def test_nothing_is_due_while_all_is_current(self) -> None:
        change = World([size(1), taste(1)], [size(2, "2048Mi"), taste(1)]).refresh()
        assert (change.due, change) == (False, RevisionChange())

    def test_what_drifted_is_released(self) -> None:
        change = drifted().refresh()
        assert (change.due, change.roles, change.spec, change.release) == (True, (INSTANCETYPE,), None, True)
        assert change.effect is not None
        assert (change.effect.guest_after["memory"], change.effect.live) == ("4Gi", False)

    def test_both_at_once_or_the_one_that_is_asked_for(self) -> None:
        world = World([size(1), taste(1)], [size(2, "4Gi"), taste(2, "sata")])
        assert world.refresh().roles == ROLES
        assert world.refresh(PREFERENCE).roles == (PREFERENCE,)

    def test_a_lost_revision_is_captured_anew(self) -> None:
        world = World([size(1), taste(1)], [size(1), taste(1)])
        world.kept = [one for one in world.kept if one["data"]["kind"] != "VirtualMachineInstancetype"]
        assert world.refresh().roles == (INSTANCETYPE,)

    def test_without_the_object_there_is_nothing_to_capture(self) -> None:
        assert not World([size(1), taste(1)], [taste(1)]).refresh().due

    def test_an_expanded_vm_has_nothing_to_refresh(self) -> None:
        world = drifted()
        del world.vm["spec"]["instancetype"], world.vm["spec"]["preference"]
        world.vm["status"] = {}
        assert world.refresh() == RevisionChange()

    def test_a_conflict_is_a_refusal(self) -> None:
        world = World([size(1), taste(1)], [size(2, model="EPYC"), taste(1)], cpu={"model": "host-model"})
        change = world.refresh()
        assert not change.due
        assert change.refusal == (
            "KubeVirt would reject the VM after a refresh: VM field(s) spec.template.spec.domain.cpu.model "
            "conflicts with selected instance type"
        )

    def test_an_unmet_requirement_is_a_refusal(self) -> None:
        asking = taste(2, requirements={"memory": {"guest": "3Gi"}})
        change = World([size(1), taste(1)], [size(1), asking]).refresh()
        assert change.refusal is not None
        assert "insufficient Memory resources of 2Gi" in change.refusal

    def test_a_pinned_vm_is_left_alone(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        assert world.refresh().refusal == "the VM is pinned by revisionName; unpin it first (state: unpinned)"
        assert world.refresh(PREFERENCE) == RevisionChange()

    def test_up_to_1_4_the_name_in_the_spec_is_taken_out(self) -> None:
        change = drifted("spec").refresh()
        assert (change.due, change.spec, change.release) == (True, {"instancetype": {"revisionName": None}}, False)

    def test_nothing_is_mutated(self) -> None:
        world = drifted()
        before = copy.deepcopy((world.vm, world.kept, world.live))
        world.refresh()
        world.to("previous")
        assert (world.vm, world.kept, world.live) == before


class TestLive:
    def test_more_sockets_are_plugged_in(self) -> None:
        effect = World([size(1), taste(1)], [size(2, guest=4), taste(1)]).refresh().effect
        assert effect is not None
        assert effect.live

    def test_none_are_pulled_out(self) -> None:
        effect = World([size(1, guest=4), taste(1)], [size(2, guest=2), taste(1)]).refresh().effect
        assert effect is not None
        assert not effect.live


class TestPin:
    world = World([size(1), size(2, "4Gi"), taste(1)], [size(2, "4Gi"), taste(1)])

    def test_a_named_revision(self) -> None:
        first = self.world.name(1)
        change = self.world.to(first)
        assert (change.roles, change.spec) == ((INSTANCETYPE,), {"instancetype": {"revisionName": first}})
        assert change.expected == {"instancetype": first}
        assert change.effect is not None
        assert (change.effect.guest_before["memory"], change.effect.guest_after["memory"]) == ("4Gi", "2Gi")

    def test_the_previous_one(self) -> None:
        assert self.world.to(revision_change.PREVIOUS) == self.world.to(self.world.name(1))

    def test_the_previous_one_of_a_vm_that_was_rolled_back_is_what_it_has(self) -> None:
        world = World([size(1), size(2, "3Gi"), size(3, "4Gi"), taste(1)], [size(3, "4Gi"), taste(1)])
        world.pin(world.name(2))
        assert world.to(revision_change.PREVIOUS) == RevisionChange()
        # Nor does it go forward again.
        world.pin(world.name(1))
        assert world.to(revision_change.PREVIOUS) == RevisionChange()
        del world.vm["spec"]["instancetype"]["revisionName"]
        assert world.to(revision_change.PREVIOUS).expected == {"instancetype": world.name(1)}

    def test_there_is_none_before_the_first(self) -> None:
        assert drifted().to("previous").refusal == "the VM has no earlier revision"

    def test_what_the_vm_has(self) -> None:
        world = drifted()
        taste_ = world.name(1, "VirtualMachinePreference")
        change = world.to(revision_change.CURRENT)
        assert change.expected == {"instancetype": world.name(1), "preference": taste_}
        assert change.effect is not None and change.effect.guest_before == change.effect.guest_after
        world.pin(world.name(1))
        assert world.to(revision_change.CURRENT).roles == (PREFERENCE,)
        del world.vm["spec"]["instancetype"]["revisionName"], world.vm["status"]
        assert world.to(revision_change.CURRENT).refusal == "the VM has not captured its revisions yet"

    def test_an_unknown_name(self) -> None:
        assert self.world.to("nowhere").refusal == ("the VM's instancetype and preference have no revision nowhere")

    def test_a_revision_of_the_other_kind_of_object(self) -> None:
        name = self.world.name(1, "VirtualMachinePreference")
        assert self.world.to(name).roles == (PREFERENCE,)
        assert self.world.to(name, INSTANCETYPE).refusal is not None

    def test_one_for_each_matcher(self) -> None:
        first, taste_ = self.world.name(1), self.world.name(1, "VirtualMachinePreference")
        change = self.world.to({"instancetype": first, "preference": taste_})
        assert change.expected == {"instancetype": first, "preference": taste_}
        assert self.world.to({"instancetype": first}).roles == (INSTANCETYPE,)
        assert self.world.to({"instancetype": taste_}).refusal == (f"the VM's instancetype has no revision {taste_}")
        assert self.world.to({}).refusal == "no given revision belongs to the instancetype or preference of the VM"

    def test_what_is_pinned_so_is_left_alone(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        assert world.to(world.name(1)) == RevisionChange()

    def test_a_revision_that_the_vm_conflicts_with(self) -> None:
        world = World([size(1, model="EPYC"), size(2), taste(1)], [size(2), taste(1)], cpu={"model": "host-model"})
        change = world.to("previous")
        assert change.refusal is not None
        assert change.refusal.startswith("KubeVirt would reject the VM with that revision: VM field(s) ")

    def test_a_revision_that_cannot_be_read(self) -> None:
        world = drifted()
        world.kept[0]["data"]["apiVersion"] = "instancetype.kubevirt.io/v2"
        name = world.kept[0]["metadata"]["name"]
        assert world.to(name).refusal == f"the VM's instancetype and preference have no revision {name}"

    def test_a_previous_one_that_cannot_be_read(self) -> None:
        world = World([size(1), size(2, "4Gi"), taste(1)], [size(2, "4Gi"), taste(1)])
        world.kept[0]["data"]["apiVersion"] = "instancetype.kubevirt.io/v2"
        change = world.to("previous")
        assert (change.roles, change.due) == ((INSTANCETYPE,), False)
        assert change.refusal is not None
        assert change.refusal.startswith(f"cannot read the revision {world.kept[0]['metadata']['name']}: failed to")

    def test_without_knowing_where_it_is_there_is_none_before(self) -> None:
        world = World([size(1), size(2, "4Gi"), taste(1)], [size(2, "4Gi"), taste(1)])
        world.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = "gone"
        assert world.to("previous").refusal == "the VM has no earlier revision"

    def test_up_to_1_4_it_is_the_captured_one(self) -> None:
        world = World([size(1), size(2, "4Gi"), taste(1)], [size(2, "4Gi"), taste(1)], "spec")
        assert world.to("previous").spec == {"instancetype": {"revisionName": world.name(1)}}
        assert world.to(world.name(2)) == RevisionChange()


class TestUnpin:
    def test_the_pin_goes_and_the_revision_stays(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        change = revision_change.unpin(world.vm, ROLES)
        assert (change.roles, change.spec, change.release) == (
            (INSTANCETYPE,),
            {"instancetype": {"revisionName": None}},
            False,
        )
        assert change.expected == {"instancetype": world.name(1)}

    def test_nothing_to_do(self) -> None:
        assert revision_change.unpin(drifted().vm, ROLES) == RevisionChange()

    def test_up_to_1_4_there_is_no_pin(self) -> None:
        refusal = revision_change.unpin(drifted("spec").vm, ROLES).refusal
        assert refusal is not None
        assert "use state: refreshed" in refusal


class TestHistory:
    def test_its_own_by_generation(self) -> None:
        world = World([size(10), size(2), taste(1)], [])
        stranger = copy.deepcopy(world.kept[0])
        stranger["metadata"].update(name="stranger", ownerReferences=[{"uid": "other"}])
        renamed = copy.deepcopy(world.kept[0])
        renamed["metadata"].update(name="renamed", labels={naming.NAME_LABEL: "small"})
        found = revision_change.history(world.vm, INSTANCETYPE, RevisionIndex([*world.kept, stranger, renamed]))
        assert [one["metadata"]["name"] for one in found] == [world.name(2), world.name(10)]


class TestUnreferenced:
    @pytest.mark.parametrize("style", ["status", "spec"])
    def test_what_nobody_refers_to(self, style: str) -> None:
        world = World([size(1), size(2), taste(1)], [], style)
        start = {"metadata": {"name": "revision-start-vm-1", "labels": {}}}
        found = controller_revisions.unreferenced([world.vm], [*world.kept, start])
        assert [one["metadata"]["name"] for one in found] == [world.name(1)]

    def test_a_pin_and_what_was_captured_before_it_both_count(self) -> None:
        world = World([size(1), size(2), taste(1)], [])
        world.vm["spec"]["instancetype"]["revisionName"] = world.name(1)
        assert controller_revisions.unreferenced([world.vm], world.kept) == []

    @pytest.mark.parametrize(
        "reference",
        [
            # A refresh has released it, or virt-controller has stored a revision and not yet said so.
            {"name": "big", "kind": "VirtualMachineInstancetype"},
            # The matcher has come to name another object.
            {"name": "small", "kind": "VirtualMachineInstancetype", "controllerRevisionRef": {"name": "other"}},
            None,
        ],
    )
    def test_a_vm_that_is_being_given_a_revision_keeps_all_of_its_own(self, reference: Manifest | None) -> None:
        world = World([size(1), size(2), taste(1)], [])
        stranger = copy.deepcopy(world.kept[0])
        stranger["metadata"].update(name="stranger", ownerReferences=[{"uid": "other"}])
        world.vm["status"]["instancetypeRef"] = reference
        found = controller_revisions.unreferenced([world.vm], [*world.kept, stranger])
        assert [one["metadata"]["name"] for one in found] == ["stranger"]

    def test_snapshots_count(self) -> None:
        world = World([size(1), size(2), taste(1)], [])
        assert controller_revisions.unreferenced([world.vm], world.kept, [world.name(1)]) == []

    def test_what_a_running_guest_was_started_with_counts(self) -> None:
        world = World([size(1), size(2), taste(1)], [])
        spec = {"instancetype": {"name": "big", "revisionName": world.name(1)}}
        start = {"metadata": {"name": "revision-start-vm-vm-7"}, "data": {"spec": spec}}
        world.vm["status"]["created"] = True
        assert controller_revisions.unreferenced([world.vm], [*world.kept, start]) == []
        # Once it has stopped, that is of no use.
        world.vm["status"]["created"] = False
        found = controller_revisions.unreferenced([world.vm], [*world.kept, start])
        assert [one["metadata"]["name"] for one in found] == [world.name(1)]

    def test_no_name_is_compared_with_each_running_vm(self) -> None:
        class Name(str):
            def startswith(self, *prefixes: Any) -> bool:
                raise AssertionError(prefixes)

        world = World([size(1)], [])
        world.vm["status"]["created"] = True
        start = {"metadata": {"name": Name("revision-start-vm-vm-7")}, "data": {"spec": {}}}
        assert controller_revisions.unreferenced([world.vm], [*world.kept, start]) == []

    def test_without_vms_all_of_them(self) -> None:
        world = World([size(10), size(9)], [])
        found = controller_revisions.unreferenced([], world.kept)
        assert [one["metadata"]["name"] for one in found] == [world.name(9), world.name(10)]
