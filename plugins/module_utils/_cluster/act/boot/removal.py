"""Deletes old volumes of boot sources, and boot sources with all their objects."""

from __future__ import annotations

from typing import Any, Final

from ...._resolver.api.kinds import BY_NAME
from ...._resolver.boot import source
from ...client.errors import RequestFailed
from ...client.session import Session
from ..engine import WriteSettings
from ..kind_handler import KindHandler
from .state import BootSourceState, Pair, declare_objects, not_failed

Manifest = dict[str, Any]

_VOLUME: Final = "DataVolume"
_CLAIM: Final = "PersistentVolumeClaim"
# The DataImportCron first, because it would create the other objects again.
_KINDS: Final = ("DataImportCron", "DataSource")


def delete_old_volumes(session: Session, boot_sources: list[BootSourceState], settings: WriteSettings) -> None:
    """Deletes the volumes of boot sources beyond `keep`, the oldest first."""
    pairs: list[Pair] = []
    for boot_source in boot_sources:
        pairs += [
            (boot_source, volume)
            for volume in source.outdated(_owned(session, boot_source), boot_source.volume, boot_source.options["keep"])
        ]
    _delete(session, pairs, settings)


def delete_boot_sources(session: Session, boot_sources: list[BootSourceState], settings: WriteSettings) -> None:
    """Deletes boot sources and the volumes created for them."""
    for kind in _KINDS:
        pairs = [(boot_source, _named(kind, boot_source)) for boot_source in not_failed(boot_sources)]
        declare_objects(session, KindHandler("boot sources"), pairs, settings, "absent")
    _delete(
        session,
        [(boot_source, volume) for boot_source in not_failed(boot_sources) for volume in _owned(session, boot_source)],
        settings,
    )


def _named(kind: str, boot_source: BootSourceState) -> Manifest:
    metadata = {"name": boot_source.options["name"], "namespace": boot_source.options["namespace"]}
    return {"apiVersion": BY_NAME[kind].api_version, "kind": kind, "metadata": metadata}


def _owned(session: Session, boot_source: BootSourceState) -> list[Manifest]:
    """The volumes that a task or the DataImportCron created for a boot source."""
    volumes: dict[tuple[str, str], Manifest] = {}
    kinds = [(_VOLUME, source.OWNER), (_VOLUME, source.CRON)]
    if boot_source.uploads or boot_source.state == "absent":
        kinds.append((_CLAIM, source.OWNER))
    for name, label in kinds:
        kind = BY_NAME[name]
        query = {"labelSelector": f"{label}={boot_source.options['name']}"}
        try:
            items, _version = session.list(kind, boot_source.options["namespace"], **query)
        except RequestFailed as error:
            boot_source.result.warnings.append(f"old volumes stay: {error}")
            return []
        for item in items:
            # CDI deletes the claim of a DataVolume with it. The items of a list have no apiVersion and kind.
            if name == _VOLUME or not item["metadata"].get("ownerReferences"):
                manifest = {**item, "apiVersion": kind.api_version, "kind": name}
                volumes[name, item["metadata"]["name"]] = manifest
    return list(volumes.values())


def _delete(session: Session, pairs: list[Pair], settings: WriteSettings) -> None:
    if not pairs:
        return
    try:
        clones, _version = session.list(BY_NAME[_VOLUME])
    except RequestFailed as error:
        for boot_source, _volume in pairs:
            boot_source.result.warnings.append(f"old volumes stay, since it is not known who clones them: {error}")
        return
    due = []
    for boot_source, volume in pairs:
        clone = source.clones_by_claim(clones, volume["metadata"]["namespace"]).get(volume["metadata"]["name"])
        if clone:
            boot_source.result.warnings.append(
                f"the volume {volume['metadata']['name']} stays, since {clone} is cloned from it"
            )
        else:
            due.append((boot_source, volume))
    declare_objects(session, KindHandler("volumes"), due, settings, "absent")
