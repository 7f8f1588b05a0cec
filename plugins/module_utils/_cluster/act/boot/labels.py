"""Labels existing claims, snapshots and DataSources with their instancetype and preference."""

from __future__ import annotations

from typing import Any, Final

from ...._resolver.api.kinds import BY_NAME
from ...._resolver.boot import preflight
from ...._resolver.declare import plan
from ...._resolver.declare.plan import Plan
from ...client.errors import ApiError, ConnectionFailed
from ...client.session import Session
from ..engine import UNKNOWN_IN_CHECK_MODE, WriteSettings
from ..kind_handler import KindHandler, Planned
from .state import BootSourceState, declare_objects

Manifest = dict[str, Any]

_SOURCE: Final = "DataSource"


class _LabelHandler(KindHandler):
    """The handler of objects of which only labels are declared."""

    def __init__(self, check_mode: bool) -> None:
        super().__init__("boot sources")
        self._check_mode = check_mode

    def adjust(self, step: Plan, live: Manifest | None) -> Plan:
        if live is not None:
            return step
        # An apply would create an object that has only labels.
        nothing = Plan(plan.NONE, step.manifest, {}, {})
        return nothing if self._check_mode else nothing._replace(refusal=_missing(step.manifest))

    def warnings(self, session: Session, planned: list[Planned]) -> list[list[str]]:
        return [
            [f"{_missing(step.plan.manifest)}; {UNKNOWN_IN_CHECK_MODE}"] if step.live is None else []
            for step in planned
        ]


def label(session: Session, boot_sources: list[BootSourceState], settings: WriteSettings) -> None:
    """Declares the labels of one existing object for each boot source."""
    pairs = [(boot_source, _manifest(boot_source)) for boot_source in boot_sources]
    for (boot_source, _labels), result in zip(
        pairs, declare_objects(session, _LabelHandler(settings.check_mode), pairs, settings)
    ):
        boot_source.result.live = result.live
        if result.live is not None and boot_source.result.entry.key.kind == _SOURCE:
            boot_source.result.warnings += preflight.overwritten(
                boot_source.labels, result.live, _content(session, result.live)
            )


def _manifest(boot_source: BootSourceState) -> Manifest:
    key = boot_source.result.entry.key
    metadata = {"name": key.name, "namespace": key.namespace, "labels": boot_source.labels}
    return {"apiVersion": BY_NAME[key.kind].api_version, "kind": key.kind, "metadata": metadata}


def _missing(manifest: Manifest) -> str:
    metadata = manifest["metadata"]
    return f"there is no {manifest['kind']} {metadata['namespace']}/{metadata['name']}"


def _content(session: Session, live: Manifest) -> Manifest | None:
    """The claim or the snapshot that is the target of a DataSource."""
    key = preflight.content_key(live)
    if key is None:
        return None
    kind, namespace, name = key
    try:
        return session.get(BY_NAME[kind], namespace, name)
    except (ApiError, ConnectionFailed):
        return None
