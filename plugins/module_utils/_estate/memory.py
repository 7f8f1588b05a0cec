"""The memory of what earlier runs gave machines: in the written list, and in annotations of their VMs.

A machine's identity is its ID, with its source's before it where that is known: the IDs of a vCenter are its own.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.keys import ASSIGNMENT_ANNOTATION, SOURCE_ID_ANNOTATION, SOURCE_NAME_ANNOTATION
from .._resolver.api.manifest import Manifest, name_of, namespace_of
from .._resolver.api.matcher import INSTANCETYPE, references
from .._resolver.api.name_rules import quoted
from .._resolver.api.tree import value_at
from .machine import Machine, without_absent
from .names import valid
from .rules import Rules
from .shapes import checked, checked_at, text

# The key of the list of VMs that the playbook writes.
VMS: Final = "virtual_machines_list"
# These can be proposed anew.
NAMES: Final = "names"
SIZES: Final = "sizes"
PREFERENCES: Final = "preferences"
ANEW: Final = (NAMES, SIZES, PREFERENCES)
# The rules that choose sizes.
_BOUNDS: Final = ("waste", "new_sizes", "series", "overcommit", "headroom", "rightsize", "spare")
# forklift gives its VMs this label.
_FORKLIFT_ID: Final = "vmID"
# A VM's annotation has these, besides its ID and its name.
_ANNOTATED: Final = ("source", "uuid", "sizes", "preferences", "parts")
_TEXTS: Final = {"*": str}
_RECORD: Final[Mapping[str, Any]] = {
    **dict.fromkeys(("id", "name"), text),
    **dict.fromkeys(("source", "uuid", "folder"), str),
    "names": [text],
    **dict.fromkeys(("sizes", "preferences", "parts"), _TEXTS),
}
_SHAPE: Final = {"bounds": _TEXTS, "sizes": {"*": Mapping}, "machines": [_RECORD]}


class Given(NamedTuple):
    """A record of what a machine was given.

    id, source, name, uuid, folder: of the machine; the folder is the one in which it was first seen.
    names: NAMESPACE/NAME of its VM, the current one first. sizes: its need → instancetype. preferences: what its
    source said of the guest → preference, "" for none. parts: name of a volume, network or device → its key in the
    source. deployed: whether the VM of the current name is on the cluster.
    """

    id: str
    name: str = ""
    source: str = ""
    uuid: str = ""
    folder: str | None = None
    names: tuple[str, ...] = ()
    sizes: Mapping[str, str] = {}
    preferences: Mapping[str, str] = {}
    parts: Mapping[str, str] = {}
    deployed: bool = False

    @property
    def label(self) -> str:
        return f"{self.id} {quoted(self.name)}" if self.name else self.id

    def written(self) -> dict[str, Any]:
        """The entry of the list."""
        fields = {**self._asdict(), "names": list(self.names), "deployed": None}
        # The root is a folder, and no preference is a decision.
        folder = {} if self.folder is None else {"folder": self.folder}
        return {**without_absent(fields), **folder, "preferences": dict(self.preferences)}

    def annotation(self) -> str:
        """The part of it that a VM's annotation has, besides its ID and its name."""
        kept = {name: entry for name, entry in self.written().items() if name in _ANNOTATED}
        return json.dumps(kept, sort_keys=True, separators=(",", ":"))


class Memory(NamedTuple):
    """The memory of earlier runs. given: by the identities of machines, including machines that left the source.

    owners: NAMESPACE/NAME → identity of the machine that has or had it; "" for a VM that is no machine's.
    sizes: specs of new sizes by name. bounds: the rules for sizes in the last run, none if they are not known.
    used: the instancetypes of the cluster's VMs; None if they are not known. warnings: a line for each VM of which it
    is not clear whose it is.
    """

    given: Mapping[str, Given]
    owners: Mapping[str, str]
    sizes: Mapping[str, Manifest]
    bounds: Mapping[str, str]
    used: frozenset[str] | None
    warnings: Sequence[str]


