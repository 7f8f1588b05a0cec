"""The boot sources of a cluster: the content of each, its defaults for VMs, and what is wrong with it.

The defaults are those that KubeVirt infers: the labels of a DataSource or, without any, of the claim or snapshot that
it names. The labels behind a reference to another DataSource count only once CDI has copied them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ..api.matcher import ROLES, VOLUME_LABELS
from .origin import Image, Origin, origin_of
from .source import CRON, OWNER, fate, is_ready, leads_to

Manifest = dict[str, Any]
Objects = Mapping[str, Sequence[Manifest]]
Key = tuple[str, str, str]

SOURCE: Final = "DataSource"
IMPORT_CRON: Final = "DataImportCron"
VOLUME: Final = "DataVolume"
CLAIM: Final = "PersistentVolumeClaim"
SNAPSHOT: Final = "VolumeSnapshot"
KINDS: Final = (SOURCE, IMPORT_CRON, VOLUME, CLAIM, SNAPSHOT)

SAYS_NOTHING: Final = "says_nothing"
INCOMPLETE: Final = "incomplete"
LEADS_NOWHERE: Final = "leads_nowhere"
NOT_MANAGED: Final = "not_managed"
NOT_READY: Final = "not_ready"


class Finding(NamedTuple):
    """finding: a code for programs. text: one line for users, with the remedy."""

    finding: str
    text: str


@dataclass
class BootSource:
    """labels: the four defaults that VMs get.

    leads_to: kind, namespace and name. created: of the content. image: the imported image, without scheme. ask: the
    image to look up in its registry. digest: of the imported image. volumes: those that were created for it.
    """

    kind: str
    namespace: str
    name: str
    labels: dict[str, str]
    created: str
    ready: bool
    leads_to: Key | None = None
    origin: Origin = field(default_factory=Origin)
    cron: str = ""
    schedule: str = ""
    volumes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def ask(self) -> Image | None:
        """The image to look up in its registry to compare digests; None if there is nothing to compare."""
        return self.origin.image if self.origin.digest else None


def beyond(objects: Objects, namespace: str | None) -> list[Key]:
    """The objects in other namespaces to which a namespace's DataSources lead; empty if all namespaces were read."""
    if namespace is None:
        return []
    keys = (leads_to(one) for one in objects[SOURCE])
    return sorted({key for key in keys if key is not None and key[1] != namespace})


def survey(objects: Objects, unread: Iterable[str] = ()) -> list[BootSource]:
    """The boot sources among objects, by namespace, name and kind. unread: kinds that could not be read."""
    return _Survey(objects, frozenset(unread)).found()


