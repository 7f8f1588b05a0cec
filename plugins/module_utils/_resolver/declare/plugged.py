"""Reconciles a declared VM with what was plugged into the live one, and with what KubeVirt has taken from us."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from ..api import managed_fields
from ..api.keys import PLUGGED_VOLUMES_ANNOTATION
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest, claim_of, name_of
from ..api.tree import copy, set_at, value_at
from ..ownership.writers import FORCE
from .rewrites import DISKS, INTERFACES, NETWORKS, NEVER, REWRITES, TEMPLATES, VOLUMES, taken_back

# The sources of volumes that can be plugged in → the option, and the field with its value.
_OPTIONS: Final = {
    "persistentVolumeClaim": ("persistent_volume_claim", "claimName"),
    "dataVolume": ("data_volume", "name"),
}


class Adapted(NamedTuple):
    """A declared VM, adapted to what KubeVirt has written to the live one.

    owned_fields: our fields, including those that KubeVirt took from us. plugged: the plugged volumes that the task
    does not declare and that stay, as the API has them.
    """

    manifest: Manifest
    owned_fields: set[FieldPath] | None
    plugged: list[Manifest]


def adapted(
    desired: Manifest, live: Manifest, owned_fields: set[FieldPath] | None, manager: str, force: bool = False
) -> Adapted:
    """Adapts a declared VM to what KubeVirt has written to the live one. Changes nothing in place.

    manager: our field manager. force: a plugged volume that is not declared does not stay.
    """
    manifest = _without_unplugged(desired, live)
    manifest, plugged = _with_plugged(manifest, live, manager, force)
    if owned_fields is not None:
        lost = {
            field
            for rewrite in REWRITES
            if rewrite.taken_back != NEVER
            for field in rewrite.fields
            if field not in owned_fields and value_at(manifest, field) is not None
        }
        others = managed_fields.fields_of_others(live, manager) if lost else []
        owned_fields = owned_fields | {
            field
            for field in lost
            if any(taken_back(owner, field, live) for owner in managed_fields.owners(others, field))
        }
    return Adapted(manifest, owned_fields, plugged)


def _without_unplugged(desired: Manifest, live: Manifest) -> Manifest:
    """The declared VM without absent interfaces that the live VM does not have, and without their networks."""
    absent = {
        interface.get("name") for interface in value_at(desired, INTERFACES) or () if interface.get("state") == "absent"
    }
    gone = absent - {interface.get("name") for interface in value_at(live, INTERFACES) or ()}
    if not gone:
        return desired
    result = _copied(desired)
    for field in (INTERFACES, NETWORKS):
        remaining = [entry for entry in value_at(result, field) or () if entry.get("name") not in gone]
        _set_list(result, field, remaining)
    return result


def _with_plugged(desired: Manifest, live: Manifest, manager: str, force: bool) -> tuple[Manifest, list[Manifest]]:
    """The declared VM with the volumes that were plugged into the live one; and the undeclared ones among them.

    A declared volume is the live one of its name if that differs only in what a plug adds, such as `hotpluggable`.
    """
    volumes, live_volumes = value_at(desired, VOLUMES), value_at(live, VOLUMES) or []
    marked = _marked(live)
    if volumes is None or (volumes == live_volumes and not marked):
        return desired, []
    hotpluggable = {volume["name"]: volume for volume in live_volumes if is_hotpluggable(volume)}
    if not hotpluggable and not marked:
        return desired, []
    declared = {str(volume.get("name")) for volume in volumes}
    kept = [] if force else _kept(hotpluggable, declared, marked, live, manager)
    result = _copied(desired)
    merged = [_live_entry(volume, hotpluggable) for volume in volumes] + copy(kept)
    set_at(result, VOLUMES, merged)
    kept_names = {str(volume["name"]) for volume in kept}
    disks = value_at(desired, DISKS)
    if disks:
        # A declared volume without declared disk options keeps its live disk, too.
        named = {disk.get("name") for disk in disks}
        plugged = {disk["name"]: disk for disk in value_at(live, DISKS) or () if disk.get("name") in hotpluggable}
        added = [disk for name, disk in plugged.items() if name in (declared | kept_names) - named]
        set_at(result, DISKS, [_live_entry(disk, plugged) for disk in disks] + copy(added))
    names = kept_names
    if merged == live_volumes and not force:
        # Nothing is written because of a name alone.
        names = kept_names | (marked - declared) if marked else set()
    if names:
        annotations = {
            **(result["metadata"].get("annotations") or {}),
            PLUGGED_VOLUMES_ANNOTATION: ",".join(sorted(names)),
        }
        result["metadata"] = {**result["metadata"], "annotations": annotations}
    return result, kept


def _kept(
    hotpluggable: dict[str, Manifest], declared: set[str], marked: set[str], live: Manifest, manager: str
) -> list[Manifest]:
    """The plugged volumes of a VM that are not declared."""
    undeclared = {name: volume for name, volume in hotpluggable.items() if name not in declared}
    owners = managed_fields.owners(managed_fields.fields_of_others(live, manager), VOLUMES) if undeclared else ()
    by_kubevirt = any(taken_back(owner, VOLUMES, live) for owner in owners)
    return [volume for name, volume in undeclared.items() if by_kubevirt or name in marked]


def _marked(live: Manifest) -> set[str]:
    text = (live["metadata"].get("annotations") or {}).get(PLUGGED_VOLUMES_ANNOTATION) or ""
    return {name for name in text.split(",") if name}


def is_hotpluggable(volume: Manifest) -> bool:
    """Whether a volume of a VM can be unplugged. Only claims, DataVolumes and memory dumps can."""
    sources = (volume.get(source) for source in (*_OPTIONS, "memoryDump"))
    return any(source is not None and source.get("hotpluggable") is True for source in sources)


def _live_entry(entry: Manifest, live: dict[str, Manifest]) -> Manifest:
    """The live entry of the same name if it has all of the declared one: the plug has added to it."""
    current = live.get(str(entry.get("name")))
    return copy(current) if current is not None and is_part_of(entry, current) else entry


def _copied(manifest: Manifest) -> Manifest:
    """A copy that shares nothing of the spec."""
    return {**manifest, "spec": copy(manifest["spec"])}


def _set_list(manifest: Manifest, field: FieldPath, entries: list[Any]) -> None:
    parent = value_at(manifest, field[:-1])
    if entries:
        parent[field[-1]] = entries
    else:
        parent.pop(field[-1], None)


def is_part_of(part: Any, container: Any) -> bool:
    """Whether `container` contains all of `part`; list items are compared by position."""
    if isinstance(part, dict):
        return isinstance(container, dict) and all(is_part_of(value, container.get(key)) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(container, list) and len(part) <= len(container) and all(map(is_part_of, part, container))
    return bool(part == container)


def unplug_patch(manifest: Manifest, live: Manifest) -> dict[FieldPath, Any] | None:
    """A merge patch that removes plugged volumes with their disks and with the templates that made them, which KubeVirt
    accepts only together; else None.

    manifest: the one to apply. One that declares disks needs no patch.
    """
    volumes = value_at(manifest, VOLUMES)
    if volumes is None or value_at(manifest, DISKS) is not None:
        return None
    names = {volume.get("name") for volume in volumes}
    gone = {
        volume["name"]
        for volume in value_at(live, VOLUMES) or ()
        if is_hotpluggable(volume) and volume["name"] not in names
    }
    disks = value_at(live, DISKS) or []
    remaining = [disk for disk in disks if disk.get("name") not in gone]
    if remaining == disks:
        return None
    claims = set(map(claim_of, volumes))
    makes_others = any(name_of(template) not in claims for template in value_at(live, TEMPLATES) or ())
    templates = {TEMPLATES: value_at(manifest, TEMPLATES)} if makes_others else {}
    return {VOLUMES: volumes, DISKS: remaining or None, **templates}


def _source(volume: Manifest) -> str:
    """The key of _OPTIONS that a plugged volume has."""
    return next(source for source in _OPTIONS if source in volume)


def plugged_warnings(plugged: Iterable[Manifest], live: Manifest | None) -> Iterator[str]:
    """A warning for each plugged volume that is not declared and stays. live: the VM, with the disks of the volumes."""
    disks = {disk["name"]: disk for disk in value_at(live or {}, DISKS) or ()}
    for volume in plugged:
        name = volume["name"]
        if "memoryDump" in volume:
            yield f"volumes: {name} holds a memory dump and stays until `virtctl memory-dump remove`"
            continue
        source = _source(volume)
        option, key = _OPTIONS[source]
        entry = f"name: {name}, {option}: {volume[source].get(key)}, hotpluggable: true{_disk_options(disks.get(name))}"
        yield (
            f"volumes: {name} was plugged in and stays, though the task does not declare it; add"
            f" {{{entry}}} to volumes to declare it, or set {FORCE} to remove it"
        )


def _disk_options(disk: Manifest | None) -> str:
    """The options of a plugged volume's disk that are not the defaults, so that its declaration does not change it."""
    device = next((target for target in ("lun", "cdrom") if target in (disk or {})), "disk")
    bus = (value_at(disk, (device,)) or {}).get("bus")
    options = {"device": device, "bus": bus}
    defaults = {"device": "disk", "bus": "scsi" if device != "cdrom" else None}
    return "".join(f", {option}: {value}" for option, value in options.items() if value not in (None, defaults[option]))
