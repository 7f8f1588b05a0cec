"""The effect of a change of a VM on its guest, as a value; `predict` says what it will be."""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple, Union

from ..api.manifest import Manifest
from ..api.tree import shown_differences

NOTHING: Final = "nothing"
LIVE: Final = "live_update"
RESTART: Final = "restart"
# KubeVirt rejects the VM or cannot start it, or what decides cannot be read.
UNKNOWN: Final = "unknown"

_NO_FIGURES: Final[Manifest] = {}
_NO_REASON: Final = "no reason is given"


class UnreadVMI(Enum):
    """A VMI that nobody has read: the guest counts as started from the VM as it is."""

    VMI = "assumed"


UNREAD_VMI: Final = UnreadVMI.VMI
MaybeVMI = Union[Manifest, UnreadVMI, None]
"""The VMI of a VM; None for a VM without a guest."""


class GuestEffect(NamedTuple):
    """The effect of a change of a VM on its guest.

    needs: NOTHING, LIVE, RESTART or UNKNOWN; the step after which the guest matches the VM, earlier changes included. A
    VM without a guest needs NOTHING: it gets the change at its next start.
    reason: why the guest needs a restart, or why KubeVirt asks for one, in KubeVirt's words if it asks; "" for neither.
    requested: KubeVirt asks for a restart, or will: it sets the condition RestartRequired.
    refusal: why KubeVirt rejects the VM or cannot start it, in its words; None if it does neither.
    guest_before, guest_after: `vmi.guest_figures` of the guest as it runs or would start before the change, and for its
    next start after it; {} if unknown.
    changes: the fields of the VMI's spec that differ between the two, [{field, before, after}], without secrets.
    outstanding: the fields that the running guest lacks until KubeVirt changes or restarts it, see `outstanding`.
    by_restart: the outstanding fields that only a restart brings.
    """

    needs: str
    reason: str = ""
    requested: bool = False
    refusal: str | None = None
    guest_before: Manifest = _NO_FIGURES
    guest_after: Manifest = _NO_FIGURES
    changes: tuple[Manifest, ...] = ()
    outstanding: tuple[str, ...] = ()
    by_restart: tuple[str, ...] = ()

    @property
    def guest_current(self) -> bool:
        """Whether the guest has everything that the VM declares, so that a restart changes nothing."""
        return not self.outstanding and self.needs != UNKNOWN

    @property
    def restart_superfluous(self) -> bool:
        """Whether KubeVirt asks for a restart that the guest does not need."""
        return self.requested and self.needs in (NOTHING, LIVE)

    @property
    def restart_unasked(self) -> bool:
        """Whether the guest needs a restart for which KubeVirt does not ask."""
        return self.needs == RESTART and not self.requested


def changes_between(before: Manifest, after: Manifest) -> tuple[Manifest, ...]:
    """The differences of VMI specs, without secrets."""
    # virt-api adds the disk type to the VMI, a preference with devices adds it to the VM; the guest is the same.
    for disk in (disk for spec in (before, after) for disk in spec["domain"]["devices"].get("disks") or ()):
        if not disk.keys() & {"disk", "lun", "cdrom"}:
            disk["disk"] = {}
    return tuple(shown_differences(before, after))


def words_of(condition: Manifest) -> str:
    """KubeVirt's reason for a restart. condition: RestartRequired."""
    return str(condition.get("message") or _NO_REASON)
