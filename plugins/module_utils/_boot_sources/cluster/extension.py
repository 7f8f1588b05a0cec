"""The extension of VMs by boot sources: workloads, inference from images, disks and their sources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from ..._cluster.client.session import Session
from ..._cluster.writes.kind_handler import DeclareOutcome
from ..._cluster.writes.vm_extension import VMExtension, VMTask, complete_each
from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.api.manifest import Manifest
from ..unusable_sources import boot_source_findings, clones, named_clones
from .clone_rights import CloneRights
from .disks import grow_disks, judge_disks
from .image_inference import infer_from_images
from .workload import Workloads


class BootSources(VMExtension):
    checks = (boot_source_findings,)
    needs_connection: ClassVar[Mapping[str, str]] = {
        "workload": "set boot, instancetype and preference to what the filter virtshape.instancetypes.workload chooses"
        " of manifests",
        "infer_from_registry": "set instancetype and preference",
    }

    def __init__(self, task: VMTask) -> None:
        super().__init__(task)
        self._workloads = Workloads(task)
        self._clone_rights = CloneRights(task.session)

    def complete(self, outcomes: Sequence[DeclareOutcome], check_mode: bool) -> None:
        complete_each(outcomes, "workload", self._workloads.completed, check_mode)
        if all(outcome.declared.problem is None for outcome in outcomes):
            infer_from_images(self.task.session, self.task.lookup, outcomes)
            judge_disks(self.task.session, self.task.lookup, outcomes)

    def gather_named(self, planned: Sequence[tuple[DeclareOutcome, Manifest]]) -> None:
        rights = (right for outcome, vm in planned for right in named_clones(vm, outcome.live))
        self._clone_rights.gather(right.to_all for right in rights)

    def gather_followed(self, planned: Sequence[tuple[DeclareOutcome, Manifest]]) -> None:
        self._clone_rights.gather(
            right for outcome, vm in planned for _path, right in clones(vm, outcome.live, self.task.lookup)
        )

    def findings(self, outcome: DeclareOutcome, vm: Manifest, admitted: Manifest | None) -> list[Finding]:
        return [
            Finding(f"{path}: {right.lack(f'{right.namespace}/{right.name}')}", severity=WARNING, missing=True)
            for path, right in clones(vm, outcome.live, self.task.lookup)
            if self._clone_rights.refused(right)
        ]

    def write_related(self, outcome: DeclareOutcome, session: Session) -> None:
        grow_disks(session, outcome)
