"""Sockets and memory that KubeVirt plugs into a running guest: until a migration brings them, only its VMI has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..api import quantity
from ..api.manifest import Manifest, Progress, condition_of, has_condition
from ..api.tree import value_at
from ..kubevirt.cluster import KubeVirt
from ..kubevirt.vm.readiness import can_apply_live
from ..kubevirt.vm.vmi import guest_figures
from .effect import LIVE, GuestEffect, words_of


class _Plugged(NamedTuple):
    """A figure that arrives while the guest runs.

    condition: of a VMI whose guest waits for it. arrived: its path in the VMI's status. text: its name in messages.
    """

    condition: str
    arrived: tuple[str, ...]
    text: str

    def lacks(self, vmi: Manifest, wanted: Any) -> bool:
        """Whether a guest does not have the figure yet. Older releases do not report all of them."""
        has = value_at(vmi, self.arrived)
        return has is not None and quantity.canonical(str(has)) != quantity.canonical(str(wanted))


_PLUGGED: Final = {
    "sockets": _Plugged("HotVCPUChange", ("status", "currentCPUTopology", "sockets"), "{} sockets"),
    "memory": _Plugged("HotMemoryChange", ("status", "memory", "guestRequested"), "{} of memory"),
}
_NOT_MIGRATED: Final = "the guest gets {} only by a migration, {}"
_NOT_BY_ITSELF: Final = (
    "which KubeVirt does not start by itself (workloadUpdateMethods without LiveMigrate); migrate or restart the VM"
)
_IMPOSSIBLE: Final = "and cannot migrate ({}); restart the VM"
_PENDING: Final = "a migration that brings the guest {}; raise wait_timeout, or restart the VM"
_REJECTED: Final = "KubeVirt could not bring the guest {}: {}; restart the VM"


def plugged_figures(effect: GuestEffect | None) -> Mapping[str, Any]:
    """The figures that a live update gives a guest, as in `guest_figures`."""
    if effect is None or effect.needs != LIVE:
        return {}
    before, after = effect.guest_before, effect.guest_after
    return {name: after[name] for name in _PLUGGED if name in after and after[name] != before.get(name)}


def under_way(vm: Manifest) -> bool:
    """Whether a guest waits for sockets or memory. The VM has the conditions of its VMI."""
    return any(has_condition(vm, part.condition) for part in _PLUGGED.values())


def not_migrated(vm: Manifest, figures: Mapping[str, Any], kubevirt: KubeVirt) -> str:
    """The warning about figures that no migration will bring; "" if KubeVirt starts one.

    figures: of the change; without any, the figures under way are meant.
    """
    words = _words(figures) if figures else "its new sockets or memory"
    if has_condition(vm, "LiveMigratable", "False"):
        return _NOT_MIGRATED.format(words, _IMPOSSIBLE.format(words_of(condition_of(vm, "LiveMigratable"))))
    return "" if kubevirt.migrates_for_updates else _NOT_MIGRATED.format(words, _NOT_BY_ITSELF)


def arrival(vmi: Manifest | None, figures: Mapping[str, Any]) -> Progress:
    """Whether a guest has got figures, and all that its VMI has. One that has ended gets them at its next start."""
    if vmi is None or not can_apply_live(vmi):
        return Progress(done=True)
    wanted = {**guest_figures(vmi["spec"]), **figures}
    lacks = {name: wanted[name] for name, part in _PLUGGED.items() if name in wanted and part.lacks(vmi, wanted[name])}
    for name, value in lacks.items():
        condition = condition_of(vmi, _PLUGGED[name].condition)
        if condition.get("status") == "False":
            return Progress(failed=_REJECTED.format(_words({name: value}), words_of(condition)))
    return Progress(not lacks, pending=_PENDING.format(_words(lacks)))


def _words(figures: Mapping[str, Any]) -> str:
    """`2 sockets and 4Gi of memory`."""
    return " and ".join(_PLUGGED[name].text.format(value) for name, value in figures.items())
