"""Checks that each rule of a person matches something, and that what it names exists."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import did_you_mean, first_names, quoted
from .machine import Machine
from .memory import Memory, identity
from .preferences import texts_of
from .rules import POD, Rules
from .sizing import Catalog


class There(NamedTuple):
    """The names of objects on the cluster; None for a kind whose objects are not known."""

    namespaces: Collection[str] | None = None
    storage_classes: Collection[str] | None = None


UNKNOWN: Final = There()


def check(rules: Rules, machines: Sequence[Machine], catalog: Catalog, memory: Memory, there: There) -> None:
    """Raises FieldError with all rules that match nothing or name what does not exist."""
    problems = [
        *_unmatched(rules, machines, memory),
        *_missing_choices(rules, catalog),
        *_missing("namespace", _namespaces(rules), there.namespaces),
        *_missing("storage class", _storage_classes(rules), there.storage_classes),
    ]
    if problems:
        raise FieldError("", "; ".join(problems))


def keys_of(machine: Machine) -> tuple[str, ...]:
    """The names of a machine in rules; the first that has a rule counts."""
    return machine["id"], identity(machine), machine["name"]


def several(rules: Rules, machines: Sequence[Machine]) -> list[str]:
    """A line for each rule that is for several machines of one name."""
    matched: dict[str, list[str]] = {}
    for machine in machines:
        matched.setdefault(rules.exception_of(*keys_of(machine))[0], []).append(machine["id"])
    return [
        f"rules.machines[{key}]: {len(ids)} machines have this name, {first_names(ids, 3)}; for one, write its ID"
        for key, ids in matched.items()
        if key and len(ids) > 1
    ]


def _unmatched(rules: Rules, machines: Sequence[Machine], memory: Memory) -> Iterator[str]:
    """Rules that match no machine, and no part of one."""
    yield from _unmatched_machines(rules, machines, memory)
    yield from _unmatched_parts(rules, machines)
    yield from _unmatched_patterns(rules, machines, memory)


def _unmatched_machines(rules: Rules, machines: Sequence[Machine], memory: Memory) -> Iterator[str]:
    known = {key: None for machine in machines for key in keys_of(machine)}
    # A machine that left the source may come back.
    earlier = {key for own, given in memory.given.items() for key in (own, given.id, given.name)}
    yield from _problems("machines", rules.machines, known, "machine", earlier)
    taken = {rules.exception_of(*keys_of(machine))[0] for machine in machines}
    for key, rule in rules.machines.items():
        if rule and key in known and key not in taken:
            yield f"rules.machines[{key}]: the machines of this name have rules by their IDs; merge them"


def _unmatched_parts(rules: Rules, machines: Sequence[Machine]) -> Iterator[str]:
    parts = (
        ("storage", rules.storage, "disk", [disk.get("storage") for machine in machines for disk in machine["disks"]]),
        (
            "networks",
            rules.networks,
            "network",
            [nic.get("network") for machine in machines for nic in machine["nics"]],
        ),
        ("devices", rules.devices, "device", [device for machine in machines for device in machine["passthrough"]]),
    )
    for field, own, noun, names in parts:
        yield from _problems(field, own, dict.fromkeys(filter(None, names)), noun, (POD,))


def _unmatched_patterns(rules: Rules, machines: Sequence[Machine], memory: Memory) -> Iterator[str]:
    """Patterns of folders and of systems."""
    folders = dict.fromkeys([machine.get("folder") or "" for machine in machines])
    folders.update(dict.fromkeys(given.folder or "" for given in memory.given.values()))
    for pattern in rules.namespaces:
        if not any(fnmatchcase(folder, pattern) for folder in folders):
            yield f"rules.namespaces[{pattern}]: matches no folder{did_you_mean(pattern, list(filter(None, folders)))}"
    texts = dict.fromkeys(text for machine in machines for text in texts_of(machine))
    for index, rule in enumerate(rules.preferences):
        if not any(re.search(rule["match"], text, re.IGNORECASE) for text in texts):
            problem = f"{quoted(rule['match'])} matches the system of no machine{did_you_mean(rule['match'], texts)}"
            yield f"rules.preferences[{index}].match: {problem}"


def _problems(
    field: str, keys: Iterable[str], known: Mapping[str, Any], noun: str, also: Collection[str]
) -> Iterator[str]:
    for key in keys:
        if key not in known and key not in also:
            yield f"rules.{field}[{key}]: matches no {noun} of the source{did_you_mean(key, known)}"


def _missing_choices(rules: Rules, catalog: Catalog) -> Iterator[str]:
    """Sizes and preferences that the catalog lacks."""
    sizes = {*catalog.sizes, *catalog.earlier}
    for key, rule in rules.machines.items():
        for field, known in (("instancetype", sizes), ("preference", set(catalog.preferences))):
            if field in rule and rule[field] not in known:
                yield _absent(f"machines[{key}].{field}", rule[field], field, "in the catalog", known)
    for index, entry in enumerate(rules.preferences):
        if entry["preference"] not in catalog.preferences:
            place = f"preferences[{index}].preference"
            yield _absent(place, entry["preference"], "preference", "in the catalog", catalog.preferences)


def _namespaces(rules: Rules) -> Iterator[tuple[str, str]]:
    yield "namespace", rules.namespace
    yield from ((f"namespaces[{pattern}]", name) for pattern, name in rules.namespaces.items())
    for key, rule in rules.machines.items():
        if "namespace" in rule:
            yield f"machines[{key}].namespace", rule["namespace"]


def _storage_classes(rules: Rules) -> Iterator[tuple[str, str]]:
    for key, volume in rules.storage.items():
        if volume.get("storage_class"):
            yield f"storage[{key}].storage_class", volume["storage_class"]


def _missing(noun: str, named: Iterable[tuple[str, str]], known: Collection[str] | None) -> Iterator[str]:
    for place, name in named:
        if known is not None and name not in known:
            yield _absent(place, name, noun, "on the cluster", known)


def _absent(place: str, name: str, noun: str, where: str, known: Iterable[str]) -> str:
    return f"rules.{place}: {quoted(name)} is no {noun} {where}{did_you_mean(name, sorted(known))}"
