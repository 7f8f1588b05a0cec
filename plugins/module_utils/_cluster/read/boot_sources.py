"""The boot sources of a cluster, checked against their registries and the cluster's instancetypes."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.boot import survey
from ..._resolver.boot.survey import BootSource, Finding
from ..._resolver.declare.needs import Need
from ..client.session import Session
from .boot_defaults import Defaults
from .image import contents_of
from .lists import if_any
from .lookup import ClusterLookup

Manifest = dict[str, Any]

_MISSING: Final = "missing_default"
_UNFIT: Final = "unfit_defaults"
_OUTDATED: Final = "outdated"
_UNASKED: Final = "registry_unknown"


class Wanted(NamedTuple):
    """namespace, names: None for all. registry: ask registries. insecure: see contents_of."""

    namespace: str | None = None
    names: list[str] | None = None
    registry: bool = False
    insecure: bool = False


def boot_sources(session: Session, wanted: Wanted) -> tuple[list[BootSource], list[str]]:
    """Boot sources with all findings, and warnings about kinds that the user may not read.

    One LIST for each kind, however many boot sources there are. Raises ApiError and ConnectionFailed.
    """
    warnings: list[str] = []
    objects: dict[str, list[Manifest]] = {}
    unread = []
    for name in survey.KINDS:
        before = len(warnings)
        objects[name] = list(if_any(session, BY_NAME[name], warnings, wanted.namespace) or ())
        unread += [name] if len(warnings) > before else []
    _add_targets(session, objects, survey.beyond(objects, wanted.namespace))
    found = [
        one
        for one in survey.survey(objects, unread)
        if wanted.namespace in (None, one.namespace) and (wanted.names is None or one.name in wanted.names)
    ]
    defaults = Defaults(session)
    for one in found:
        faults = defaults.faults(one.namespace, one.labels)
        one.findings += [Finding(_MISSING if fault.missing else _UNFIT, fault.text) for fault in faults]
    if wanted.registry:
        _ask(session, found, wanted.insecure)
    return found, warnings


def _add_targets(session: Session, objects: dict[str, list[Manifest]], keys: list[survey.Key]) -> None:
    lookup = ClusterLookup(session)
    lookup.gather(Need(kind, namespace, name, namespace) for kind, namespace, name in keys)
    for kind, namespace, name in keys:
        there = lookup.get(kind, namespace, name)
        if isinstance(there, dict):
            objects[kind].append(there)


def _ask(session: Session, found: list[BootSource], insecure: bool) -> None:
    asked = {(one.kind, one.namespace, one.name): image for one in found if (image := one.ask) is not None}
    contents = contents_of(session, ((image, insecure) for image in asked.values()))
    for one in found:
        image = asked.get((one.kind, one.namespace, one.name))
        if image is None:
            continue
        content = contents[image, insecure]
        if content.problem:
            one.findings.append(Finding(_UNASKED, content.problem))
        elif content.digest != one.origin.digest:
            text = f"{image.name} is now {content.digest}; the boot source has {one.origin.digest}"
            one.findings.append(Finding(_OUTDATED, text))
