"""The boot sources of a cluster: the content of each, its defaults for VMs, and its problems.

KubeVirt infers the same defaults: from the labels of a DataSource or, without any, from the labels of the claim or
snapshot that it names. The labels behind a reference to another DataSource count only once CDI has copied them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .._resolver.api.manifest import Manifest, condition_of, has_condition, labels_of, namespaced_name
from .._resolver.api.matcher import MATCHER_FIELDS, VOLUME_LABELS
from .origin import Image, Origin, origin_of
from .source import CRON, OWNER, import_status, is_ready, target_of

Objects = Mapping[str, Sequence[Manifest]]
Key = tuple[str, str, str]

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


class BootSourceFinding(NamedTuple):
    """A finding about a boot source. finding: a code for programs. text: one line for users, with the remedy."""

    finding: str
    text: str


@dataclass
class BootSource:
    """A boot source in the cluster.

    labels: the four default labels that VMs get. target: kind, namespace and name of the claim or snapshot. created:
    when the content was created. volumes: the names of the volumes that were created for it.
    """

    kind: str
    namespace: str
    name: str
    labels: dict[str, str]
    created: str
    ready: bool
    target: Key | None = None
    origin: Origin = field(default_factory=Origin)
    cron: str = ""
    schedule: str = ""
    volumes: list[str] = field(default_factory=list)
    findings: list[BootSourceFinding] = field(default_factory=list)

    @property
    def image_to_check(self) -> Image | None:
        """The image to look up in its registry to compare digests; None if there is nothing to compare."""
        return self.origin.image if self.origin.digest else None


def external_targets(objects: Objects, namespace: str | None) -> list[Key]:
    """The targets of a namespace's DataSources in other namespaces; empty if all namespaces were read."""
    if namespace is None:
        return []
    keys = (target_of(manifest) for manifest in objects[SOURCE])
    return sorted({key for key in keys if key is not None and key[1] != namespace})


def discover(objects: Objects, unread: Iterable[str] = ()) -> list[BootSource]:
    """The boot sources among objects, by namespace, name and kind. unread: kinds that could not be read."""
    return _Discovery(objects, frozenset(unread)).boot_sources()


