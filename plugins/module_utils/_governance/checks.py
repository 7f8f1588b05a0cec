"""The checks of limits, and the violations that they find.

Each has its two forms side by side: an expression of CEL, and the same in Python. Both look at the same values.
``guest`` is the VMI spec of a VM, or that of a VMI which a user creates; ``vm`` is the spec of a VM, ``type`` that of a
namespace's own instancetype. Earlier values of an object stay permitted: only what a change sets is judged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import QuantityError
from .._resolver.api.finding import ERROR, NOTE, WARNING, Finding
from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField
from .._resolver.api.name_rules import first_names
from .._resolver.api.quantity import parse
from .._resolver.api.tree import value_at
from .language import AUDIT, DENY, WARN, Limit

Path = tuple[str, ...]

VM: Final = "VirtualMachine"
VMI: Final = "VirtualMachineInstance"
# Names in a message; more would be too long to read.
_NAMED: Final = 20
# The end of the name of a ControllerRevision that virt-controller has captured; releases before 1.5 have no version.
_CAPTURED: Final = r"(v[0-9a-z]+-)?[0-9a-f-]{36}-[0-9]+"
_COUNTS: Final = ("sockets", "cores", "threads")
# Not maxSockets, nor maxGuest: they are reached by changes of the VM only, and KubeVirt gives every VMI some.
_CPU_PATHS: Final[tuple[Path, ...]] = (
    *(("guest", "domain", "resources", kind, "cpu") for kind in ("requests", "limits")),
    ("type", "cpu", "guest"),
)
_MEMORY_PATHS: Final[tuple[Path, ...]] = (
    ("guest", "domain", "memory", "guest"),
    *(("guest", "domain", "resources", kind, "memory") for kind in ("requests", "limits")),
    ("type", "memory", "guest"),
)

# The type is `dyn`, because CEL would use the types of one kind. No variable is an optional value: CEL finds nothing in
# those.
VARIABLES: Final = {
    "before": "oldObject == null ? dyn({}) : dyn(oldObject)",
    "vm": f"object.kind == '{VM}' ? dyn(object).?spec.orValue({{}}) : dyn({{}})",
    "vmBefore": f"object.kind == '{VM}' ? variables.before.?spec.orValue({{}}) : dyn({{}})",
    "guest": f"object.kind == '{VMI}' ? dyn(object).?spec.orValue({{}}) : variables.vm.?template.?spec.orValue({{}})",
    "guestBefore": "variables.vmBefore.?template.?spec.orValue({})",
    "type": f"object.kind == '{INSTANCETYPE.kind}' ? dyn(object).?spec.orValue({{}}) : dyn({{}})",
    "typeBefore": f"object.kind == '{INSTANCETYPE.kind}' ? variables.before.?spec.orValue({{}}) : dyn({{}})",
    "at": f"object.kind == '{VM}' ? 'spec.template.spec' : 'spec'",
}
"""The variables of every policy, in the order in which they need each other."""


class LimitedObject(NamedTuple):
    """An object as the checks see it. existed: whether it was there before. parts: the values of `VARIABLES`."""

    kind: str
    name: str
    existed: bool
    parts: Mapping[str, Manifest]

    def get(self, path: Path, default: Any = None) -> Any:
        """The value of a path that begins with a part."""
        value = value_at(self.parts[path[0]], path[1:])
        return default if value is None else value

    @property
    def at(self) -> str:
        """The place of the VMI spec in the object."""
        return "spec.template.spec" if self.kind == VM else "spec"


def _view(manifest: Manifest, before: Manifest | None) -> LimitedObject:
    """The view of a VM, a VMI or an instancetype. before: the object before an update, or None."""
    kind, parts = manifest["kind"], {}
    for suffix, source in (("", manifest), ("Before", before or {})):
        spec = source.get("spec") or {}
        vm = spec if kind == VM else {}
        parts[f"vm{suffix}"] = vm
        parts[f"guest{suffix}"] = spec if kind == VMI else (vm.get("template") or {}).get("spec") or {}
        parts[f"type{suffix}"] = spec if kind == INSTANCETYPE.kind else {}
    return LimitedObject(kind, str(manifest["metadata"].get("name") or ""), before is not None, parts)


class Check(NamedTuple):
    """A check in both forms.

    cel: true if the object is permitted. message: an expression for the text. violation: the same text, or None.
    """

    cel: str
    message: str
    violation: Callable[[LimitedObject], str | None]


# The severity of what breaks a limit, by the limit's action.
_SEVERITIES: Final = {DENY: ERROR, WARN: WARNING, AUDIT: NOTE}


def violations(
    limits: Iterable[Limit], manifest: Manifest, before: Manifest | None, namespace: str, labels: Mapping[str, str]
) -> Iterator[Finding]:
    """The violations of a namespace's limits by a VM, a VMI that a user creates, or an instancetype of the namespace.

    manifest: a VM after the mutating webhook. before: the object before an update, or None. labels: the labels of the
    namespace.
    """
    applying = [limit for limit in limits if limit.applies(namespace, labels)]
    if not applying:
        return
    obj = _view(manifest, before)
    for limit in applying:
        for check in checks(limit):
            if text := check.violation(obj):
                field, _colon, rest = text.partition(": ")
                yield Finding(rest, _SEVERITIES[limit.action], field)


def checks(limit: Limit) -> Iterator[Check]:
    """All checks of a limit."""
    end = f" (limit {limit.name})"
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.name in limit.require:
            yield _required(matcher_field, end)
        permitted = limit.instancetypes if matcher_field is INSTANCETYPE else limit.preferences
        if permitted is not None:
            yield _permitted(matcher_field, permitted, matcher_field is INSTANCETYPE and limit.own_instancetypes, end)
            yield _captured(matcher_field, end)
    if limit.max_cpu is not None:
        yield _count(limit.max_cpu, end)
        for path in _CPU_PATHS:
            yield _amount(path, str(limit.max_cpu), f"{limit.max_cpu} vCPUs", end)
    if limit.max_memory is not None:
        for path in _MEMORY_PATHS:
            yield _amount(path, limit.max_memory, limit.max_memory, end)
    for field, what, permitted_devices in (
        ("gpus", "GPUs", limit.gpus),
        ("hostDevices", "host devices", limit.host_devices),
    ):
        if not permitted_devices:
            yield _no_devices(("guest", "domain", "devices", field), what, end)
            yield _no_devices(("type", field), what, end)


def _required(matcher_field: MatcherField, suffix: str) -> Check:
    name = matcher_field.name
    text = f": missing; write the name of one in a VirtualMachine{suffix}"

    def violation(obj: LimitedObject) -> str | None:
        kept = obj.existed and obj.get(("vmBefore", name)) is None
        return (
            None if obj.kind == INSTANCETYPE.kind or obj.get(("vm", name)) is not None or kept else f"spec.{name}{text}"
        )

    return Check(
        f"object.kind == '{INSTANCETYPE.kind}' || variables.vm.?{name}.hasValue()"
        f" || (oldObject != null && (variables.expands || !variables.vmBefore.?{name}.hasValue()))",
        _quoted(f"spec.{name}{text}"),
        violation,
    )


def _permitted(matcher_field: MatcherField, names: Sequence[str], own: bool, suffix: str) -> Check:
    """A matcher that names a permitted object."""
    permitted, name = frozenset(names), ("vm", matcher_field.name, "name")
    kinds = ("", matcher_field.cluster_kind.lower(), f"{matcher_field.cluster_kind.lower()}s")
    where = f", or an {matcher_field.name} of the namespace" if own else ""
    text = f" is not permitted here; choose from {first_names(names, _NAMED)}{where}{suffix}"

    def violation(obj: LimitedObject) -> str | None:
        if obj.get(name[:2]) is None:
            return None
        wide, before = (
            str(obj.get((part, matcher_field.name, "kind"), "")).lower() in kinds for part in ("vm", "vmBefore")
        )
        chosen = obj.get(name, "")
        kept = obj.get(("vmBefore", matcher_field.name)) is not None and wide == before
        if (kept and chosen == obj.get(("vmBefore", *name[1:]), "")) or (chosen in permitted if wide else own):
            return None
        return f"spec.{matcher_field.name}.name: {chosen}{text}"

    def is_wide(part: str) -> str:
        return f"variables.{part}.?{matcher_field.name}.?kind.orValue('').lowerAscii() in {_list(kinds)}"

    chosen = f"{_cel(name)}.orValue('')"
    same = f"{chosen} == variables.vmBefore.?{matcher_field.name}.?name.orValue('')"
    return Check(
        f"!{_cel(name[:2])}.hasValue()"
        f" || (variables.vmBefore.?{matcher_field.name}.hasValue() && {same}"
        f" && ({is_wide('vm')}) == ({is_wide('vmBefore')}))"
        f" || ({is_wide('vm')} ? {chosen} in {_list(names)} : {str(own).lower()})",
        f"{_quoted(f'spec.{matcher_field.name}.name: ')} + {chosen} + {_quoted(text)}",
        violation,
    )


def _captured(matcher_field: MatcherField, suffix: str) -> Check:
    """A pinned revision is the VM's own, of the object that the matcher names: others may have any size."""
    path = ("vm", matcher_field.name, "revisionName")
    text = f" is not a revision that this VM has captured of its {matcher_field.name}; remove the field{suffix}"

    def violation(obj: LimitedObject) -> str | None:
        revision = obj.get(path)
        if revision is None or revision == obj.get(("vmBefore", *path[1:])):
            return None
        prefix = f"{obj.name}-{obj.get(('vm', matcher_field.name, 'name'), '')}-"
        if revision.startswith(prefix) and re.fullmatch(_CAPTURED, revision[len(prefix) :]):
            return None
        return f"spec.{matcher_field.name}.revisionName: {revision}{text}"

    value = f"{_cel(path)}.orValue('')"
    prefix = f"(object.metadata.name + '-' + variables.vm.?{matcher_field.name}.?name.orValue('') + '-')"
    return Check(
        f"!{_cel(path)}.hasValue() || {_cel(path)} == {_cel(_before_path(path))}"
        f" || ({value}.startsWith({prefix}) && {value}.substring(size({prefix})).matches({_quoted(f'^{_CAPTURED}$')}))",
        f"{_quoted(f'spec.{matcher_field.name}.revisionName: ')} + {value} + {_quoted(text)}",
        violation,
    )


