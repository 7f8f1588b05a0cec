"""The boot sources of a cluster: the content of each, its defaults for VMs, and its problems.

KubeVirt infers the same defaults: from the labels of a DataSource or, without any, from the labels of the claim or
snapshot that it names. The labels behind a reference to another DataSource count only once CDI has copied them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .._resolver.api.finding import Finding
from .._resolver.api.manifest import Manifest, condition_of, has_condition, labels_of, namespaced_name
from .._resolver.api.matcher import MATCHER_FIELDS, VOLUME_LABELS, ObjectKey
from .origin import Image, Origin, origin_of
from .source import CRON, OWNER, import_status, is_ready, target_of

Objects = Mapping[str, Sequence[Manifest]]

SOURCE: Final = "DataSource"
IMPORT_CRON: Final = "DataImportCron"
VOLUME: Final = "DataVolume"
CLAIM: Final = "PersistentVolumeClaim"
SNAPSHOT: Final = "VolumeSnapshot"
SOURCE_KINDS: Final = (SOURCE, IMPORT_CRON, VOLUME, CLAIM, SNAPSHOT)

NO_DEFAULTS: Final = "no_defaults"
INCOMPLETE_DEFAULTS: Final = "incomplete_defaults"
MISSING_TARGET: Final = "missing_target"
NOT_MANAGED: Final = "not_managed"
NOT_READY: Final = "not_ready"


@dataclass
class BootSource:
    """A boot source in the cluster.

    labels: the four default labels that VMs get. target: the object with the content. created: when that was created.
    volumes: the names of the volumes that were created for it. findings: their rule is a code for programs.
    """

    kind: str
    namespace: str
    name: str
    labels: dict[str, str]
    created: str
    ready: bool
    target: ObjectKey | None = None
    origin: Origin = field(default_factory=Origin)
    cron: str = ""
    schedule: str = ""
    volumes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def image_to_check(self) -> Image | None:
        """The image to look up in its registry to compare digests; None if there is nothing to compare."""
        return self.origin.image if self.origin.digest else None


def external_targets(objects: Objects, namespace: str | None) -> list[ObjectKey]:
    """The targets of a namespace's DataSources in other namespaces; empty if all namespaces were read."""
    if namespace is None:
        return []
    keys = (target_of(manifest) for manifest in objects[SOURCE])
    return sorted({key for key in keys if key is not None and key.namespace != namespace})


def discover(objects: Objects, unread: Iterable[str] = ()) -> list[BootSource]:
    """The boot sources among objects, by namespace, name and kind. unread: kinds that could not be read."""
    return _Discovery(objects, frozenset(unread)).boot_sources()