def identity(machine: Mapping[str, Any] | Given) -> str:
    """SOURCE/ID of a machine, or its ID if its source is not known."""
    own, source = (machine.id, machine.source) if isinstance(machine, Given) else _key(machine)
    return f"{source}/{_without(own, source)}" if source else own


def _key(machine: Mapping[str, Any]) -> tuple[str, str]:
    return machine["id"], machine.get("source") or ""


def _without(own: str, source: str) -> str:
    """The ID in its source: readers write SOURCE/ID where several machines have the same ID."""
    return own[len(source) + 1 :] if source and own.startswith(f"{source}/") else own


def bounds_of(rules: Rules) -> dict[str, str]:
    """The rules for sizes as texts."""
    bounds = ((name, getattr(rules, name)) for name in _BOUNDS)
    return {name: f"{float(100 * value):g} %" if isinstance(value, Fraction) else str(value) for name, value in bounds}


def existing_of(vm: Manifest) -> dict[str, Any]:
    """The entry of a VM on the cluster for `remembered`."""
    annotations, labels = (value_at(vm, ("metadata", field)) or {} for field in ("annotations", "labels"))
    told: dict[str, Any] = without_absent(
        {
            "name": name_of(vm),
            "namespace": namespace_of(vm),
            "id": annotations.get(SOURCE_ID_ANNOTATION) or labels.get(_FORKLIFT_ID),
            "source_name": annotations.get(SOURCE_NAME_ANNOTATION),
            "assignment": annotations.get(ASSIGNMENT_ANNOTATION),
            "instancetype": next((key.name for key in references(vm) if key.kind == INSTANCETYPE.cluster_kind), ""),
        }
    )
    return told


def remembered(
    machines: Sequence[Machine],
    named: Collection[str],
    namespaces: Collection[str],
    previous: Any,
    existing: Sequence[Mapping[str, Any]] | None,
    anew: Collection[str],
) -> Memory:
    """The memory for machines.

    named: identities of the machines whose VMs the rules name. namespaces: of the rules. previous: `assignments`
    of an earlier proposal, or the whole; None for none. existing: the VMs of the cluster, see `existing_of`; None if
    they are not known. anew: what of it does not count. Raises FieldError where two sources of memory disagree, or
    where it is not clear whose a name is.
    """
    listed = {identity(machine): machine for machine in machines}
    written = checked_at("previous", _assignments_of(previous), _SHAPE)
    found = [Given(**{**record, "names": tuple(record.get("names", ()))}) for record in written.get("machines", ())]
    given = _by_identity(listed, found)
    if NAMES in anew:
        given = {key: record._replace(names=(), parts={}, folder=None) for key, record in given.items()}
    vms = [_of_vm(vm, listed) for vm in existing or ()]
    warnings: list[str] = []
    groups = _grouped(listed, vms, given, namespaces, warnings)
    others = groups.pop("", [])
    kept = given.keys() | listed.keys()
    given = _with_vms(given, groups, listed, named)
    for key, machine in listed.items():
        if key in given and key not in named:
            _check_reuse(given[key], machine)
    owners = _owners(given)
    for vm in others:
        owner = owners.setdefault(vm.names[0], "")
        if owner in listed and vm.names[0] == given[owner].names[0]:
            raise _unmarked(vm, given[owner])
    sources = {source for _own, source in map(_key, machines) if source}
    # The machines of another estate on the cluster are not to be taken for one of this that comes later.
    given = {
        key: record
        for key, record in given.items()
        if key in kept or record.source in sources or any(name.partition("/")[0] in namespaces for name in record.names)
    }
    if SIZES in anew:
        given = {key: record._replace(sizes={}) for key, record in given.items()}
    if PREFERENCES in anew:
        given = {key: record._replace(preferences={}) for key, record in given.items()}
    return Memory(
        given,
        owners,
        {} if SIZES in anew else written.get("sizes", {}),
        written.get("bounds", {}),
        None if existing is None else frozenset(str(vm.get("instancetype") or "") for vm in existing),
        warnings,
    )


