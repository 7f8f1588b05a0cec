"""The boot sources of a cluster: the content of each, its defaults for VMs, and its problems.

KubeVirt infers the same defaults: from the labels of a DataSource or, without any, from the labels of the claim or
snapshot that it names. The labels behind a reference to another DataSource count only once CDI has copied them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from .._resolver.api.finding import Finding
from .._resolver.api.keys import BOOT_SOURCE_LABEL
from .._resolver.api.manifest import Manifest, condition_of, created_at, has_condition, labels_of, namespaced_name
from .._resolver.api.matcher import MATCHER_FIELDS, VOLUME_LABELS, ObjectKey
from .origin import Origin, origin_of
from .source import CRON, import_status, target_of

Objects = Mapping[str, Sequence[Manifest]]

SOURCE: Final = "DataSource"
IMPORT_CRON: Final = "DataImportCron"
VOLUME: Final = "DataVolume"
CLAIM: Final = "PersistentVolumeClaim"
SNAPSHOT: Final = "VolumeSnapshot"
SOURCE_KINDS: Final = (SOURCE, IMPORT_CRON, VOLUME, CLAIM, SNAPSHOT)


@dataclass
class BootSource:
    """A boot source in the cluster.

    labels: the four default labels that VMs get. target: the object with the content. created: when that was created.
    volumes: the names of the volumes that were created for it. findings: their rule is a code for programs.
    """

    key: ObjectKey
    labels: dict[str, str]
    created: str
    ready: bool
    target: ObjectKey | None = None
    origin: Origin = field(default_factory=Origin)
    cron: str = ""
    schedule: str = ""
    volumes: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


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
        self._unread = unread
        self._objects = {
            ObjectKey(kind, *namespaced_name(manifest)): manifest for kind in SOURCE_KINDS for manifest in objects[kind]
        }

    def boot_sources(self) -> list[BootSource]:
        sources = [self._source(key, manifest) for key, manifest in self._objects.items() if key.kind == SOURCE]
        crons = [self._cron(key, manifest) for key, manifest in self._objects.items() if key.kind == IMPORT_CRON]
        volumes_by_owner: dict[tuple[str, str], set[str]] = {}
        for key, manifest in self._objects.items():
            owner = labels_of(manifest).get(BOOT_SOURCE_LABEL) or labels_of(manifest).get(CRON)
            if owner and key.kind == VOLUME:
                volumes_by_owner.setdefault((key.namespace, owner), set()).add(key.name)
        for source in sources:
            owners = (source.key.name, source.cron)
            owned = (volumes_by_owner.get((source.key.namespace, owner), set()) for owner in owners)
            source.volumes = sorted(set().union(*owned))
        targets = {source.target for source in sources}
        disks = [
            self._disk(key, manifest)
            for key, manifest in self._objects.items()
            if key.kind in (VOLUME, CLAIM, SNAPSHOT) and self._is_boot_source(key, manifest, targets)
        ]
        return sorted(
            [*sources, *crons, *disks], key=lambda found: (found.key.namespace, found.key.name, found.key.kind)
        )

    def _is_boot_source(self, key: ObjectKey, manifest: Manifest, targets: set[ObjectKey | None]) -> bool:
        """Whether a labelled disk is itself a boot source: not a VM's disk, and not a part of another boot source."""
        if not _defaults(manifest):
            # A copy of a boot source has its labels, too.
            return False
        owners = {reference.get("kind") for reference in manifest["metadata"].get("ownerReferences") or ()}
        labels = labels_of(manifest)
        owned = ObjectKey(SOURCE, key.namespace, labels.get(BOOT_SOURCE_LABEL) or "") in self._objects or CRON in labels
        volume = key.kind == CLAIM and key._replace(kind=VOLUME) in self._objects
        is_target = (key._replace(kind=CLAIM) if key.kind == VOLUME else key) in targets
        return not (owners & {"VirtualMachine", VOLUME, CLAIM} or owned or volume or is_target)

    def _get(self, key: ObjectKey | None) -> Manifest:
        """The object, {} for none."""
        return self._objects.get(key, {}) if key is not None else {}

    def _source(self, key: ObjectKey, manifest: Manifest) -> BootSource:
        target, cron = target_of(manifest), labels_of(manifest).get(CRON) or ""
        content_key = target
        if target is not None and target.kind == SOURCE:
            # A reference to another DataSource, of which the labels do not count.
            following = target_of(self._get(target))
            content_key = following if following and following.kind != SOURCE else None
        content, labels = self._get(content_key), _defaults(manifest)
        inherited = _defaults(content) if content_key == target else {}
        for matcher_field in MATCHER_FIELDS:
            if matcher_field.volume_label not in labels:
                names = (matcher_field.volume_label, matcher_field.volume_kind_label)
                labels.update({label: inherited[label] for label in names if label in inherited})
        polling = self._get(ObjectKey(IMPORT_CRON, key.namespace, cron))
        volume = self._get(content_key._replace(kind=VOLUME)) if content and content_key else {}
        findings = list(_default_findings(labels))
        if target is None:
            text = "the DataSource names neither a claim nor a snapshot; set spec.source"
            findings.append(Finding(text, rule="missing_target"))
        elif target not in self._objects and target.kind not in self._unread:
            text = f"there is no {target.kind} {target.label}, to which the DataSource refers"
            findings.append(Finding(text, rule="missing_target"))
        return BootSource(
            key,
            labels,
            created_at(content or manifest),
            has_condition(manifest, "Ready"),
            target,
            origin_of(polling or volume or content, key.namespace, None if polling else manifest),
            cron,
            _schedule(polling),
            findings=[*findings, *_readiness(manifest, "Ready")],
        )

    def _cron(self, key: ObjectKey, manifest: Manifest) -> BootSource:
        target = ObjectKey(SOURCE, key.namespace, str((manifest.get("spec") or {}).get("managedDataSource") or ""))
        labels, findings = _defaults(manifest), []
        if target in self._objects and labels_of(self._get(target)).get(CRON) != key.name:
            text = f"the cron has not made the DataSource {target.name} and never moves it; delete the DataSource"
            findings.append(Finding(text, rule="not_managed"))
        # An image may say all of it, which CDI then writes to the DataSource.
        findings += _default_findings(labels) if labels else ()
        return BootSource(
            key,
            labels,
            str((manifest.get("status") or {}).get("lastImportTimestamp") or created_at(manifest)),
            has_condition(manifest, "UpToDate"),
            target,
            origin_of(manifest, key.namespace),
            key.name,
            _schedule(manifest),
            findings=[*findings, *_readiness(manifest, "UpToDate")],
        )

    def _disk(self, key: ObjectKey, manifest: Manifest) -> BootSource:
        labels, status = _defaults(manifest), manifest.get("status") or {}
        if key.kind == VOLUME:
            volume = import_status(manifest)
            ready, reason = volume.done, volume.failed or volume.pending
        elif key.kind == SNAPSHOT:
            ready, reason = status.get("readyToUse") is True, "the snapshot is not ready to use"
        else:
            ready, reason = status.get("phase") == "Bound", f"the claim is {status.get('phase') or 'not bound'}"
        findings = [*_default_findings(labels), *([] if ready else [Finding(reason, rule="not_ready")])]
        origin = origin_of(manifest, key.namespace)
        return BootSource(key, labels, created_at(manifest), ready, origin=origin, findings=findings)


def _schedule(cron: Manifest) -> str:
    return str((cron.get("spec") or {}).get("schedule") or "")


def _default_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    missing = [label for label in VOLUME_LABELS if not labels.get(label)]
    if len(missing) == len(VOLUME_LABELS):
        yield Finding("VMs get no instancetype and no preference; set the four default labels", rule="no_defaults")
    elif missing:
        text = f"lacks {', '.join(missing)}; set all four, since CDI adds none where one exists"
        yield Finding(text, rule="incomplete_defaults")


def _readiness(manifest: Manifest, condition_type: str) -> Iterator[Finding]:
    condition = condition_of(manifest, condition_type)
    if condition.get("status") != "True":
        reason = ": ".join(str(condition[part]) for part in ("reason", "message") if condition.get(part))
        yield Finding(reason or "CDI has not reported on it yet", rule="not_ready")


def _defaults(manifest: Manifest) -> dict[str, str]:
    labels = labels_of(manifest)
    return {label: labels[label] for label in VOLUME_LABELS if labels.get(label)}
