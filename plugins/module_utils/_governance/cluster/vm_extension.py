"""Adds to VMs a finding for each limit that they break. Modules that only read do not import this file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..._cluster.writes.vm_extension import VMExtension
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import Decision, Facts, Step

if TYPE_CHECKING:
    from .limits import ClusterLimits


class Governance(VMExtension):
    @cached_property
    def _limits(self) -> ClusterLimits:
        """The limits in force, which only a VM to be written can break."""
        from .limits import ClusterLimits

        return ClusterLimits(self.task.session)

    @property
    def findings(self) -> tuple[Step, ...]:
        return (Step("limits", self._note),)

    def _note(self, job: DeclareJob, _facts: Facts) -> Decision:
        admitted = job.goal.admission.admitted if job.goal.admission is not None else None
        job.goal.findings += [] if admitted is None else self._limits.violations(admitted, job.seen.live)
        return None