def _unmarked(vm: Given, machine: Given) -> FieldError:
    """The error for a VM that has the name of a machine's VM, but not its mark."""
    return FieldError(
        "",
        f"estate.json gives the name {vm.names[0]} to the machine {machine.label}, but the VM of this name on the"
        f" cluster is not marked as its VM; if it is, give it the annotation {SOURCE_ID_ANNOTATION}: {machine.id},"
        " otherwise give the machine another name in the rules",
    )


def _assignments_of(previous: Any) -> Any:
    """`assignments` of a proposal, or as the annotations in a written list of VMs have them."""
    if not isinstance(previous, Mapping):
        return {} if previous is None else previous
    if isinstance(previous.get(VMS), (list, tuple)):
        vms = [existing_of({"metadata": vm, "spec": {}}) for vm in previous[VMS] if isinstance(vm, Mapping)]
        marked = [(vm, f"{vm['namespace']}/{vm['name']}") for vm in vms if vm.get("id") and vm.get("namespace")]
        return {
            "machines": [
                without_absent({**_told(vm), "id": vm["id"], "name": vm.get("source_name"), "names": [place]})
                for vm, place in marked
            ]
        }
    return previous.get("assignments", previous)


def _by_identity(listed: Mapping[str, Machine], records: Iterable[Given]) -> dict[str, Given]:
    given: dict[str, Given] = {}
    for record in _resolved(listed, records):
        other = given.setdefault(identity(record), record)
        if other is not record:
            raise FieldError(
                "previous",
                f"estate.json has {other.names[0] if other.names else other.label} and"
                f" {record.names[0] if record.names else record.label} for the same machine {record.label}",
            )
    return given


def _resolved(listed: Mapping[str, Machine], records: Iterable[Given]) -> list[Given]:
    """The records with the sources of the machines in the list, where one of both does not know the source."""
    sources: dict[str, list[str]] = {}
    for machine in listed.values():
        own, source = _key(machine)
        sources.setdefault(_without(own, source), []).append(source)
    result = []
    for record in records:
        own = _without(record.id, record.source)
        known = sources.get(own, [])
        if record.source in known or not known or (record.source and "" not in known):
            result.append(record)
        elif len(known) == 1:
            result.append(record._replace(id=own, source=known[0]))
        else:
            shown = " and ".join(sorted(f"{source}/{own}" for source in known))
            raise FieldError(
                "",
                f"{record.names[0] if record.names else record.label} was given to the machine {record.label}, whose"
                f" source is not known, and now {shown} have this ID; name the VM of each in the rules",
            )
    return result


def _of_vm(vm: Mapping[str, Any], listed: Mapping[str, Machine]) -> Given:
    """The record of a VM of the cluster; without an ID if it is no machine's. A VM of KubeVirt is a machine itself."""
    place = f"{vm['namespace']}/{vm['name']}"
    own = place if place in listed else str(vm.get("id") or "")
    told = _told(vm)
    return Given(own, str(vm.get("source_name") or ""), names=(place,), **(told if own != place else {}))


def _told(vm: Mapping[str, Any]) -> dict[str, Any]:
    """The content of the annotation of a VM; nothing if a person has changed it."""
    try:
        return dict(checked(json.loads(vm.get("assignment") or "{}"), {field: _RECORD[field] for field in _ANNOTATED}))
    except (FieldError, ValueError):
        return {}


def _grouped(
    listed: Mapping[str, Machine],
    vms: Iterable[Given],
    given: Mapping[str, Given],
    namespaces: Collection[str],
    warnings: list[str],
) -> dict[str, list[Given]]:
    """The VMs by the identity of their machine; "" for VMs of no machine."""
    by_id: dict[str, list[str]] = {}
    for key, machine in listed.items():
        by_id.setdefault(_without(*_key(machine)), []).append(key)
    groups: dict[str, list[Given]] = {}
    for vm in vms:
        key = identity(vm)
        possible = [
            other
            for other in by_id.get(_without(vm.id, vm.source), ())
            if not (vm.source and listed[other].get("source"))
        ]
        if possible and vm.names[0] not in listed:
            clear = [other for other in possible if _is_vm_of(vm, listed[other], given.get(other))]
            marked = (
                f"{vm.names[0]} is marked as the VM of the machine {vm.label}, and no source or UUID tells whether it"
            )
            if not clear and len(possible) == 1 and vm.names[0].partition("/")[0] in namespaces:
                clear = possible
                warnings.append(f"{marked} was renamed to {quoted(listed[possible[0]]['name'])}; it counts as this one")
            elif len(clear) != 1:
                warnings.append(f"{marked} is that of the list with the same ID; it counts as another one's")
            key = clear[0] if len(clear) == 1 else ""
        groups.setdefault(key, []).append(vm)
    return groups