class _Discovery:
    def __init__(self, objects: Objects, unread: frozenset[str]) -> None:
        self._objects = objects
        self._unread = unread
        self._by_key = {
            (kind, *namespaced_name(manifest)): manifest for kind in SOURCE_KINDS for manifest in objects[kind]
        }

    def boot_sources(self) -> list[BootSource]:
        sources = [self._source(manifest) for manifest in self._objects[SOURCE]]
        crons = [self._cron(manifest) for manifest in self._objects[IMPORT_CRON]]
        targets = {source.target for source in sources}
        volumes_by_owner: dict[tuple[str, str], list[str]] = {}
        for volume in self._objects[VOLUME]:
            owner = labels_of(volume).get(OWNER) or labels_of(volume).get(CRON)
            if owner:
                volumes_by_owner.setdefault((namespaced_name(volume)[0], owner), []).append(namespaced_name(volume)[1])
        for source in sources:
            owners = {(source.namespace, source.name), (source.namespace, source.cron)}
            source.volumes = sorted({name for owner in owners for name in volumes_by_owner.get(owner, ())})
        disks = [
            self._disk(kind, manifest)
            for kind in (VOLUME, CLAIM, SNAPSHOT)
            for manifest in self._objects[kind]
            if self._is_boot_source(kind, manifest, targets)
        ]
        return sorted([*sources, *crons, *disks], key=lambda source: (source.namespace, source.name, source.kind))

    def _is_boot_source(self, kind: str, manifest: Manifest, targets: set[Key | None]) -> bool:
        """Whether a labelled disk is itself a boot source: not a VM's disk, and not a part of another boot source."""
        if not _defaults(manifest):
            # A copy of a boot source has its labels, too.
            return False
        namespace, name = namespaced_name(manifest)
        owners = {reference.get("kind") for reference in manifest["metadata"].get("ownerReferences") or ()}
        labels = labels_of(manifest)
        owned = (SOURCE, namespace, labels.get(OWNER) or "") in self._by_key or CRON in labels
        volume = kind == CLAIM and (VOLUME, namespace, name) in self._by_key
        is_target = (CLAIM if kind == VOLUME else kind, namespace, name) in targets
        return not (owners & {"VirtualMachine", VOLUME, CLAIM} or owned or volume or is_target)

    def _source(self, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        key = target_of(manifest)
        target = self._by_key.get(key) if key else None
        target_labels = _defaults(target) if target is not None and key is not None and key[0] != SOURCE else {}
        own = _defaults(manifest)
        labels = dict(own)
        for matcher_field in MATCHER_FIELDS:
            if matcher_field.volume_label not in own:
                names = (matcher_field.volume_label, matcher_field.volume_kind_label)
                labels.update({label: target_labels[label] for label in names if label in target_labels})
        cron = labels_of(manifest).get(CRON) or ""
        content = self._content(target, key)
        result = BootSource(
            SOURCE,
            namespace,
            name,
            labels,
            str((content or manifest)["metadata"].get("creationTimestamp") or ""),
            is_ready(manifest),
            key,
            self._origin(manifest, content, cron),
            cron,
            str(((self._by_key.get((IMPORT_CRON, namespace, cron)) or {}).get("spec") or {}).get("schedule") or ""),
        )
        result.findings = [
            *_default_findings(labels),
            *self._target_findings(result, target),
            *_readiness(manifest, result.ready),
        ]
        return result

    def _target_findings(self, source: BootSource, target: Manifest | None) -> Iterator[BootSourceFinding]:
        key = source.target
        if key is None:
            yield BootSourceFinding(
                MISSING_TARGET, "the DataSource names neither a claim nor a snapshot; set spec.source"
            )
        elif target is None and key[0] not in self._unread:
            yield BootSourceFinding(
                MISSING_TARGET, f"there is no {key[0]} {key[1]}/{key[2]}, to which the DataSource refers"
            )

    def _content(self, target: Manifest | None, key: Key | None) -> Manifest | None:
        """The claim or snapshot with the content, also behind a reference to another DataSource."""
        if target is not None and key is not None and key[0] == SOURCE:
            next_target = target_of(target)
            return self._by_key.get(next_target) if next_target and next_target[0] != SOURCE else None
        return target

    def _origin(self, source: Manifest, content: Manifest | None, cron: str) -> Origin:
        namespace, _name = namespaced_name(source)
        polling = self._by_key.get((IMPORT_CRON, namespace, cron))
        if polling is not None:
            return origin_of(polling, namespace)
        volume = self._by_key.get((VOLUME, *namespaced_name(content))) if content is not None else None
        return origin_of(volume or content or {}, namespace, source)

    def _cron(self, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        spec, status = manifest.get("spec") or {}, manifest.get("status") or {}
        key = (SOURCE, namespace, str(spec.get("managedDataSource") or ""))
        ready = has_condition(manifest, "UpToDate")
        result = BootSource(
            IMPORT_CRON,
            namespace,
            name,
            _defaults(manifest),
            str(status.get("lastImportTimestamp") or manifest["metadata"].get("creationTimestamp") or ""),
            ready,
            key,
            origin_of(manifest, namespace),
            name,
            str(spec.get("schedule") or ""),
        )
        data_source = self._by_key.get(key)
        if data_source is not None and labels_of(data_source).get(CRON) != name:
            text = f"the cron has not made the DataSource {key[2]} and never moves it; delete the DataSource"
            result.findings.append(BootSourceFinding(NOT_MANAGED, text))
        # An image may say all of it, which CDI then writes to the DataSource.
        result.findings += [
            *(_default_findings(result.labels) if result.labels else ()),
            *_readiness(manifest, ready, "UpToDate"),
        ]
        return result

    def _disk(self, kind: str, manifest: Manifest) -> BootSource:
        namespace, name = namespaced_name(manifest)
        status = manifest.get("status") or {}
        if kind == VOLUME:
            volume = import_status(manifest)
            ready, reason = volume.done, volume.failed or volume.pending
        elif kind == SNAPSHOT:
            ready, reason = status.get("readyToUse") is True, "the snapshot is not ready to use"
        else:
            ready, reason = status.get("phase") == "Bound", f"the claim is {status.get('phase') or 'not bound'}"
        created = str(manifest["metadata"].get("creationTimestamp") or "")
        result = BootSource(
            kind, namespace, name, _defaults(manifest), created, ready, origin=origin_of(manifest, namespace)
        )
        result.findings = [
            *_default_findings(result.labels),
            *([] if ready else [BootSourceFinding(NOT_READY, reason)]),
        ]
        return result


def _default_findings(labels: Mapping[str, str]) -> Iterator[BootSourceFinding]:
    missing = [label for label in VOLUME_LABELS if not labels.get(label)]
    if len(missing) == len(VOLUME_LABELS):
        yield BootSourceFinding(NO_DEFAULTS, "VMs get no instancetype and no preference; set the four default labels")
    elif missing:
        yield BootSourceFinding(
            INCOMPLETE_DEFAULTS, f"lacks {', '.join(missing)}; set all four, since CDI adds none where one exists"
        )


def _readiness(manifest: Manifest, ready: bool, kind: str = "Ready") -> Iterator[BootSourceFinding]:
    if not ready:
        condition = condition_of(manifest, kind)
        reason = ": ".join(str(condition[part]) for part in ("reason", "message") if condition.get(part))
        yield BootSourceFinding(NOT_READY, reason or "CDI has not reported on it yet")


def _defaults(manifest: Manifest) -> dict[str, str]:
    labels = labels_of(manifest)
    return {label: labels[label] for label in VOLUME_LABELS if labels.get(label)}
