"""The impact of a change on a running guest."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Manifest = dict[str, Any]


NOTHING: Final = "nothing"
LIVE: Final = "live_update"
RESTART: Final = "restart"
# A referenced object is unreadable, or KubeVirt could not expand the VM.
UNKNOWN: Final = "unknown"


class Impact(NamedTuple):
    """The impact of a change on the guest.

    needs: NOTHING (also for a VM without a running guest, which gets the change at its next start), LIVE, RESTART or
    UNKNOWN. reason: why a restart is needed, in KubeVirt's words if it asks for one.
    without_condition: KubeVirt asks for no restart, although the guest gets the change only by one.
    guest_before, guest_after: the figures of the guest as it runs (or would start), before and after the change.
    changes: the changed fields of the VMI's spec, [{field, before, after}], without secrets, including earlier changes
    that wait for a restart.
    guest_current: the guest has everything that the VM declares, although KubeVirt asks for a restart.
    """

    needs: str
    reason: str | None = None
    guest_before: Manifest | None = None
    guest_after: Manifest | None = None
    changes: tuple[Manifest, ...] = ()
    guest_current: bool = False
    without_condition: bool = False
