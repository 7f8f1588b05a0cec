"""The writes that give a VM other revisions."""

import copy
from typing import Any

import pytest
from captured_vms import CapturingWorld

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from plugins.module_utils._resolver.change import controller_revisions, revision_change
from plugins.module_utils._resolver.change.revision_change import RevisionChange
from plugins.module_utils._resolver.guest.effect import LIVE, RESTART
from plugins.module_utils._resolver.kubevirt.instancetype import revision_names


def instancetype(generation: int, memory: str = "2Gi", uid: str = "size", **cpu: Any) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "big", "namespace": "shop", "uid": uid, "generation": generation},
        "spec": {"cpu": {"guest": 1, **cpu}, "memory": {"guest": memory}},
    }


def preference(generation: int, bus: str = "virtio", **spec: Any) -> Manifest:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachinePreference",
        "metadata": {"name": "linux", "namespace": "shop", "uid": "taste", "generation": generation},
        "spec": {"devices": {"preferredDiskBus": bus}, **spec},
    }


class World(CapturingWorld):
    """A VM, the revisions that were captured of its objects, in that order, and the objects as they are now.

    The VM refers to the newest. style: see `capture`.
    """

    def __init__(self, captured: list[Manifest], live: list[Manifest], style: str = "status", **domain: Any) -> None:
        super().__init__(live, **domain)
        self.vm["spec"].update(
            instancetype={"name": "big", "kind": "VirtualMachineInstancetype"},
            preference={"name": "linux", "kind": "VirtualMachinePreference"},
        )
        for manifest in captured:
            self.capture(INSTANCETYPE if "Instancetype" in manifest["kind"] else PREFERENCE, manifest, style)

    def name(self, generation: int, kind: str = "VirtualMachineInstancetype") -> str:
        for item in self.revisions:
            if item["data"]["kind"] == kind and item["data"]["metadata"]["generation"] == generation:
                return str(item["metadata"]["name"])
        raise KeyError(generation)

    def pin(self, name: str) -> None:
        """Pins the VM like a user, and captures like virt-controller."""
        self.vm["spec"]["instancetype"]["revisionName"] = name
        self.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = name

    def refresh(self, *matcher_fields: Any) -> RevisionChange:
        return revision_change.refresh(self.drift, matcher_fields or MATCHER_FIELDS)

    def pin_to(self, requested: Any, *matcher_fields: Any) -> RevisionChange:
        return revision_change.pin(self.drift, matcher_fields or MATCHER_FIELDS, requested)


def drifted(style: str = "status", **domain: Any) -> World:
    """The instancetype is two generations ahead, the preference is as captured."""
    return World([instancetype(1), preference(1)], [instancetype(3, "4Gi"), preference(1)], style, **domain)


