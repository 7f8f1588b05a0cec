"""Adds to VMs a finding for each limit that they break. Modules that only read do not import this file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ..._cluster.writes.vm_extension import VMExtension
from ..._resolver.api.finding import Finding
from ..._resolver.api.manifest import Manifest
from ..._resolver.change.declared import DeclareJob

if TYPE_CHECKING:
    from .limits import ClusterLimits


class Governance(VMExtension):
    @cached_property
    def _limits(self) -> ClusterLimits:
        """The limits in force, which only a VM to be written can break."""
        from .limits import ClusterLimits

        return ClusterLimits(self.task.session)

    def findings(self, job: DeclareJob, vm: Manifest, admitted: Manifest | None) -> list[Finding]:
        return [] if admitted is None else self._limits.violations(admitted, job.seen.live)
