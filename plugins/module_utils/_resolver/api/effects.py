"""What a change takes to reach a running guest."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

Manifest = dict[str, Any]


NOTHING: Final = "nothing"
LIVE: Final = "live_update"
RESTART: Final = "restart"
# What the VM refers to cannot be read, or KubeVirt could not expand it.
UNKNOWN: Final = "unknown"


class Impact(NamedTuple):
    """needs: NOTHING (also for a VM without a running guest, which has the change at its next start), LIVE, RESTART or
    UNKNOWN. reason: why a restart is needed, in KubeVirt's words.
    guest_before: the guest's figures as it runs, or would be started; guest_after: likewise after the change.
    changes: fields of the VMI's spec that are others after it, [{field, before, after}], without secrets; those that
    wait for a restart since an earlier change are among them.
    settled: whether the guest has all that the VM says although KubeVirt asks for a restart."""

    needs: str
    reason: str | None = None
    guest_before: Manifest | None = None
    guest_after: Manifest | None = None
    changes: tuple[Manifest, ...] = ()
    settled: bool = False