class _Discovery:
    def __init__(self, objects: Objects, unread: frozenset[str]) -> None:
        self._objects = objects
        self._unread = unread
        self._by_key: dict[ObjectKey | None, Manifest] = {
            ObjectKey(kind, *namespaced_name(manifest)): manifest for kind in SOURCE_KINDS for manifest in objects[kind]
        }

    def boot_sources(self) -> list[BootSource]:
        sources = [self._source(manifest) for manifest in self._objects[SOURCE]]
        crons = [self._cron(manifest) for manifest in self._objects[IMPORT_CRON]]
        targets = {source.target for source in sources}
        volumes_by_owner: dict[tuple[str, str], set[str]] = {}
        for volume in self._objects[VOLUME]:
            namespace, name = namespaced_name(volume)
            if owner := labels_of(volume).get(OWNER) or labels_of(volume).get(CRON):
                volumes_by_owner.setdefault((namespace, owner), set()).add(name)
        for source in sources:
            owned = (volumes_by_owner.get((source.namespace, owner), set()) for owner in (source.name, source.cron))
            source.volumes = sorted(set().union(*owned))
        disks = [
            self._disk(kind, manifest)
            for kind in (VOLUME, CLAIM, SNAPSHOT)
            for manifest in self._objects[kind]
            if self._is_boot_source(kind, manifest, targets)
        ]
        return sorted([*sources, *crons, *disks], key=lambda source: (source.namespace, source.name, source.kind))

    def _is_boot_source(self, kind: str, manifest: Manifest, targets: set[ObjectKey | None]) -> bool:
        """Whether a labelled disk is itself a boot source: not a VM's disk, and not a part of another boot source."""
        if not _defaults(manifest):
            # A copy of a boot source has its labels, too.
            return False
        namespace, name = namespaced_name(manifest)
        owners = {reference.get("kind") for reference in manifest["metadata"].get("ownerReferences") or ()}
        labels = labels_of(manifest)
        owned = ObjectKey(SOURCE, namespace, labels.get(OWNER) or "") in self._by_key or CRON in labels
        volume = kind == CLAIM and ObjectKey(VOLUME, namespace, name) in self._by_key
        is_target = ObjectKey(CLAIM if kind == VOLUME else kind, namespace, name) in targets
        return not (owners & {"VirtualMachine", VOLUME, CLAIM} or owned or volume or is_target)

    def _source(self, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        key, cron = target_of(manifest), labels_of(manifest).get(CRON) or ""
        target, content = self._by_key.get(key), self._content(key)
        labels = _defaults(manifest)
        inherited = _defaults(target) if target is not None and key is not None and key.kind != SOURCE else {}
        for matcher_field in MATCHER_FIELDS:
            if matcher_field.volume_label not in labels:
                names = (matcher_field.volume_label, matcher_field.volume_kind_label)
                labels.update({label: inherited[label] for label in names if label in inherited})
        polling = self._by_key.get(ObjectKey(IMPORT_CRON, namespace, cron))
        if polling is not None:
            origin = origin_of(polling, namespace)
        else:
            volume = self._by_key.get(ObjectKey(VOLUME, *namespaced_name(content))) if content is not None else None
            origin = origin_of(volume or content or {}, namespace, manifest)
        findings = list(_default_findings(labels))
        if key is None:
            text = "the DataSource names neither a claim nor a snapshot; set spec.source"
            findings.append(Finding(text, rule=MISSING_TARGET))
        elif target is None and key.kind not in self._unread:
            text = f"there is no {key.kind} {key.label}, to which the DataSource refers"
            findings.append(Finding(text, rule=MISSING_TARGET))
        return BootSource(
            SOURCE,
            namespace,
            name,
            labels,
            _created(content or manifest),
            is_ready(manifest),
            target=key,
            origin=origin,
            cron=cron,
            schedule=_schedule(polling or {}),
            findings=[*findings, *_readiness(manifest, "Ready")],
        )

    def _content(self, key: ObjectKey | None) -> Manifest | None:
        """The claim or snapshot with the content, also behind a reference to another DataSource."""
        target = self._by_key.get(key)
        if target is None or key is None or key.kind != SOURCE:
            return target
        following = target_of(target)
        return self._by_key.get(following) if following and following.kind != SOURCE else None

    def _cron(self, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        key = ObjectKey(SOURCE, namespace, str((manifest.get("spec") or {}).get("managedDataSource") or ""))
        labels = _defaults(manifest)
        findings = []
        data_source = self._by_key.get(key)
        if data_source is not None and labels_of(data_source).get(CRON) != name:
            text = f"the cron has not made the DataSource {key.name} and never moves it; delete the DataSource"
            findings.append(Finding(text, rule=NOT_MANAGED))
        # An image may say all of it, which CDI then writes to the DataSource.
        findings += _default_findings(labels) if labels else ()
        return BootSource(
            IMPORT_CRON,
            namespace,
            name,
            labels,
            str((manifest.get("status") or {}).get("lastImportTimestamp") or _created(manifest)),
            has_condition(manifest, "UpToDate"),
            target=key,
            origin=origin_of(manifest, namespace),
            cron=name,
            schedule=_schedule(manifest),
            findings=[*findings, *_readiness(manifest, "UpToDate")],
        )

    def _disk(self, kind: str, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        labels, status = _defaults(manifest), manifest.get("status") or {}
        if kind == VOLUME:
            volume = import_status(manifest)
            ready, reason = volume.done, volume.failed or volume.pending
        elif kind == SNAPSHOT:
            ready, reason = status.get("readyToUse") is True, "the snapshot is not ready to use"
        else:
            ready, reason = status.get("phase") == "Bound", f"the claim is {status.get('phase') or 'not bound'}"
        findings = [*_default_findings(labels), *([] if ready else [Finding(reason, rule=NOT_READY)])]
        origin = origin_of(manifest, namespace)
        return BootSource(kind, namespace, name, labels, _created(manifest), ready, origin=origin, findings=findings)


def _created(manifest: Manifest) -> str:
    return str(manifest["metadata"].get("creationTimestamp") or "")


def _schedule(cron: Manifest) -> str:
    return str((cron.get("spec") or {}).get("schedule") or "")


def _default_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    missing = [label for label in VOLUME_LABELS if not labels.get(label)]
    if len(missing) == len(VOLUME_LABELS):
        yield Finding("VMs get no instancetype and no preference; set the four default labels", rule=NO_DEFAULTS)
    elif missing:
        text = f"lacks {', '.join(missing)}; set all four, since CDI adds none where one exists"
        yield Finding(text, rule=INCOMPLETE_DEFAULTS)


def _readiness(manifest: Manifest, condition_type: str) -> Iterator[Finding]:
    condition = condition_of(manifest, condition_type)
    if condition.get("status") != "True":
        reason = ": ".join(str(condition[part]) for part in ("reason", "message") if condition.get(part))
        yield Finding(reason or "CDI has not reported on it yet", rule=NOT_READY)


def _defaults(manifest: Manifest) -> dict[str, str]:
    labels = labels_of(manifest)
    return {label: labels[label] for label in VOLUME_LABELS if labels.get(label)}
