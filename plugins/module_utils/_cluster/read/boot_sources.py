"""The boot sources of a cluster, checked against their registries and the cluster's instancetypes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.boot import source, survey
from ..._resolver.boot.survey import BootSource, Finding
from ..._resolver.choose.selection import unfit
from ..._resolver.preflight.lookups import Need
from ..client.session import Session
from .image import contents_of
from .kubevirt import kubevirt
from .lookup import ClusterLookup
from .snapshot import if_any

Manifest = dict[str, Any]


class Fault(NamedTuple):
    """text: one line. missing: an object does not exist; else KubeVirt rejects an existing one."""

    text: str
    missing: bool


class Defaults:
    """Instancetypes and preferences of the cluster: one LIST for each kind and namespace, on first use."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._lookup = ClusterLookup(session)

    def faults(self, namespace: str, labels: Mapping[str, str], architecture: str = "") -> list[Fault]:
        """What is wrong with the defaults in labels, for VMs in the namespace. Unreadable objects count as right.

        architecture: of the image, "" if unknown.
        """
        found: dict[str, Manifest] = {}
        faults = []
        for role, (kind, name) in source.matchers(labels).items():
            there = self._lookup.get(kind, namespace, name) if kind in BY_NAME else None
            if there is None:
                faults.append(Fault(f"{role}: there is no {kind} {name}", missing=True))
            elif isinstance(there, dict):
                found[role] = there
        if len(found) == 2:
            why = unfit(found["instancetype"], found["preference"], architecture, kubevirt(self._session).release)
            names = " and ".join(f"the {role} {one['metadata']['name']}" for role, one in found.items())
            faults += [Fault(f"{names} do not go together: {why}", missing=False)] if why else []
        return faults


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