def _count(maximum: int, suffix: str) -> Check:
    """The product of the sockets, cores and threads of a guest; one that is missing counts as 1."""
    text = f" ({' x '.join(_COUNTS)}) are more than {maximum} vCPUs{suffix}"

    def counts(obj: LimitedObject, part: str) -> list[int]:
        return [obj.get((part, "domain", "cpu", field), 0) or 1 for field in _COUNTS]

    def product(numbers: Sequence[int]) -> float:
        # CEL computes with floats here as well: integers of the API may be too large to multiply.
        first, second, third = map(float, numbers)
        return first * second * third

    def violation(obj: LimitedObject) -> str | None:
        after = counts(obj, "guest")
        if product(after) <= maximum or product(after) == product(counts(obj, "guestBefore")):
            return None
        return f"{obj.at}.domain.cpu: {' x '.join(map(str, after))}{text}"

    def numbers(part: str) -> list[str]:
        factors = [f"{_cel((part, 'domain', 'cpu', field))}.orValue(1)" for field in _COUNTS]
        return [f"({number} == 0 ? 1 : int({number}))" for number in factors]

    after, before = (" * ".join(f"double({number})" for number in numbers(part)) for part in ("guest", "guestBefore"))
    shown = " + ' x ' + ".join(f"string({number})" for number in numbers("guest"))
    return Check(
        f"{after} <= {float(maximum)} || {after} == {before}",
        f"variables.at + '.domain.cpu: ' + {shown} + {_quoted(text)}",
        violation,
    )


