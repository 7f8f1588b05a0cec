"""The state of one boot source during a task, and the declaration of its objects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import available_timezones

from ..._cluster.client.session import Session
from ..._cluster.task import Task
from ..._cluster.writes.declare import declare
from ..._resolver.api.errors import Panic
from ..._resolver.api.finding import Finding
from ..._resolver.api.keys import BOOT_SOURCE_LABEL
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, Options, Progress, has_condition, labels_of, name_of
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.change.declare_steps import DeclaredKind, plan_object
from ..._resolver.change.declared import NOT_PLANNED, DeclareJob, Ownership, manifest_job
from ..._resolver.change.step import UNKNOWN_IN_CHECK_MODE, Decision, Facts, Step
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from .. import cdi_webhooks as admission
from .. import preflight, source
from ..image import Content
from ..upload_rules import is_filled_with

Pair = tuple["BootSourceState", Manifest]

LABELED: Final = "labeled"
# The object that the job of the boot source describes.
_DESCRIBED: Final = ("DataSource", "DataImportCron")


@dataclass(eq=False)
class BootSourceState:
    """The state of one boot source. filled: whether CDI has filled its volume, or would have."""

    job: DeclareJob
    content: Content = field(default_factory=Content)
    labels: dict[str, str] = field(default_factory=dict)
    volume: str = ""
    filled: bool = True

    @property
    def options(self) -> Options:
        return self.job.goal.options

    @property
    def name(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.options["namespace"], self.options["name"]

    @property
    def state(self) -> str:
        return self.job.goal.state

    @property
    def imports(self) -> bool:
        """Whether CDI imports once."""
        return not self.polls and any(self.options.get(option) for option in ("image", "image_stream", "url"))

    @property
    def uploads(self) -> bool:
        return bool(self.options.get("upload"))

    @property
    def volume_kind(self) -> str:
        return "PersistentVolumeClaim" if self.uploads and self.options["upload"]["claim"] else "DataVolume"

    @property
    def content_key(self) -> ObjectKey:
        """The claim or snapshot that VMs boot from."""
        return source.content_key(self.options, self.volume)

    @property
    def has_data_source(self) -> bool:
        """Whether a DataSource has the volume as its target."""
        return not self.uploads or bool(self.options["upload"]["data_source"])

    @property
    def polls(self) -> bool:
        return self.options.get("schedule") is not None

    def add_outcome(self, part: DeclareJob) -> None:
        """Adds the job of one object."""
        name = f"{part.key.kind} {part.key.name}"
        if part.failed:
            self.job.failed = self.job.failed or f"{name}: {part.failed}"
        elif part.goal.action in plan.WRITES:
            action = part.goal.action
            if part.key.kind not in _DESCRIBED:
                action = plan.APPLY if self.job.goal.action == plan.NONE else self.job.goal.action
            self.record_change(action, name, *part.goal.shown_change)
        self.job.written = self.job.written or part.written
        self.job.acted = self.job.acted or part.acted
        self.job.warnings += part.warnings

    def record_change(self, action: str, name: str, before: Manifest, after: Manifest) -> None:
        """Records that an object changes. name: its kind and name. before, after: its changed parts."""
        planned = self.job.goal.plan
        self.job.acted = True
        self.job.goal.plan = planned._replace(
            action=action,
            before={**planned.before, **({name: before} if before else {})},
            after={**planned.after, **({name: after} if after else {})},
        )


def not_failed(boot_sources: Iterable[BootSourceState]) -> list[BootSourceState]:
    return [boot_source for boot_source in boot_sources if not boot_source.job.failed]


def has_content(session: Session, boot_source: BootSourceState) -> bool:
    """Whether CDI has filled the volume with the content. Raises what requests raise."""
    live = session.get(KINDS[boot_source.volume_kind], boot_source.options["namespace"], boot_source.volume)
    if live is None:
        return False
    return is_filled_with(live, boot_source.content.digest) if boot_source.uploads else source.import_status(live).done


def declare_objects(
    session: Session, kind: DeclaredKind, pairs: Iterable[Pair], task: Task, state: str = "present"
) -> list[tuple[BootSourceState, DeclareJob]]:
    """Declares one object for each boot source that has not failed, or deletes it."""
    due = [(boot_source, manifest) for boot_source, manifest in pairs if not boot_source.job.failed]
    jobs = [manifest_job(manifest, state) for boot_source, manifest in due]
    done = [(boot_source, job) for (boot_source, _manifest), job in zip(due, jobs)]
    if jobs:
        declare(session, kind, jobs, task)
    for boot_source, job in done:
        boot_source.add_outcome(job)
    return done


def foreign_problem(name: str, kind: str, live: Manifest, ownership: Ownership) -> str:
    """See `preflight.foreign_problem`. name: of the boot source."""
    takes_over = ownership.take_over if not ownership.force else lambda _manager: True
    return preflight.foreign_problem(name, kind, live, ownership.manager, takes_over)


def _plan_own(job: DeclareJob, ownership: Ownership) -> Plan:
    planned, live = plan_object(job, ownership), job.seen.live
    if live is None or planned.action not in plan.WRITES:
        return planned
    manifest = job.goal.manifest
    name = labels_of(manifest).get(BOOT_SOURCE_LABEL) or name_of(manifest)
    problem = foreign_problem(name, manifest["kind"], live, ownership)
    return NOT_PLANNED._replace(refusal=problem) if problem else planned


OWN: Final = DeclaredKind(_plan_own)
"""Objects that a boot source makes or deletes; one that somebody else has made stays as it is."""


def _check_import(job: DeclareJob, _facts: Facts) -> Decision:
    job.goal.findings = refused(job.goal.plan.manifest, job.seen.live)
    return None


def _import_state(live: Manifest | None, _before: Manifest | None) -> Progress:
    if live is None:
        return Progress(failed="the volume was deleted while the task waited for it")
    return source.import_status(live)


IMPORT: Final = DeclaredKind(_plan_own, probe=_import_state, checks=(Step("check", _check_import),))
"""DataVolumes and DataImportCrons: checked by CDI's rules. DataVolumes are ready once CDI has filled them."""


