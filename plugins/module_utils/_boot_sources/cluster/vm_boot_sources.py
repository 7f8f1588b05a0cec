"""The extension of VMs by boot sources: workloads, inference from images, disks and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.writes.vm_extension import VMExtension, complete_each
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import merge_patch
from ..._resolver.change.declared import RELATED, Declared, DeclareJob
from ..._resolver.change.step import Act, Decision, Facts, Step
from ..._resolver.declare.vm.manifest import grown_claims, import_options
from ..._resolver.kubevirt.instancetype.lookup import Lookup

if TYPE_CHECKING:
    from ..disk_sizes import SmallDisk
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

    def complete(self, jobs: Sequence[DeclareJob], check_mode: bool) -> None:
        self._choose([item for item in jobs if item.goal.options.get("workload") is not None], check_mode)
        if all(job.goal.problem is None for job in jobs):
            self._infer_from_images([item for item in jobs if item.goal.options.get("infer_from_registry")])
            self._judge_disks([job for job in jobs if job.seen.live is not None and not job.failed])

    def _choose(self, due: Sequence[DeclareJob], check_mode: bool) -> None:
        """Gives VMs what their workloads choose."""
        if due:
            from .workload import Workloads

            complete_each(due, "workload", Workloads(self.task).completed, check_mode)

    def _infer_from_images(self, due: Sequence[DeclareJob]) -> None:
        """Asks registries which instancetype and preference VMs need."""
        if not due:
            return
        from .. import from_image
        from .registry import contents_of

        session, lookup = self.task.session, self.task.lookup
        lookup.gather(key for job in due for key in from_image.volumes_to_read(job.goal.manifest, job.seen.live))
        inferences = {
            job: [
                inference._replace(image=self._image_of_vm(job.goal, inference.image))
                for inference in from_image.image_inferences(job.goal.manifest, job.seen.live, lookup)
            ]
            for job in due
        }
        contents = contents_of(session, (item.image for questions in inferences.values() for item in questions))
        for job, questions in inferences.items():
            declared = job.goal
            try:
                vm, warnings = from_image.infer_from_images(declared.manifest, questions, contents)
            except FieldError as error:
                job.failed = str(error)
            else:
                declared.manifest = vm
                job.warnings += warnings

    def _image_of_vm(self, declared: Declared, image: Image) -> Image:
        """The image as a VM's options want it read. For an image index, that for the VM's architecture counts."""
        if not image.architecture:
            template = declared.manifest["spec"]["template"].get("spec") or {}
            own = template.get("architecture") or kubevirt(self.task.session).architecture
            image = image._replace(architecture=own)
        return image._replace(insecure=bool(declared.options.get("insecure_registry")))

    def _judge_disks(self, existing: Sequence[DeclareJob]) -> None:
        """Compares the declared disks of existing VMs with their DataVolumes and claims, in every run.

        A disk that is otherwise is a warning. One that is too small is, too, or grows if the task says so; a VM whose
        disk cannot grow fails.
        """
        if not existing:
            return
        from .. import disk_sizes, fixed_disks
        from .cdi import cdi

        lookup = self.task.lookup
        lookup.gather(key for job in existing for key in fixed_disks.keys_for_disks(job.goal.manifest))
        for job in existing:
            for fixed in fixed_disks.fixed_disks(job.goal.manifest, lookup):
                job.warn(fixed.line)
            for disk in disk_sizes.disks_to_grow(job.goal.manifest, lookup):
                obstacle = disk_sizes.obstacle_to_growth(disk, cdi(self.task.session).classes)
                if disk.name not in grown_claims(job.goal.options):
                    remedy = obstacle or _growth(disk.name, job.goal.options)
                    job.warn(f"{disk.line}, because KubeVirt creates it only once; {remedy}")
                elif obstacle:
                    job.failed = f"{disk.line}, and {obstacle}"
                else:
                    job.goal.related_changes.append(disk)

    def gather(self, planned: Sequence[tuple[DeclareJob, Manifest]]) -> None:
        self._clone_rights.gather_of(((vm, job.seen.live) for job, vm in planned), self.task.lookup)

    def findings(self, job: DeclareJob, vm: Manifest, admitted: Manifest | None) -> list[Finding]:
        return self._clone_rights.findings(vm, job.seen.live, self.task.lookup)

    @property
    def after(self) -> tuple[Step, ...]:
        return (Step(RELATED, self._grow),)

    def _grow(self, job: DeclareJob, _facts: Facts) -> Decision:
        """Grows the claims of a VM. The storage resizes them later, and KubeVirt tells a running guest."""
        return [self._growth_of(job, disk) for disk in job.goal.related_changes] or None

    def _growth_of(self, job: DeclareJob, disk: SmallDisk) -> Act:
        path = _CLAIM.path(disk.namespace, disk.name)
        growth = {"spec": {"resources": {"requests": {"storage": disk.declared}}}}
        write = merge_patch(path, growth, fieldManager=self.task.session.field_manager)

        def note(_answer: Manifest | None) -> bool:
            sizes = {"name": disk.name, "before": disk.size, "after": disk.declared}
            job.goal.facts.setdefault("grown_disks", []).append(sizes)
            return True

        failure = f"{disk.path}: the claim {disk.name} does not grow: "
        return Act((write,), (write,), on_error=lambda refusal: f"{failure}{refusal}", answered=note)