class TestRefresh:
    def test_current_revisions_need_no_change(self) -> None:
        change = World([instancetype(1), preference(1)], [instancetype(2, "2048Mi"), preference(1)]).refresh()
        assert (change.due, change) == (False, RevisionChange())

    def test_drifted_roles_are_released(self) -> None:
        change = drifted().refresh()
        assert (change.due, change.matcher_fields, change.spec, change.recapture) == (True, (INSTANCETYPE,), None, True)
        assert change.effect is not None
        assert (change.effect.guest_after["memory"], change.effect.needs) == ("4Gi", RESTART)

    def test_only_requested_roles_are_refreshed(self) -> None:
        world = World([instancetype(1), preference(1)], [instancetype(2, "4Gi"), preference(2, "sata")])
        assert world.refresh().matcher_fields == MATCHER_FIELDS
        assert world.refresh(PREFERENCE).matcher_fields == (PREFERENCE,)

    def test_lost_revisions_are_captured_again(self) -> None:
        world = World([instancetype(1), preference(1)], [instancetype(1), preference(1)])
        world.revisions = [item for item in world.revisions if item["data"]["kind"] != "VirtualMachineInstancetype"]
        assert world.refresh().matcher_fields == (INSTANCETYPE,)

    def test_deleted_objects_are_not_captured(self) -> None:
        assert not World([instancetype(1), preference(1)], [preference(1)]).refresh().due

    def test_expanded_vms_need_no_refresh(self) -> None:
        world = drifted()
        del world.vm["spec"]["instancetype"], world.vm["spec"]["preference"]
        world.vm["status"] = {}
        assert world.refresh() == RevisionChange()

    def test_a_conflict_is_a_refusal(self) -> None:
        world = World(
            [instancetype(1), preference(1)],
            [instancetype(2, model="EPYC"), preference(1)],
            cpu={"model": "host-model"},
        )
        change = world.refresh()
        assert not change.due
        assert change.refusal == (
            "KubeVirt would reject the VM after a refresh: VM field(s) spec.template.spec.domain.cpu.model "
            "conflicts with selected instance type"
        )

    def test_an_unmet_requirement_is_a_refusal(self) -> None:
        demanding = preference(2, requirements={"memory": {"guest": "3Gi"}})
        change = World([instancetype(1), preference(1)], [instancetype(1), demanding]).refresh()
        assert change.refusal is not None
        assert "insufficient Memory resources of 2Gi" in change.refusal

    def test_refresh_refuses_pinned_vms(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        assert world.refresh().refusal == "the VM is pinned by revisionName; unpin it first (state: unpinned)"
        assert world.refresh(PREFERENCE) == RevisionChange()

    def test_refresh_through_1_4_removes_revision_name(self) -> None:
        change = drifted("spec").refresh()
        assert (change.due, change.spec, change.recapture) == (True, {"instancetype": {"revisionName": None}}, False)

    def test_nothing_is_mutated(self) -> None:
        world = drifted()
        before = copy.deepcopy((world.vm, world.revisions, world.live))
        world.refresh()
        world.pin_to("previous")
        assert (world.vm, world.revisions, world.live) == before


class TestLive:
    def test_more_sockets_are_hot_plugged(self) -> None:
        effect = World([instancetype(1), preference(1)], [instancetype(2, guest=4), preference(1)]).refresh().effect
        assert effect is not None
        assert effect.needs == LIVE

    def test_sockets_are_not_unplugged(self) -> None:
        effect = (
            World([instancetype(1, guest=4), preference(1)], [instancetype(2, guest=2), preference(1)]).refresh().effect
        )
        assert effect is not None
        assert effect.needs == RESTART


class TestPin:
    world = World([instancetype(1), instancetype(2, "4Gi"), preference(1)], [instancetype(2, "4Gi"), preference(1)])

    def test_a_named_revision(self) -> None:
        first = self.world.name(1)
        change = self.world.pin_to(first)
        assert (change.matcher_fields, change.spec) == ((INSTANCETYPE,), {"instancetype": {"revisionName": first}})
        assert change.expected == {"instancetype": first}
        assert change.effect is not None
        assert (change.effect.guest_before["memory"], change.effect.guest_after["memory"]) == ("4Gi", "2Gi")

    def test_previous_revision(self) -> None:
        assert self.world.pin_to(revision_change.PREVIOUS) == self.world.pin_to(self.world.name(1))

    def test_previous_revision_is_the_second_newest(self) -> None:
        world = World([instancetype(2), instancetype(10), preference(1)], [])
        previous = world.name(2)
        renamed = copy.deepcopy(world.revisions[0])
        renamed["metadata"].update(name="renamed", labels={revision_names.NAME_LABEL: "small"})
        world.revisions = [renamed, *reversed(world.revisions)]
        assert world.pin_to("previous", INSTANCETYPE).expected == {"instancetype": previous}

    def test_previous_does_not_go_further_back(self) -> None:
        world = World(
            [instancetype(1), instancetype(2, "3Gi"), instancetype(3, "4Gi"), preference(1)],
            [instancetype(3, "4Gi"), preference(1)],
        )
        world.pin(world.name(2))
        assert world.pin_to(revision_change.PREVIOUS) == RevisionChange()
        # Nor does it go forward again.
        world.pin(world.name(1))
        assert world.pin_to(revision_change.PREVIOUS) == RevisionChange()
        del world.vm["spec"]["instancetype"]["revisionName"]
        assert world.pin_to(revision_change.PREVIOUS).expected == {"instancetype": world.name(1)}

    def test_first_revision_has_no_previous(self) -> None:
        assert drifted().pin_to("previous").refusal == "the VM has no earlier revision"

    def test_current_revision(self) -> None:
        world = drifted()
        preference_revision = world.name(1, "VirtualMachinePreference")
        change = world.pin_to(revision_change.CURRENT)
        assert change.expected == {"instancetype": world.name(1), "preference": preference_revision}
        assert change.effect is not None and change.effect.guest_before == change.effect.guest_after
        world.pin(world.name(1))
        assert world.pin_to(revision_change.CURRENT).matcher_fields == (PREFERENCE,)
        del world.vm["spec"]["instancetype"]["revisionName"], world.vm["status"]
        assert world.pin_to(revision_change.CURRENT).refusal == "the VM has not captured its revisions yet"

    def test_an_unknown_name(self) -> None:
        assert self.world.pin_to("nowhere").refusal == ("the VM's instancetype and preference have no revision nowhere")

    def test_revision_of_the_other_role(self) -> None:
        name = self.world.name(1, "VirtualMachinePreference")
        assert self.world.pin_to(name).matcher_fields == (PREFERENCE,)
        assert self.world.pin_to(name, INSTANCETYPE).refusal is not None

    def test_a_revision_for_each_matcher(self) -> None:
        first, preference_revision = self.world.name(1), self.world.name(1, "VirtualMachinePreference")
        change = self.world.pin_to({"instancetype": first, "preference": preference_revision})
        assert change.expected == {"instancetype": first, "preference": preference_revision}
        assert self.world.pin_to({"instancetype": first}).matcher_fields == (INSTANCETYPE,)
        assert self.world.pin_to({"instancetype": preference_revision}).refusal == (
            f"the VM's instancetype has no revision {preference_revision}"
        )
        assert self.world.pin_to({}).refusal == "no given revision belongs to the instancetype or preference of the VM"

    def test_pinned_revision_needs_no_change(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        assert world.pin_to(world.name(1)) == RevisionChange()

    def test_revision_with_a_conflict_is_refused(self) -> None:
        world = World(
            [instancetype(1, model="EPYC"), instancetype(2), preference(1)],
            [instancetype(2), preference(1)],
            cpu={"model": "host-model"},
        )
        change = world.pin_to("previous")
        assert change.refusal is not None
        assert change.refusal.startswith("KubeVirt would reject the VM with that revision: VM field(s) ")

    def test_unreadable_revision_is_not_a_target(self) -> None:
        world = drifted()
        world.revisions[0]["data"]["apiVersion"] = "instancetype.kubevirt.io/v2"
        name = world.revisions[0]["metadata"]["name"]
        assert world.pin_to(name).refusal == f"the VM's instancetype and preference have no revision {name}"

    def test_unreadable_previous_revision_is_refused(self) -> None:
        world = World([instancetype(1), instancetype(2, "4Gi"), preference(1)], [instancetype(2, "4Gi"), preference(1)])
        world.revisions[0]["data"]["apiVersion"] = "instancetype.kubevirt.io/v2"
        change = world.pin_to("previous")
        assert (change.matcher_fields, change.due) == ((INSTANCETYPE,), False)
        assert change.refusal is not None
        assert change.refusal.startswith(
            f"cannot read the revision {world.revisions[0]['metadata']['name']}: failed to"
        )

    def test_unknown_present_revision_has_no_previous(self) -> None:
        world = World([instancetype(1), instancetype(2, "4Gi"), preference(1)], [instancetype(2, "4Gi"), preference(1)])
        world.vm["status"]["instancetypeRef"]["controllerRevisionRef"]["name"] = "gone"
        assert world.pin_to("previous").refusal == "the VM has no earlier revision"

    def test_previous_is_pinned_in_spec_through_1_4(self) -> None:
        world = World(
            [instancetype(1), instancetype(2, "4Gi"), preference(1)], [instancetype(2, "4Gi"), preference(1)], "spec"
        )
        assert world.pin_to("previous").spec == {"instancetype": {"revisionName": world.name(1)}}
        assert world.pin_to(world.name(2)) == RevisionChange()


class TestUnpin:
    def test_unpin_keeps_the_revision(self) -> None:
        world = drifted()
        world.pin(world.name(1))
        change = revision_change.unpin(world.vm, MATCHER_FIELDS)
        assert (change.matcher_fields, change.spec, change.recapture) == (
            (INSTANCETYPE,),
            {"instancetype": {"revisionName": None}},
            False,
        )
        assert change.expected == {"instancetype": world.name(1)}

    def test_unpin_without_pins_changes_nothing(self) -> None:
        assert revision_change.unpin(drifted().vm, MATCHER_FIELDS) == RevisionChange()

    def test_up_to_1_4_unpin_is_refused(self) -> None:
        refusal = revision_change.unpin(drifted("spec").vm, MATCHER_FIELDS).refusal
        assert refusal is not None
        assert "use state: refreshed" in refusal


class TestUnreferenced:
    @pytest.mark.parametrize("style", ["status", "spec"])
    def test_revisions_without_references(self, style: str) -> None:
        world = World([instancetype(1), instancetype(2), preference(1)], [], style)
        start = {"metadata": {"name": "revision-start-vm-1", "labels": {}}}
        result = controller_revisions.unreferenced([world.vm], [*world.revisions, start])
        assert [item["metadata"]["name"] for item in result] == [world.name(1)]

    def test_pin_and_captured_revision_are_references(self) -> None:
        world = World([instancetype(1), instancetype(2), preference(1)], [])
        world.vm["spec"]["instancetype"]["revisionName"] = world.name(1)
        assert controller_revisions.unreferenced([world.vm], world.revisions) == []

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
    def test_vms_that_are_captured_keep_all_their_revisions(self, reference: Manifest | None) -> None:
        world = World([instancetype(1), instancetype(2), preference(1)], [])
        foreign = copy.deepcopy(world.revisions[0])
        foreign["metadata"].update(name="foreign", ownerReferences=[{"uid": "other"}])
        world.vm["status"]["instancetypeRef"] = reference
        result = controller_revisions.unreferenced([world.vm], [*world.revisions, foreign])
        assert [item["metadata"]["name"] for item in result] == ["foreign"]

    def test_snapshots_are_references(self) -> None:
        world = World([instancetype(1), instancetype(2), preference(1)], [])
        assert controller_revisions.unreferenced([world.vm], world.revisions, [world.name(1)]) == []

    def test_revisions_of_a_running_guests_start_are_references(self) -> None:
        world = World([instancetype(1), instancetype(2), preference(1)], [])
        spec = {"instancetype": {"name": "big", "revisionName": world.name(1)}}
        start = {"metadata": {"name": "revision-start-vm-vm-7"}, "data": {"spec": spec}}
        world.vm["status"]["created"] = True
        assert controller_revisions.unreferenced([world.vm], [*world.revisions, start]) == []
        # Once it has stopped, that is of no use.
        world.vm["status"]["created"] = False
        result = controller_revisions.unreferenced([world.vm], [*world.revisions, start])
        assert [item["metadata"]["name"] for item in result] == [world.name(1)]

    def test_names_are_not_compared_with_each_running_vm(self) -> None:
        class Name(str):
            def startswith(self, *prefixes: Any) -> bool:
                raise AssertionError(prefixes)

        world = World([instancetype(1)], [])
        world.vm["status"]["created"] = True
        start = {"metadata": {"name": Name("revision-start-vm-vm-7")}, "data": {"spec": {}}}
        assert controller_revisions.unreferenced([world.vm], [*world.revisions, start]) == []

    def test_without_vms_all_are_unreferenced(self) -> None:
        world = World([instancetype(10), instancetype(9)], [])
        result = controller_revisions.unreferenced([], world.revisions)
        assert [item["metadata"]["name"] for item in result] == [world.name(9), world.name(10)]
