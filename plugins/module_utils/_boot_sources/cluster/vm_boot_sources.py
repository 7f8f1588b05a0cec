"""The extension of VMs by boot sources: workloads, inference from images, disks and their sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from ..._cluster.reads.kubevirt import kubevirt
from ..._cluster.writes.vm_extension import VMExtension, completing
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import Finding
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import merge_patch
from ..._resolver.change.declared import RELATED, Declared, DeclareJob, stop_if_invalid
from ..._resolver.change.step import Act, Decision, Facts, Step
from ..._resolver.declare import plan
from ..._resolver.declare.vm.manifest import import_options
from ..._resolver.kubevirt.instancetype.lookup import Lookup

if TYPE_CHECKING:
    from ..disk_sizes import SmallDisk
    from ..origin import Image
    from .clone_rights import CloneRights
    from .workload import Workloads

_WORKLOAD: Final = "workload"
_CLAIM: Final = KINDS["PersistentVolumeClaim"]


def _grows(claim: str, options: Mapping[str, Any]) -> bool:
    declared = import_options(dict(options)).get(claim)
    return declared is not None and declared.options.get("expand") == "grow"


def _growth(claim: str, options: Mapping[str, Any]) -> str:
    """The remedy for a claim that is too small, by the option at the place where the disk is declared."""
    if declared := import_options(dict(options)).get(claim):
        return f"set {declared.path}.expand: grow to grow the claim"
    return "resize the claim, or declare the disk by volumes[].import, whose option expand grows it"


def _source_findings(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterable[Finding]:
    """See `boot_source_findings`, which only a VM to be written needs."""
    from ..unusable_sources import boot_source_findings

    return boot_source_findings(vm, live, objects)


def _is_inferred(job: DeclareJob) -> bool:
    return bool(job.goal.options.get("infer_from_registry"))


def _may_clone(job: DeclareJob) -> bool:
    """Whether the VM to be written may have templates of disks."""
    vms = () if job.goal.action == plan.DELETE else (job.goal.manifest, job.seen.live or {})
    return any(vm.get("spec", {}).get("dataVolumeTemplates") for vm in vms)


def _planned(job: DeclareJob) -> Manifest:
    return plan.merged(job.goal.plan, job.seen.live)


class BootSources(VMExtension):
    checks = (_source_findings,)
    needs_connection: ClassVar[Mapping[str, str]] = {
        _WORKLOAD: "set boot, instancetype and preference to what the filter virtshape.instancetypes.workload chooses"
        " of manifests",
        "infer_from_registry": "set instancetype and preference",
    }

    @cached_property
    def _clone_rights(self) -> CloneRights:
        from .clone_rights import CloneRights

        return CloneRights(self.task.session)

    @property
    def complete(self) -> tuple[Step, ...]:
        return (
            completing(_WORKLOAD, self._choose, self.task.task.check_mode),
            Step("images", prepare=self._infer_from_images, takes=_is_inferred, stop=stop_if_invalid),
            Step("disks", prepare=self._judge_disks, takes=lambda job: job.seen.live is not None),
        )

    @cached_property
    def _workloads(self) -> Workloads:
        from .workload import Workloads

        return Workloads(self.task)

    def _choose(self, job: DeclareJob) -> None:
        """Gives a VM what its workload chooses."""
        self._workloads.completed(job)

    def _infer_from_images(self, due: Sequence[DeclareJob], _facts: Facts) -> None:
        """Asks registries which instancetype and preference VMs need."""
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

    def _judge_disks(self, existing: Sequence[DeclareJob], _facts: Facts) -> None:
        """Compares the declared disks of existing VMs with their DataVolumes and claims, in every run.

        A disk that is otherwise is a warning. One that is too small is, too, or grows if the task says so; a VM whose
        disk cannot grow fails.
        """
        from .. import disk_sizes, fixed_disks
        from .cdi import cdi

        lookup = self.task.lookup
        lookup.gather(key for job in existing for key in fixed_disks.keys_for_disks(job.goal.manifest))
        for job in existing:
            for fixed in fixed_disks.fixed_disks(job.goal.manifest, lookup):
                job.warn(fixed.line)
            for disk in disk_sizes.disks_to_grow(job.goal.manifest, lookup):
                obstacle = disk_sizes.obstacle_to_growth(disk, cdi(self.task.session).classes)
                if not _grows(disk.name, job.goal.options):
                    remedy = obstacle or _growth(disk.name, job.goal.options)
                    job.warn(f"{disk.line}, because KubeVirt creates it only once; {remedy}")
                elif obstacle:
                    job.failed = f"{disk.line}, and {obstacle}"
                else:
                    job.goal.related_changes.append(disk)

    @property
    def findings(self) -> tuple[Step, ...]:
        return (Step("clone rights", self._note_refused, prepare=self._ask_for_rights, takes=_may_clone),)

    def _ask_for_rights(self, jobs: Sequence[DeclareJob], facts: Facts) -> None:
        self._clone_rights.gather_of(((_planned(job), job.seen.live) for job in jobs), facts)

    def _note_refused(self, job: DeclareJob, facts: Facts) -> Decision:
        job.goal.findings += self._clone_rights.findings(_planned(job), job.seen.live, facts)
        return None

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
