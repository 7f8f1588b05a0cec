"""Handlers for the objects of a boot source."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

from ...._resolver.api.errors import Panic
from ...._resolver.boot import source
from ...._resolver.cdi import admission
from ...._resolver.declare import plan
from ...._resolver.declare.plan import Plan
from ...client.session import Session
from ...read.watch import ProbeResult
from ..engine import UNKNOWN_IN_CHECK_MODE
from ..kind_handler import Finding, KindHandler, Planned

Manifest = dict[str, Any]


class VolumeHandler(KindHandler):
    """DataVolumes: checked by CDI's rules, and ready once CDI has filled them."""

    def __init__(self) -> None:
        super().__init__("volumes")

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        return [_refused(admission.data_volume_refusal(_after(step), step.live)) for step in planned]

    def probe(self, live: Manifest | None) -> ProbeResult:
        if live is None:
            return ProbeResult(failed="the volume was deleted while the task waited for it")
        status = source.import_status(live)
        return ProbeResult(status.done, status.failed or None, status.pending)


class CronHandler(KindHandler):
    """DataImportCrons: checked by CDI's rules."""

    def __init__(self) -> None:
        super().__init__("crons")

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        return [cron_refused(step.plan.manifest) for step in planned]


class DataSourceHandler(KindHandler):
    """DataSources. unready: the names of those whose volume is not filled: these keep their source."""

    def __init__(self, unready: set[tuple[str, str]]) -> None:
        super().__init__("boot sources")
        self._unready = unready

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        metadata = step.manifest["metadata"]
        if live is not None and (metadata["namespace"], metadata["name"]) in self._unready:
            return Plan(plan.NONE, step.manifest, {}, {})
        return step

    def probe(self, live: Manifest | None) -> ProbeResult:
        if live is None:
            return ProbeResult(failed="the DataSource was deleted while the task waited for it")
        return ProbeResult(source.is_ready(live), pending="CDI to find what the DataSource refers to")


class LabelHandler(KindHandler):
    """The handler of objects of which only labels are declared."""

    def __init__(self, check_mode: bool) -> None:
        super().__init__("boot sources")
        self._check_mode = check_mode

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        if live is not None:
            return step
        # An apply would create an object that has only labels.
        nothing = Plan(plan.NONE, step.manifest, {}, {})
        return nothing if self._check_mode else nothing._replace(refusal=_missing_text(step.manifest))

    def warnings(self, session: Session, planned: list[Planned]) -> list[list[str]]:
        return [
            [f"{_missing_text(step.plan.manifest)}; {UNKNOWN_IN_CHECK_MODE}"] if step.live is None else []
            for step in planned
        ]


class ClaimHandler(KindHandler):
    """The labels of claims. Claims that CDI has not created yet get their labels from CDI."""

    def __init__(self) -> None:
        super().__init__("claims")

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        return Plan(plan.NONE, step.manifest, {}, {}) if live is None else step


def cron_refused(manifest: Manifest) -> list[Finding]:
    """The reason why CDI would reject a new DataImportCron."""
    try:
        return _refused(admission.data_import_cron_refusal(manifest, None, available_timezones()))
    except Panic as error:
        return [Finding(f"schedule: {error}")]


def _refused(refusal: Any) -> list[Finding]:
    return [] if refusal is None else [Finding(f"CDI refuses the object: {refusal.message.strip()}")]


def _missing_text(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return f"there is no {manifest['kind']} {metadata['namespace']}/{metadata['name']}"


def _after(step: Planned) -> Manifest:
    """The object after the apply, which changes only the labels of a volume."""
    if step.live is None:
        return step.plan.manifest
    return {**step.live, "spec": {**step.live["spec"], **step.plan.manifest["spec"]}}