def _is_vm_of(vm: Given, machine: Machine, given: Given | None) -> bool:
    """Whether a VM belongs to a machine with the same ID, if the source of either is not known.

    Another estate of the cluster may have the ID too.
    """
    if given is not None and vm.names[0] in given.names:
        return True
    uuid = machine.get("uuid") or ""
    if uuid and vm.uuid:
        return bool(uuid == vm.uuid)
    # Whoever brought the VM may have noted the ID alone.
    return vm.name == machine["name"] if vm.name else vm.names[0].partition("/")[2] == valid(machine["name"])


def _with_vms(
    given: Mapping[str, Given],
    groups: Mapping[str, Sequence[Given]],
    listed: Mapping[str, Machine],
    named: Collection[str],
) -> dict[str, Given]:
    result = dict(given)
    for key, vms in groups.items():
        places = [vm.names[0] for vm in vms]
        record = given.get(key)
        names = record.names if record else ()
        if key in listed and key not in named:
            # A clone of the VM has its annotations.
            if names and names[0] not in places and not set(places) <= set(names):
                raise FieldError(
                    "",
                    f"estate.json gives the machine {vms[0].label} the name {names[0]}, but on the cluster its VM is"
                    f" {' and '.join(sorted(set(places) - set(names)))}; correct estate.json, or name the VM in the"
                    " rules",
                )
            if not names and len(vms) > 1:
                raise FieldError(
                    "",
                    f"{' and '.join(sorted(places))} on the cluster are marked as VMs of the machine {vms[0].label};"
                    f" remove the annotation {SOURCE_ID_ANNOTATION} from the wrong one, or name the right one in the"
                    " rules",
                )
        current = next((vm for vm in vms if vm.names[0] in names[:1]), vms[0])
        record = record or current
        result[key] = record._replace(
            names=tuple(dict.fromkeys((*names, *places))),
            sizes={**current.sizes, **record.sizes},
            preferences={**current.preferences, **record.preferences},
            parts=record.parts or current.parts,
            deployed=(names[0] if names else places[0]) in places,
        )
    return result


def _check_reuse(record: Given, machine: Machine) -> None:
    """Raises FieldError if another machine seems to have the ID now."""
    uuid = machine.get("uuid") or ""
    if record.uuid and uuid and record.uuid != uuid and record.name != machine["name"] and record.names:
        raise FieldError(
            "",
            f"{record.names[0]} was given to the machine {record.label} with the UUID {record.uuid}; now the ID is that"
            f" of {quoted(machine['name'])} with the UUID {uuid}, which may be another machine; name its VM in the"
            f" rules: machines: {{{machine['id']}: {{name: NAME}}}}",
        )


def _owners(given: Mapping[str, Given]) -> dict[str, str]:
    owners: dict[str, str] = {}
    for key in sorted(given):
        for name in given[key].names:
            other = owners.setdefault(name, key)
            if other != key:
                raise FieldError(
                    "",
                    f"{name} is the name of two machines, {given[other].label} and {given[key].label}, by estate.json"
                    " and the annotations on the cluster; correct one of them",
                )
    return owners


def written(given: Iterable[Given], memory: Memory) -> list[dict[str, Any]]:
    """The list for the next run: the machines, and machines that left the source, whose names a rule may take."""
    now = {identity(record): record for record in given}
    taken = {name for record in now.values() for name in record.names[:1]}
    left = {
        key: record._replace(names=tuple(name for name in record.names if name not in taken))
        for key, record in memory.given.items()
    }
    return [record.written() for _key, record in sorted({**left, **now}.items())]