def data_source_kind(unready: set[tuple[str, str]]) -> DeclaredKind:
    """DataSources. unready: the names of DataSources whose volume is not filled yet; they keep their source."""

    def plan_data_source(job: DeclareJob, ownership: Ownership) -> Plan:
        planned = plan_object(job, ownership)
        keeps = planned.action == plan.APPLY and job.key[1:] in unready
        return NOT_PLANNED._replace(manifest=planned.manifest) if keeps else planned

    return DeclaredKind(plan_data_source, probe=_data_source_state)


def _data_source_state(live: Manifest | None, _before: Manifest | None) -> Progress:
    if live is None:
        return Progress(failed="the DataSource was deleted while the task waited for it")
    return Progress(has_condition(live, "Ready"), pending="CDI to find what the DataSource refers to")


def label_kind(*, required: bool, check_mode: bool) -> DeclaredKind:
    """Objects of which only labels are declared: an apply would create an object that has nothing else.

    required: whether a missing object is an error. CDI labels the claims that it has not created yet.
    """

    def plan_labels(job: DeclareJob, ownership: Ownership) -> Plan:
        if job.seen.live is not None:
            return plan_object(job, ownership)
        missing = f"there is no {job.key.kind} {job.key.label}"
        if required and not check_mode:
            return NOT_PLANNED._replace(refusal=missing)
        job.warnings += [f"{missing}; {UNKNOWN_IN_CHECK_MODE}"] if required else []
        return NOT_PLANNED

    return DeclaredKind(plan_labels)


def refused(manifest: Manifest, live: Manifest | None = None) -> list[Finding]:
    """The reason why CDI would reject an object of a boot source. live: the DataVolume that an apply would change.

    A DataImportCron counts as new, since CDI rejects every change of one.
    """
    refusal: admission.WebhookRefusal | None = None
    try:
        if manifest["kind"] == "DataImportCron":
            refusal = admission.data_import_cron_refusal(manifest, None, available_timezones())
        elif manifest["kind"] == "DataVolume":
            spec = {**(live or {}).get("spec", {}), **manifest["spec"]}
            refusal = admission.data_volume_refusal({**manifest, "spec": spec}, live)
    except Panic as error:
        return [Finding(f"schedule: {error}")]
    return [] if refusal is None else [Finding(f"CDI refuses the object: {refusal.message.strip()}")]
