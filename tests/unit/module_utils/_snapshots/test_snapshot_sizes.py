"""The pins before a copy, and the sizes of copies."""

from typing import Any

import pytest
from captured_vms import CapturingWorld

from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from plugins.module_utils._snapshots.sizes import capture_progress, captured, pinned, resized

KINDS = {INSTANCETYPE: "VirtualMachineInstancetype", PREFERENCE: "VirtualMachinePreference"}


def sized(kind: str, name: str, spec: Manifest | None = None) -> Manifest:
    metadata = {"name": name, "namespace": "shop", "uid": f"{kind}-{name}", "generation": 1}
    size = {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}} if kind.endswith("Instancetype") else {}
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": kind,
        "metadata": metadata,
        "spec": size if spec is None else spec,
    }


class World(CapturingWorld):
    """A stopped VM whose instancetype and preference have the same name, which it has captured."""

    def __init__(self, *others: Manifest, style: str = "status", created: bool = False) -> None:
        super().__init__([*(sized(kind, "web") for kind in KINDS.values()), *others])
        self.vm["status"]["created"] = created
        self.vm["spec"].update({field.name: {"name": "web", "kind": kind} for field, kind in KINDS.items()})
        for field, manifest in zip(MATCHER_FIELDS, self.live):
            self.capture(field, manifest, style)

    @property
    def names(self) -> dict[str, str]:
        return {
            field.name: item["metadata"]["name"] for field, item in zip(MATCHER_FIELDS, self.revisions, strict=True)
        }


def test_revisions_of_a_stopped_vm_are_pinned() -> None:
    world = World()
    change = pinned(world.drift)
    assert change.spec == {field: {"revisionName": name} for field, name in world.names.items()}
    del world.vm["spec"]["preference"]
    assert pinned(world.drift).matcher_fields == (INSTANCETYPE,)


@pytest.mark.parametrize("settings", [{"created": True}, {"style": "spec"}])
def test_what_kubevirt_copies_is_not_pinned(settings: Any) -> None:
    assert not pinned(World(**settings).drift).due


def test_vm_without_a_size_is_not_pinned() -> None:
    world = World()
    for field in MATCHER_FIELDS:
        del world.vm["spec"][field.name]
    change = pinned(world.drift)
    assert (change.due, change.refusal) == (False, None)


def test_instancetype_and_preference_move_by_themselves() -> None:
    world = World(sized(KINDS[INSTANCETYPE], "large"), sized(KINDS[PREFERENCE], "other"))
    change = resized(world.drift, {INSTANCETYPE: "large"})
    assert change.spec == {"instancetype": {"name": "large", "revisionName": None}}
    both = resized(world.drift, {INSTANCETYPE: "large", PREFERENCE: "other"})
    assert both.spec == {**change.spec, "preference": {"name": "other", "revisionName": None}}
    assert not resized(world.drift, {INSTANCETYPE: "web"}).due


@pytest.mark.parametrize(
    ("name", "reason"),
    [("none", "the replacement none cannot be read: virtualmachineinstancetypes"), ("huge", "KubeVirt")],
)
def test_size_that_no_vm_can_have_is_refused(name: str, reason: str) -> None:
    world = World(sized(KINDS[INSTANCETYPE], "huge", {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}}))
    world.vm["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"} if name == "huge" else {}
    assert str(resized(world.drift, {INSTANCETYPE: name}).refusal).startswith(reason)


def test_vm_without_an_instancetype_gets_none() -> None:
    world = World()
    del world.vm["spec"]["instancetype"]
    assert str(resized(world.drift, {INSTANCETYPE: "large"}).refusal).startswith("instancetype: the VM has none")


def test_wait_ends_once_all_revisions_are_captured() -> None:
    world = World()
    assert capture_progress(world.vm).done and captured(world.vm) == world.names
    del world.vm["status"][PREFERENCE.reference]
    assert capture_progress(world.vm).pending and not capture_progress(world.vm).done
    assert captured(world.vm)["preference"] == ""
    assert capture_progress(None).failed
