"""The extension of VMs by boot sources: workloads, inference from images, disks and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.writes.kind_handler import DeclaredObject, DeclareOutcome
from ..._cluster.writes.send import send
from ..._cluster.writes.vm_extension import VMExtension, complete_each
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import merge_patch
from ..._resolver.declare.vm.manifest import grown_claims, import_options
from ..._resolver.kubevirt.find.lookup import Lookup

if TYPE_CHECKING:
    from ..origin import Image
    from .clone_rights import CloneRights

_CLAIM: Final = KINDS["PersistentVolumeClaim"]


def _growth(claim: str, options: Mapping[str, Any]) -> str:
    """How a task lets a claim grow, by an option that exists where the disk is declared."""
    if option := import_options(dict(options)).get(claim):
        return f"set {option}.expand: grow to grow the claim"
    return "resize the claim, or declare the disk by volumes[].import, whose option expand grows it"


def _source_findings(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterable[Finding]:
    """See `boot_source_findings`, which only a VM to be written needs."""
    from ..unusable_sources import boot_source_findings

    return boot_source_findings(vm, live, objects)


class BootSources(VMExtension):
    checks = (_source_findings,)
    needs_connection: ClassVar[Mapping[str, str]] = {
        "workload": "set boot, instancetype and preference to what the filter virtshape.instancetypes.workload chooses"
        " of manifests",
        "infer_from_registry": "set instancetype and preference",
    }

    @cached_property
    def _clone_rights(self) -> CloneRights:
        from .clone_rights import CloneRights

        return CloneRights(self.task.session)

    def complete(self, outcomes: Sequence[DeclareOutcome], check_mode: bool) -> None:
        self._choose([item for item in outcomes if item.declared.options.get("workload") is not None], check_mode)
        if all(outcome.declared.problem is None for outcome in outcomes):
            self._infer_from_images([item for item in outcomes if item.declared.options.get("infer_from_registry")])
            self._judge_disks([outcome for outcome in outcomes if outcome.live is not None and not outcome.failed])

    def _choose(self, due: Sequence[DeclareOutcome], check_mode: bool) -> None:
        """Gives VMs what their workloads choose."""
        if due:
            from .workload import Workloads

            complete_each(due, "workload", Workloads(self.task).completed, check_mode)

    def _infer_from_images(self, due: Sequence[DeclareOutcome]) -> None:
        """Asks registries which instancetype and preference VMs need."""
        if not due:
            return
        from .. import from_image
        from .registry import contents_of

        session, lookup = self.task.session, self.task.lookup
        lookup.gather(
            key for outcome in due for key in from_image.volumes_to_read(outcome.declared.manifest, outcome.live)
        )
        inferences = {
            outcome: [
                inference._replace(image=self._image_of_vm(outcome.declared, inference.image))
                for inference in from_image.image_inferences(outcome.declared.manifest, outcome.live, lookup)
            ]
            for outcome in due
        }
        contents = contents_of(session, (item.image for questions in inferences.values() for item in questions))
        for outcome, questions in inferences.items():
            declared = outcome.declared
            try:
                vm, warnings = from_image.infer_from_images(declared.manifest, questions, contents)
            except FieldError as error:
                outcome.failed = str(error)
            else:
                outcome.declared = replace(declared, manifest=vm)
                outcome.warnings += warnings

    def _image_of_vm(self, declared: DeclaredObject, image: Image) -> Image:
        """The image as a VM's options want it read. For an image index, that for the VM's architecture counts."""
        if not image.architecture:
            template = declared.manifest["spec"]["template"].get("spec") or {}
            own = template.get("architecture") or kubevirt(self.task.session).architecture
            image = image._replace(architecture=own)
        return image._replace(insecure=bool(declared.options.get("insecure_registry")))

    def _judge_disks(self, existing: Sequence[DeclareOutcome]) -> None:
        """Compares the declared disks of existing VMs with their DataVolumes and claims, in every run.

        A disk that is otherwise is a warning. One that is too small is, too, or grows if the task says so; a VM whose
        disk cannot grow fails.
        """
        if not existing:
            return
        from .. import disk_sizes, fixed_disks
        from .cdi import cdi

        lookup = self.task.lookup
        lookup.gather(key for outcome in existing for key in fixed_disks.keys_for_disks(outcome.declared.manifest))
        for outcome in existing:
            for fixed in fixed_disks.fixed_disks(outcome.declared.manifest, lookup):
                outcome.warn(fixed.line)
            for disk in disk_sizes.disks_to_grow(outcome.declared.manifest, lookup):
                obstacle = disk_sizes.obstacle_to_growth(disk, cdi(self.task.session).classes)
                if disk.name not in grown_claims(outcome.declared.options):
                    remedy = obstacle or _growth(disk.name, outcome.declared.options)
                    outcome.warn(f"{disk.line}, because KubeVirt creates it only once; {remedy}")
                elif obstacle:
                    outcome.failed = f"{disk.line}, and {obstacle}"
                else:
                    outcome.related_changes.append(disk)

    def gather_named(self, planned: Sequence[tuple[DeclareOutcome, Manifest]]) -> None:
        self._clone_rights.gather_named((vm, outcome.live) for outcome, vm in planned)

    def gather_followed(self, planned: Sequence[tuple[DeclareOutcome, Manifest]]) -> None:
        self._clone_rights.gather_followed(((vm, outcome.live) for outcome, vm in planned), self.task.lookup)

    def findings(self, outcome: DeclareOutcome, vm: Manifest, admitted: Manifest | None) -> list[Finding]:
        return self._clone_rights.findings(vm, outcome.live, self.task.lookup)

    def write_related(self, outcome: DeclareOutcome, session: Session) -> None:
        """Grows the claims of a VM. The storage resizes them later, and KubeVirt tells a running guest."""
        for disk in outcome.related_changes:
            path = _CLAIM.path(disk.namespace, disk.name)
            growth = {"spec": {"resources": {"requests": {"storage": disk.declared}}}}
            try:
                send(session, merge_patch(path, growth, fieldManager=session.field_manager))
            except RequestFailed as error:
                outcome.failed = f"{disk.path}: the claim {disk.name} does not grow: {error}"
                return
            outcome.written = outcome.written or not session.is_dry_run
            sizes = {"name": disk.name, "before": disk.size, "after": disk.declared}
            outcome.facts.setdefault("grown_disks", []).append(sizes)