class _Survey:
    def __init__(self, objects: Objects, unread: frozenset[str]) -> None:
        self._objects = objects
        self._unread = unread
        self._known = {(kind, *_place(one)): one for kind in KINDS for one in objects[kind]}

    def found(self) -> list[BootSource]:
        sources = [self._source(one) for one in self._objects[SOURCE]]
        crons = [self._cron(one) for one in self._objects[IMPORT_CRON]]
        parts = {source.leads_to for source in sources}
        kept: dict[tuple[str, str], list[str]] = {}
        for volume in self._objects[VOLUME]:
            owner = _labels(volume).get(OWNER) or _labels(volume).get(CRON)
            if owner:
                kept.setdefault((_place(volume)[0], owner), []).append(_place(volume)[1])
        for source in sources:
            of_source = {*kept.get((source.namespace, source.name), ()), *kept.get((source.namespace, source.cron), ())}
            source.volumes = sorted(of_source)
        disks = [
            self._disk(kind, one)
            for kind in (VOLUME, CLAIM, SNAPSHOT)
            for one in self._objects[kind]
            if self._stands_alone(kind, one, parts)
        ]
        return sorted([*sources, *crons, *disks], key=lambda one: (one.namespace, one.name, one.kind))

    def _stands_alone(self, kind: str, one: Manifest, parts: set[Key | None]) -> bool:
        """Whether a labelled disk is itself a boot source: not a VM's disk, and not a part of another boot source."""
        if not _defaults(one):
            # A copy of a boot source has its labels, too.
            return False
        namespace, name = _place(one)
        owners = {reference.get("kind") for reference in one["metadata"].get("ownerReferences") or ()}
        labels = _labels(one)
        owned = (SOURCE, namespace, labels.get(OWNER) or "") in self._known or CRON in labels
        volume = kind == CLAIM and (VOLUME, namespace, name) in self._known
        led_to = (CLAIM if kind == VOLUME else kind, namespace, name) in parts
        return not (owners & {"VirtualMachine", VOLUME, CLAIM} or owned or volume or led_to)

    def _source(self, one: Manifest) -> BootSource:
        namespace, name = _place(one)
        key = leads_to(one)
        target = self._known.get(key) if key else None
        carried = _defaults(target) if target is not None and key is not None and key[0] != SOURCE else {}
        own = _defaults(one)
        labels = dict(own)
        for role in ROLES:
            if role.volume_label not in own:
                labels.update({label: carried[label] for label in _of(role) if label in carried})
        cron = _labels(one).get(CRON) or ""
        content = self._content(target, key)
        found = BootSource(
            SOURCE,
            namespace,
            name,
            labels,
            str((content or one)["metadata"].get("creationTimestamp") or ""),
            is_ready(one),
            key,
            self._origin(one, content, cron),
            cron,
            str(((self._known.get((IMPORT_CRON, namespace, cron)) or {}).get("spec") or {}).get("schedule") or ""),
        )
        found.findings = [*_said(labels), *self._leads(found, target), *_readiness(one, found.ready)]
        return found

    def _leads(self, source: BootSource, target: Manifest | None) -> Iterator[Finding]:
        key = source.leads_to
        if key is None:
            yield Finding(LEADS_NOWHERE, "the DataSource names neither a claim nor a snapshot; set spec.source")
        elif target is None and key[0] not in self._unread:
            yield Finding(LEADS_NOWHERE, f"there is no {key[0]} {key[1]}/{key[2]}, which the DataSource leads to")

    def _content(self, target: Manifest | None, key: Key | None) -> Manifest | None:
        """The claim or snapshot with the content, also behind a reference to another DataSource."""
        if target is not None and key is not None and key[0] == SOURCE:
            behind = leads_to(target)
            return self._known.get(behind) if behind and behind[0] != SOURCE else None
        return target

    def _origin(self, source: Manifest, content: Manifest | None, cron: str) -> Origin:
        namespace, _name = _place(source)
        polling = self._known.get((IMPORT_CRON, namespace, cron))
        if polling is not None:
            return origin_of(polling, namespace)
        volume = self._known.get((VOLUME, *_place(content))) if content is not None else None
        return origin_of(volume or content or {}, namespace, source)

    def _cron(self, one: Manifest) -> BootSource:
        namespace, name = _place(one)
        spec, status = one.get("spec") or {}, one.get("status") or {}
        key = (SOURCE, namespace, str(spec.get("managedDataSource") or ""))
        ready = _condition(one, "UpToDate").get("status") == "True"
        made = BootSource(
            IMPORT_CRON,
            namespace,
            name,
            _defaults(one),
            str(status.get("lastImportTimestamp") or one["metadata"].get("creationTimestamp") or ""),
            ready,
            key,
            origin_of(one, namespace),
            name,
            str(spec.get("schedule") or ""),
        )
        managed = self._known.get(key)
        if managed is not None and _labels(managed).get(CRON) != name:
            text = f"the cron has not made the DataSource {key[2]} and never moves it; delete the DataSource"
            made.findings.append(Finding(NOT_MANAGED, text))
        # An image may say all of it, which CDI then writes to the DataSource.
        made.findings += [*(_said(made.labels) if made.labels else ()), *_readiness(one, ready, "UpToDate")]
        return made

    def _disk(self, kind: str, one: Manifest) -> BootSource:
        namespace, name = _place(one)
        status = one.get("status") or {}
        if kind == VOLUME:
            fated = fate(one)
            ready, why = fated.done, fated.failed or fated.pending
        elif kind == SNAPSHOT:
            ready, why = status.get("readyToUse") is True, "the snapshot is not ready to use"
        else:
            ready, why = status.get("phase") == "Bound", f"the claim is {status.get('phase') or 'not bound'}"
        created = str(one["metadata"].get("creationTimestamp") or "")
        made = BootSource(kind, namespace, name, _defaults(one), created, ready, origin=origin_of(one, namespace))
        made.findings = [*_said(made.labels), *([] if ready else [Finding(NOT_READY, why)])]
        return made


def _said(labels: Mapping[str, str]) -> Iterator[Finding]:
    missing = [label for label in VOLUME_LABELS if not labels.get(label)]
    if len(missing) == len(VOLUME_LABELS):
        yield Finding(SAYS_NOTHING, "VMs get no instancetype and no preference; set the four default labels")
    elif missing:
        yield Finding(INCOMPLETE, f"lacks {', '.join(missing)}; set all four, since CDI adds none where one exists")


def _readiness(one: Manifest, ready: bool, kind: str = "Ready") -> Iterator[Finding]:
    if not ready:
        condition = _condition(one, kind)
        reason = ": ".join(str(condition[part]) for part in ("reason", "message") if condition.get(part))
        yield Finding(NOT_READY, reason or "CDI has not reported on it yet")


def _condition(one: Manifest, kind: str) -> Manifest:
    conditions = (one.get("status") or {}).get("conditions") or []
    return next((condition for condition in conditions if condition.get("type") == kind), {})


def _of(role: Any) -> tuple[str, str]:
    return role.volume_label, role.volume_kind_label


def _defaults(one: Manifest) -> dict[str, str]:
    labels = _labels(one)
    return {label: labels[label] for label in VOLUME_LABELS if labels.get(label)}


def _labels(one: Manifest) -> dict[str, str]:
    return one["metadata"].get("labels") or {}


def _place(one: Manifest) -> tuple[str, str]:
    return one["metadata"].get("namespace") or "", one["metadata"]["name"]
