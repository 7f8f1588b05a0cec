"""Deletes old volumes of boot sources, and boot sources with all their objects."""

from __future__ import annotations

from typing import Any, Final

from ...._resolver.api.kinds import BY_NAME
from ...._resolver.boot import source
from ...client.errors import ApiError, ConnectionFailed, explain
from ...client.session import Session
from ..engine import Settings
from ..subject import Subject
from .work import Pair, Work, declare_objects, not_failed

Manifest = dict[str, Any]

_VOLUME: Final = "DataVolume"
_CLAIM: Final = "PersistentVolumeClaim"
# The DataImportCron first, because it would create the other objects again.
_KINDS: Final = ("DataImportCron", "DataSource")


def tidy(session: Session, works: list[Work], settings: Settings) -> None:
    """Deletes the volumes of boot sources beyond `keep`, the oldest first."""
    pairs: list[Pair] = []
    for work in works:
        pairs += [
            (work, volume) for volume in source.outdated(_owned(session, work), work.volume, work.options["keep"])
        ]
    _delete(session, pairs, settings)


def remove(session: Session, works: list[Work], settings: Settings) -> None:
    """Deletes boot sources and the volumes created for them."""
    for kind in _KINDS:
        pairs = [(work, _named(kind, work)) for work in not_failed(works)]
        declare_objects(session, Subject("boot sources"), pairs, settings, "absent")
    _delete(session, [(work, volume) for work in not_failed(works) for volume in _owned(session, work)], settings)


def _named(kind: str, work: Work) -> Manifest:
    metadata = {"name": work.options["name"], "namespace": work.options["namespace"]}
    return {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": metadata}


def _owned(session: Session, work: Work) -> list[Manifest]:
    """The volumes that a task or the DataImportCron created for a boot source."""
    volumes: dict[tuple[str, str], Manifest] = {}
    kinds = [(_VOLUME, source.OWNER), (_VOLUME, source.CRON)]
    if work.uploads or work.state == "absent":
        kinds.append((_CLAIM, source.OWNER))
    for name, label in kinds:
        kind = BY_NAME[name]
        query = {"labelSelector": f"{label}={work.options['name']}"}
        try:
            items, _version = session.list(kind, work.options["namespace"], **query)
        except (ApiError, ConnectionFailed) as error:
            work.result.warnings.append(f"old volumes stay: {explain(error, 'LIST', kind)}")
            return []
        for item in items:
            # CDI deletes the claim of a DataVolume with it. The items of a list have no apiVersion and kind.
            if name == _VOLUME or not item["metadata"].get("ownerReferences"):
                manifest = {**item, "apiVersion": kind.api_version, "kind": name}
                volumes[name, item["metadata"]["name"]] = manifest
    return list(volumes.values())


def _delete(session: Session, pairs: list[Pair], settings: Settings) -> None:
    if not pairs:
        return
    try:
        clones, _version = session.list(BY_NAME[_VOLUME])
    except (ApiError, ConnectionFailed) as error:
        for work, _volume in pairs:
            work.result.warnings.append(
                f"old volumes stay, since it is not known who clones them: {explain(error, 'LIST', BY_NAME[_VOLUME])}"
            )
        return
    due = []
    for work, volume in pairs:
        clone = source.clones_by_claim(clones, volume["metadata"]["namespace"]).get(volume["metadata"]["name"])
        if clone:
            work.result.warnings.append(
                f"the volume {volume['metadata']['name']} stays, since {clone} is cloned from it"
            )
        else:
            due.append((work, volume))
    declare_objects(session, Subject("volumes"), due, settings, "absent")
