"""Sockets and memory that guests get by a migration: what a VMI lacks, and which tasks wait for it."""

from typing import Any

import pytest

from plugins.module_utils._resolver.guest.arrival import arrival, not_migrated, plugged_figures, under_way
from plugins.module_utils._resolver.guest.effect import LIVE, RESTART, GuestEffect
from plugins.module_utils._resolver.kubevirt.cluster import kubevirt_of

Manifest = dict[str, Any]
SMALL = {"sockets": 1, "memory": "1Gi"}


def vmi(
    sockets: int = 2, memory: str = "2Gi", *conditions: Manifest, has: "Manifest | None" = None, phase: str = "Running"
) -> Manifest:
    """The VMI of a guest that is to have so much. has: what its status reports."""
    has = {"currentCPUTopology": {"sockets": 1}, "memory": {"guestRequested": "1Gi"}} if has is None else has
    domain = {"cpu": {"sockets": sockets, "cores": 1, "threads": 1}, "memory": {"guest": memory}}
    status = {"phase": phase, "conditions": list(conditions), **has}
    return {"metadata": {"name": "web"}, "spec": {"domain": domain}, "status": status}


def methods(*names: str) -> Any:
    spec = {"workloadUpdateStrategy": {"workloadUpdateMethods": list(names)}}
    return kubevirt_of({"metadata": {}, "spec": spec}, "v1.9.0")


@pytest.mark.parametrize(
    ("sockets", "memory", "lacks"),
    [(2, "1Gi", "2 sockets"), (1, "2Gi", "2Gi of memory"), (2, "2Gi", "2 sockets and 2Gi of memory")],
)
def test_guest_lacks_what_its_status_does_not_report(sockets: int, memory: str, lacks: str) -> None:
    state = arrival(vmi(sockets, memory), {})
    assert (state.done, state.failed) == (False, None)
    assert state.pending == f"a migration that brings the guest {lacks}; raise wait_timeout, or restart the VM"


def test_guest_lacks_figures_that_its_vmi_has_not_got() -> None:
    assert arrival(vmi(1, "1Gi"), {"sockets": 4}).pending.startswith("a migration that brings the guest 4 sockets;")


@pytest.mark.parametrize(
    "instance",
    [
        vmi(1, "1024Mi"),
        vmi(has={}),
        vmi(has={"currentCPUTopology": {"sockets": 2}, "memory": {"guestRequested": "2048Mi"}}),
        vmi(phase="Failed"),
        None,
    ],
    ids=["same amount", "not reported", "arrived", "ended", "gone"],
)
def test_guest_that_lacks_nothing_is_not_awaited(instance: "Manifest | None") -> None:
    assert arrival(instance, {}).done


def test_memory_that_kubevirt_could_not_plug_is_a_failure() -> None:
    condition = {"type": "HotMemoryChange", "status": "False", "message": "the VM configuration is not supported"}
    failed = "KubeVirt could not bring the guest 2Gi of memory: the VM configuration is not supported; restart the VM"
    assert arrival(vmi(2, "2Gi", condition), {}).failed == failed


def test_live_update_gives_the_figures_that_differ() -> None:
    after = {"vcpus": 2, "sockets": 2, "memory": "1Gi"}
    assert plugged_figures(GuestEffect(LIVE, guest_before=SMALL, guest_after=after)) == {"sockets": 2}
    assert plugged_figures(GuestEffect(LIVE, guest_before=SMALL, guest_after=SMALL)) == {}
    assert plugged_figures(GuestEffect(RESTART, guest_before=SMALL, guest_after=after)) == {}
    assert plugged_figures(None) == {}


@pytest.mark.parametrize(("condition", "waits"), [("HotVCPUChange", True), ("HotMemoryChange", True), ("Ready", False)])
def test_vm_tells_that_an_update_is_under_way(condition: str, waits: bool) -> None:
    assert under_way({"status": {"conditions": [{"type": condition, "status": "True"}]}}) is waits


def test_warning_says_why_no_migration_comes() -> None:
    fixed = {"type": "LiveMigratable", "status": "False", "message": "a disk is not shared"}
    assert not_migrated({}, {"sockets": 2}, methods("LiveMigrate", "Evict")) == ""
    assert not_migrated({}, {"sockets": 2}, methods("Evict")) == (
        "the guest gets 2 sockets only by a migration, which KubeVirt does not start by itself"
        " (workloadUpdateMethods without LiveMigrate); migrate or restart the VM"
    )
    assert not_migrated({"status": {"conditions": [fixed]}}, {}, methods("LiveMigrate")) == (
        "the guest gets its new sockets or memory only by a migration, and cannot migrate (a disk is not shared);"
        " restart the VM"
    )
