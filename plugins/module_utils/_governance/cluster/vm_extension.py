"""Adds to VMs a finding for each limit that they break. Modules that only read do not import this file."""

from __future__ import annotations

from ..._cluster.writes.kind_handler import DeclareOutcome
from ..._cluster.writes.vm_extension import VMExtension, VMTask
from ..._resolver.api.finding import Finding
from ..._resolver.api.manifest import Manifest
from .limits import ClusterLimits


class Governance(VMExtension):
    def __init__(self, task: VMTask) -> None:
        super().__init__(task)
        self._limits = ClusterLimits(task.session)

    def findings(self, outcome: DeclareOutcome, vm: Manifest, admitted: Manifest | None) -> list[Finding]:
        return [] if admitted is None else self._limits.violations(admitted, outcome.live)
