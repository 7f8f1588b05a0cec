"""The revisions of a namespace are gone through once, however many VMs ask."""

from collections.abc import Iterator
from typing import Any

from plugins.module_utils._resolver.api.matcher import INSTANCETYPE
from plugins.module_utils._resolver.guest.effect import NOTHING, GuestEffect
from plugins.module_utils._resolver.kubevirt.config.cluster import Cluster
from plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from plugins.module_utils._resolver.refresh import drift, recapture, revision_change
from plugins.module_utils._resolver.refresh.controller_revisions import RevisionIndex

Manifest = dict[str, Any]


def revision(name: str, *owners: str) -> Manifest:
    return {"metadata": {"name": name, "ownerReferences": [{"uid": owner} for owner in owners]}}


class Counted(list[Manifest]):
    rounds = 0

    def __iter__(self) -> Iterator[Manifest]:
        self.rounds += 1
        return super().__iter__()


def test_by_name_and_by_owner() -> None:
    first, second, alone = revision("first", "a"), revision("second", "a", "b", "b"), {"metadata": {"name": "alone"}}
    index = RevisionIndex([first, second, alone])
    assert index.by_owner == {"a": [first, second], "b": [second]}
    assert (index.get("ControllerRevision", "shop", "second"), index.by_name.get("three")) == (second, None)
    assert list(index) == [first, second, alone]


def test_revisions_are_iterated_once_for_all_vms() -> None:
    every = Counted(revision(f"{vm}-{number}", vm) for vm in "abc" for number in range(3))
    revisions = RevisionIndex(every)
    unknown = drift.Drift(
        {}, None, Cluster(Objects([])), {}, {}, {}, GuestEffect(NOTHING), GuestEffect(NOTHING), revisions
    )
    for uid in "abc":
        vm: Manifest = {"metadata": {"uid": uid, "generation": 1}, "spec": {"instancetype": {"name": "big"}}}
        recapture.must_bump_generation(vm, revisions)
        for requested in (revision_change.PREVIOUS, f"{uid}-1"):
            revision_change.pin(unknown._replace(vm=vm), [INSTANCETYPE], requested)
    assert every.rounds == 1
