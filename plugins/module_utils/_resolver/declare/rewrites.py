"""Reconciles a declared VM with the fields that KubeVirt itself has written to its spec.

Undeclared values always stay. `REWRITES` says which declared ones return.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..api import managed_fields
from ..api.keys import PLUGGED_VOLUMES_ANNOTATION
from ..api.managed_fields import FieldPath
from ..api.manifest import Manifest, annotations_of
from ..api.tree import copy, set_at, value_at
from ..api.writers import FORCE

_TEMPLATE: Final[FieldPath] = ("spec", "template")
_VMI: Final[FieldPath] = (*_TEMPLATE, "spec")
RUN_STRATEGY: Final[FieldPath] = ("spec", "runStrategy")
RUNNING: Final[FieldPath] = ("spec", "running")
VOLUMES: Final[FieldPath] = (*_VMI, "volumes")
DISKS: Final[FieldPath] = (*_VMI, "domain", "devices", "disks")
NETWORKS: Final[FieldPath] = (*_VMI, "networks")
INTERFACES: Final[FieldPath] = (*_VMI, "domain", "devices", "interfaces")
_PCI_TOPOLOGY: Final[FieldPath] = (*_TEMPLATE, "metadata", "annotations", "kubevirt.io/pci-topology-version")
_UUID: Final[FieldPath] = (*_VMI, "domain", "firmware", "uuid")

API: Final = "virt-api"
CONTROLLER: Final = "virt-controller"
_RESTORED: Final = "restore.kubevirt.io/lastRestoreUID"
# The restores by which virt-controller makes clones have names like this.
_CLONE: Final = "tmp-restore-"

# The sources of volumes that can be plugged in → the option, and the field with its value.
_OPTIONS: Final = {
    "persistentVolumeClaim": ("persistent_volume_claim", "claimName"),
    "dataVolume": ("data_volume", "name"),
}

# Where a restore puts other volumes.
_RESTORED_FIELDS: Final = tuple(".".join(field) for field in (("spec", "dataVolumeTemplates"), VOLUMES, DISKS))

NEVER: Final = "never"
IF_SEEN: Final = "if seen"
ALWAYS: Final = "always"


class Rewrite(NamedTuple):
    """A part of the spec of VMs that KubeVirt writes by itself.

    fields: the written fields, or their parents. managers: the field managers that own the fields then. taken_back:
    whether a changed declaration takes the fields back without force_conflicts: IF_SEEN if the plan saw the owner, so
    that a concurrent change is not lost. annotation: marks the VMs that the rewrite concerns; "" for all.
    """

    fields: tuple[FieldPath, ...]
    managers: frozenset[str]
    taken_back: str = NEVER
    annotation: str = ""


# The first that fits decides. All else that KubeVirt writes is never taken back: expansions, captured revisions, and
# recorded hardware. Admission writes for the declaring manager, which keeps its share.
REWRITES: Final = (
    # A snapshot is restored into the VM. The declared disks are those before the restore.
    Rewrite(
        (("spec", "dataVolumeTemplates"), _VMI),
        frozenset({CONTROLLER}),
        annotation=_RESTORED,
    ),
    # Somebody starts or stops the VM, or it starts paused. A declared run strategy is written again.
    Rewrite((RUN_STRATEGY, RUNNING), frozenset({API, CONTROLLER}), ALWAYS),
    # An interface with the state absent is unplugged.
    Rewrite((INTERFACES, NETWORKS), frozenset({CONTROLLER}), IF_SEEN),
    # Somebody plugs in or removes a volume, or dumps the memory. A plugged volume stays, with a warning; a removed one
    # is declared again. Up to KubeVirt 1.8 virt-controller may carry out the request.
    Rewrite((VOLUMES, DISKS), frozenset({API, CONTROLLER}), IF_SEEN),
)

WITHOUT_EXPANSION: Final = frozenset({RUN_STRATEGY, RUNNING, VOLUMES, _PCI_TOPOLOGY, _UUID})
"""The fields that virt-controller writes to VMs even without expansion, which may write only disks or interfaces."""


def taken_back(manager: str, field: FieldPath, live: Manifest) -> bool:
    """Whether a declaration takes a field back from a manager without force_conflicts.

    live: the VM as the plan saw it, with managed fields.
    """
    rewrite = _rewrite(manager, field, live)
    if rewrite is None or rewrite.taken_back == NEVER:
        return False
    return rewrite.taken_back == ALWAYS or manager in managed_fields.owners(
        managed_fields.fields_of_others(live, ""), field
    )


def remedies(conflicts: Mapping[str, Iterable[str]], live: Manifest) -> str:
    """The addition to the error of a conflict, by the conflicting fields of each manager; "" for none."""
    restore = annotations_of(live).get(_RESTORED)
    if restore is None or CONTROLLER not in conflicts:
        return ""
    disks = any(field.startswith(_RESTORED_FIELDS) for field in conflicts[CONTROLLER])
    if restore.startswith(_CLONE):
        disk_text = ", and declare the disks that it has now" if disks else ""
        return f"; the VM is a clone, which {CONTROLLER} has made: set take_over: [{CONTROLLER}]{disk_text}"
    return "; a snapshot was restored into the VM: declare what it has now, such as its new disks" if disks else ""


def _rewrite(manager: str, field: FieldPath, live: Manifest) -> Rewrite | None:
    return next(
        (
            rewrite
            for rewrite in REWRITES
            if manager in rewrite.managers
            and any(managed_fields.is_inside(field, written) for written in rewrite.fields)
            and _applies_to(rewrite, live)
        ),
        None,
    )


def _applies_to(rewrite: Rewrite, live: Manifest) -> bool:
    return not rewrite.annotation or rewrite.annotation in annotations_of(live)


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
    """The declared VM with the volumes that were plugged into the live one, and those that are not declared.

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
    """A merge patch that removes plugged volumes with their disks, which KubeVirt accepts only together; else None.

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
    return None if remaining == disks else {VOLUMES: volumes, DISKS: remaining or None}


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