def _amount(path: Path, maximum: str, noun: str, suffix: str) -> Check:
    """A quantity that is at most another one."""
    text = f" is more than {noun}{suffix}"
    place = ".".join(path[1:])

    def violation(obj: LimitedObject) -> str | None:
        value = obj.get(path)
        if value is None or value == obj.get(_before_path(path)):
            return None
        try:
            if parse(str(value)).nanos <= parse(maximum).nanos:
                return None
        except QuantityError:
            # KubeVirt refuses it.
            return None
        return f"{obj.at}.{place}: {value}{text}"

    value = f"string({_cel(path)}.orValue(''))"
    return Check(
        f"!{_cel(path)}.hasValue() || {_cel(path)} == {_cel(_before_path(path))} || !isQuantity({value})"
        f" || !quantity({value}).isGreaterThan(quantity({_quoted(maximum)}))",
        f"variables.at + {_quoted(f'.{place}: ')} + {value} + {_quoted(text)}",
        violation,
    )


def _no_devices(path: Path, noun: str, suffix: str) -> Check:
    """A list of devices that must be empty."""
    place = ".".join(path[1:])
    text = f"{place}: {noun} are not permitted here; remove them{suffix}"

    def violation(obj: LimitedObject) -> str | None:
        value = obj.get(path)
        return None if not value or value == obj.get(_before_path(path)) else f"{obj.at}.{text}"

    return Check(
        f"size({_cel(path)}.orValue([])) == 0 || {_cel(path)} == {_cel(_before_path(path))}",
        f"variables.at + {_quoted(f'.{text}')}",
        violation,
    )


def _before_path(path: Path) -> Path:
    return (f"{path[0]}Before", *path[1:])


def _cel(path: Path) -> str:
    """The optional value of a path."""
    return "".join(("variables.", path[0], *(f".?{key}" for key in path[1:])))


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """A string of CEL; none of ours has a line break."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
