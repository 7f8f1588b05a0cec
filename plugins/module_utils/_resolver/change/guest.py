"""The guest of a changed VM, and what a task says and does of it without any comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..api.manifest import Manifest
from ..api.write import merge_patch
from ..guest.effect import LIVE, NOTHING, RESTART, GuestEffect
from ..kubevirt.vm.readiness import restart_required, stale_restart_warning
from . import recapture
from .step import Act, Job, Refusal

BUMP: Final = "bump"

_DENIED: Final = "cannot reset the condition RestartRequired, which may remain after the restart: {}"


@dataclass(eq=False, repr=False)
class Guest:
    """The guest of a VM that may lack changes.

    may_restart: whether the task may restart the guest. expects: what KubeVirt does about the change, as foreseen:
    NOTHING; LIVE, if it changes the running guest; RESTART, if it asks for a restart.
    effect: what the guest lacks; None before the comparison. uid: of the VMI to restart.
    """

    may_restart: bool = False
    expects: str = NOTHING
    effect: GuestEffect | None = None
    uid: str = ""

    @property
    def needs_restart(self) -> bool:
        """Whether the guest lacks what only a restart gives it."""
        effect = self.effect
        return effect is not None and (effect.needs == RESTART or (self.expects == LIVE and bool(effect.outstanding)))


def bumping(job: Job[Any], vm: Manifest, field_manager: str, *, may_be_invalid: bool = False) -> Act:
    """Bumps the generation of a VM without changing its spec.

    A user who may not patch the VM gets a warning only, because the condition RestartRequired harms no guest.
    may_be_invalid: KubeVirt may not accept the VM as it is.
    """

    def on_error(refusal: Refusal) -> str | None:
        if refusal.code == 403:
            job.warn(_DENIED.format(refusal))
        return None if refusal.code == 403 or (may_be_invalid and refusal.code == 422) else str(refusal)

    writes = tuple(merge_patch(job.key.path, body, fieldManager=field_manager) for body in recapture.bump_patches(vm))
    return Act(writes, writes, on_error=on_error)


def warn_of_condition(job: Job[Any], vm: Manifest) -> None:
    """Warns of a condition RestartRequired that remains although the guest has everything."""
    if restart_required(vm) is not None:
        job.warn(stale_restart_warning(vm))
