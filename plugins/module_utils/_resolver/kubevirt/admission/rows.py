"""Rules as rows (path, kind of rule, releases, reported field), and their interpreter.

A kind of rule is a function that says what is wrong with a value, in words that follow the name of its field, or "".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ...api.name_rules import join_or, quoted
from ..cluster import KubeVirt
from .rule import INVALID, Cause, Rule, Spec


class Place:
    """The place of a value in a VMI spec.

    spec, path: the VMI spec and its path. entry: the object to which paths are relative: the spec, or an object or
    entry in it. entries, index: the list of the entry, and its position there. memo: results that rules share.
    """

    __slots__ = ("entries", "entry", "index", "kubevirt", "memo", "path", "spec")

    def __init__(self, spec: Spec, path: str, kubevirt: KubeVirt, memo: dict[Any, dict[Any, Any]]) -> None:
        self.spec, self.path, self.kubevirt, self.memo = spec, path, kubevirt, memo
        self.entry = spec
        self.entries: Sequence[Spec] = ()
        self.index = 0

    def get(self, path: str) -> Any:
        """The value at a path in the entry; None if there is none."""
        return at(self.entry, path)

    def named(self, path: str) -> dict[str, Spec]:
        """The entries of a list in the spec by name; of duplicates the last."""
        if path not in self.memo:
            self.memo[path] = {entry["name"]: entry for entry in at(self.spec, path) or ()}
        return self.memo[path]

    def first(self, path: str) -> dict[Any, int]:
        """The values at a path in the list of the entry, each with its first index."""
        key = (id(self.entries), path)
        if key not in self.memo:
            indexes = range(len(self.entries))
            self.memo[key] = {at(self.entries[index], path): index for index in reversed(indexes)}
        return self.memo[key]


def at(value: Any, path: str) -> Any:
    """The value at a path in an object; None if there is none."""
    for key in _keys(path):
        value = value.get(key)
        if value is None:
            return None
    return value


Check = Callable[[Any, Place], str]


class Row(NamedTuple):
    """A rule about one field.

    path: the field, relative to the entry; "" for the entry itself. at: the field that virt-api names instead, with
    {entry}, {spec} and {index}. since, until: the releases that have the rule, and the first that has it no longer.
    absent: the rule is about an absent value, too.
    """

    path: str
    check: Check
    at: str = ""
    since: str = ""
    until: str = ""
    absent: bool = False

    def applies(self, kubevirt: KubeVirt) -> bool:
        """Whether the release has the rule."""
        has = kubevirt.release.has
        return not (self.since and not has(self.since)) and not (self.until and has(self.until))

    def cause(self, problem: str, place: Place, field: str) -> Cause:
        """The cause of a refusal. field: the path of the entry."""
        own = f"{field}.{self.path}" if self.path else field
        reported = self.at.format(entry=field, spec=place.path, index=place.index) if self.at else own
        return Cause(INVALID, f"{own.rpartition('.')[2]} {problem}", reported)


class Group:
    """Rules about each entry of a list (`domain.devices.disks[]`), or about an object, if it exists.

    field: virt-api's words for the path, as in `Row.at`. when: the condition under which the rules apply. A function
    among the rules gets the entry and its field, as a group itself does.
    """

    def __init__(
        self, path: str, *rules: Row | Group | Rule, field: str = "", when: Callable[[Place], bool] | None = None
    ) -> None:
        self.path, self.is_list = path.removesuffix("[]"), path.endswith("[]")
        self.field, self.when = field, when
        self.steps = [step for rule in rules for step in _steps(rule)]

    def __call__(self, spec: Spec, path: str, kubevirt: KubeVirt) -> list[Cause]:
        found: list[Cause] = []
        place = Place(spec, path, kubevirt, {})
        target = at(spec, self.path)
        if target is not None:
            self.judge(target, place, path, found)
        return found

    def judge(self, target: Any, outer: Place, outer_field: str, found: list[Cause]) -> None:
        """Adds the causes. target: the value at the path. outer, outer_field: the place of the group, and its path."""
        field = outer_field
        if self.field:
            field = self.field.format(entry=outer_field, spec=outer.path)
        elif self.path:
            field = f"{outer_field}.{self.path}"
        place = Place(outer.spec, outer.path, outer.kubevirt, outer.memo)
        if self.is_list:
            place.entries = target
            for index, entry in enumerate(target):
                place.entry, place.index = entry, index
                self._judge(place, field, found)
        else:
            place.entry, place.entries, place.index = target, outer.entries, outer.index
            self._judge(place, field, found)

    def _judge(self, place: Place, list_field: str, found: list[Cause]) -> None:
        if self.when is not None and not self.when(place):
            return
        entry, is_list = place.entry, self.is_list
        for keys, absent, rule in self.steps:
            value: Any = entry
            for key in keys:
                value = value.get(key)
                if value is None:
                    break
            if value is None and not absent:
                continue
            if isinstance(rule, Row):
                problem = rule.check(value, place)
                if not problem or not rule.applies(place.kubevirt):
                    continue
                found.append(rule.cause(problem, place, f"{list_field}[{place.index}]" if is_list else list_field))
                continue
            field = f"{list_field}[{place.index}]" if is_list else list_field
            if isinstance(rule, Group):
                rule.judge(value, place, field, found)
            else:
                found += rule(entry, field, place.kubevirt)


_Step = tuple[tuple[str, ...], bool, "Row | Group | Rule"]


def _steps(rule: Row | Group | Rule) -> list[_Step]:
    """A rule with its keys, and whether it is about an absent value, too; the rules of a mere sequence one by one."""
    if isinstance(rule, Row):
        return [(_keys(rule.path), rule.absent, rule)]
    if not isinstance(rule, Group):
        return [((), False, rule)]
    if not rule.path and not rule.when:
        return rule.steps
    return [(_keys(rule.path), False, rule)]


@cache
def _keys(path: str) -> tuple[str, ...]:
    return tuple(path.split(".")) if path else ()


def is_set(value: Any) -> bool:
    """Whether a field turns something on or has a value; an empty object is one."""
    return value not in (None, False, "")


# The kinds of rules.


def required(path: str, at: str = "", since: str = "", until: str = "") -> Row:
    """The field must not be empty."""
    return Row(path, lambda value, _place: "" if value else "is missing; set it", at, since, until, absent=True)


def closed(gate_name: str) -> str:
    """The words about a feature gate that is needed and not open."""
    return f"needs the feature gate {gate_name}; enable it in the KubeVirt object, or remove the field"


def gate(name: str) -> Check:
    """The field needs a feature gate."""
    problem = closed(name)
    return lambda value, place: problem if is_set(value) and not place.kubevirt.has_gate(name) else ""


def if_open(name: str, check: Check) -> Check:
    """A rule that KubeVirt applies only if a feature gate is open."""
    return lambda value, place: check(value, place) if place.kubevirt.has_gate(name) else ""


def one_of(*choices: str) -> Check:
    """An enumeration; "" among the choices permits an absent or empty value."""
    listed = join_or([choice for choice in choices if choice])
    return lambda value, _place: "" if (value or "") in choices else f"must be {listed}, not {quoted(value or '')}"


def each(check: Check) -> Check:
    """A rule about each entry of a list, of which the first problem counts."""
    return lambda value, place: next(filter(None, (check(entry, place) for entry in value)), "")


def within(numbers: range) -> Check:
    """A range of numbers."""
    limits = f"must be from {numbers.start} to {numbers.stop - 1}"
    return lambda value, _place: "" if (value or 0) in numbers else f"{limits}, not {value or 0}"


def at_most(count: int, noun: str = "entries") -> Check:
    """The length of a list or text."""
    return lambda value, _place: f"has {len(value)} {noun}; at most {count} are allowed" if len(value) > count else ""


def matches(pattern: str, form: str) -> Check:
    """A pattern, in words: what the value must be."""
    expression = re.compile(pattern)
    return lambda value, _place: (
        f"must be {form}, not {quoted(value)}" if value and not expression.fullmatch(value) else ""
    )


def conforms(rule: Callable[[str], str]) -> Check:
    """A rule of `name_rules`."""

    def check(value: str | None, _place: Place) -> str:
        problem = rule(value or "")
        return f"{quoted(value or '')} {problem}" if problem else ""

    return check


def needs(path: str) -> Check:
    """The field needs another one of its entry."""
    problem = f"needs {path}; set it, or remove the field"
    return lambda value, place: problem if is_set(value) and not is_set(place.get(path)) else ""


def excludes(path: str) -> Check:
    """The field excludes another one of its entry."""
    problem = f"excludes {path}; remove one of them"
    return lambda value, place: problem if is_set(value) and is_set(place.get(path)) else ""


def exactly_one(*names: str) -> Check:
    """The object has exactly one of the fields."""
    few, many = f"has none of {', '.join(names)}; set one", f"has more than one of {', '.join(names)}; keep one"

    def check(value: Spec, _place: Place) -> str:
        count = sum(name in value for name in names)
        return "" if count == 1 else many if count else few

    return check


def at_most_one(*names: str) -> Check:
    """The object has at most one of the fields."""
    problem = f"has more than one of {', '.join(names)}; keep one"
    return lambda value, _place: problem if sum(name in value for name in names) > 1 else ""


def only_once(path: str) -> Check:
    """At most one entry of the list has the field."""
    problem = f"has more than one entry with {path}; keep one"
    return lambda value, _place: problem if sum(is_set(at(entry, path)) for entry in value) > 1 else ""


def unique(path: str) -> Row:
    """No earlier entry of the list has the same value."""

    def check(value: Any, place: Place) -> str:
        repeated = place.first(path)[value] != place.index
        return f"{quoted(value)} is used twice; choose another" if repeated else ""

    return Row(path, check)
