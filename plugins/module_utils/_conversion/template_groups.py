"""Which templates are one: their VMs differ only in what an instancetype sets, in the system, and in names."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from .._adoption import guest_class
from .._resolver.api.errors import QuantityError
from .._resolver.api.manifest import OS_ANNOTATION, Manifest, name_of
from .._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE
from .._resolver.api.quantity import canonical
from .._resolver.api.tree import copy, remove_at, value_at
from .._templates import conversion
from .template_bundles import TEMPLATE

_VM: Final = "VirtualMachine"
_SPEC: Final = ("spec", "template", "spec")
_COUNTS: Final = ("sockets", "cores", "threads")
_THREADS: Final = {("domain", "ioThreadsPolicy"): "I/O threads {}", ("domain", "ioThreads"): "I/O threads {}"}
# The fields of the size, which an instancetype sets.
_SIZE: Final = (
    *(("domain", "cpu", part) for part in _COUNTS),
    ("domain", "memory"),
    ("domain", "resources"),
    *_THREADS,
)
# Templates set these fields only for guests with several vCPUs, because a guest with one has no use for them.
WITH_SIZE: Final = (("domain", "devices", "networkInterfaceMultiqueue"), ("domain", "devices", "blockMultiQueue"))


class TemplateVM(NamedTuple):
    """A template with one VM.

    place: its index in the list of templates. key: its VM without size, system and names. size: an
    instancetype, or in words; the same for the same size. system: "" if unknown. multiqueue: whether it is set.
    """

    place: int
    name: str
    key: str
    size: str
    system: str
    multiqueue: bool


class TemplateGroup(NamedTuple):
    """Templates that are one, in order. sizes, systems: the different ones. multiqueue: whether they differ in it."""

    members: Sequence[TemplateVM]
    sizes: Sequence[str]
    systems: Sequence[str]
    multiqueue: bool


def is_template(manifest: Manifest) -> bool:
    """Whether a manifest is a template of either kind."""
    return manifest.get("kind") in (TEMPLATE, conversion.KIND)


def groups(templates: Iterable[Manifest]) -> list[TemplateGroup]:
    """The templates with exactly one VM, each in one group, in the order of their first members."""
    by_key: dict[str, list[TemplateVM]] = {}
    for place, template in enumerate(templates):
        read = _read(place, template)
        if read is not None:
            by_key.setdefault(read.key, []).append(read)
    return [
        TemplateGroup(
            members,
            list(dict.fromkeys(member.size for member in members)),
            list(dict.fromkeys(member.system for member in members if member.system)),
            len({member.multiqueue for member in members}) > 1,
        )
        for members in by_key.values()
    ]


def size_text(vcpus: int | str, memory: str) -> str:
    """``2 vCPUs, 8Gi``"""
    return f"{vcpus} vCPU{'' if vcpus == 1 else 's'}, {memory or 'no memory'}"


def _read(place: int, template: Manifest) -> TemplateVM | None:
    listed = (
        template.get("objects") if template["kind"] == TEMPLATE else [value_at(template, ("spec", "virtualMachine"))]
    )
    objects = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    vms = [item for item in objects if item.get("kind", _VM) == _VM]
    if len(vms) != 1 or not isinstance(value_at(vms[0], (*_SPEC, "domain")), dict):
        return None
    vm, others = copy(vms[0]), [item for item in objects if item is not vms[0]]
    spec = value_at(vm, _SPEC)
    try:
        demands = guest_class.demands_of(spec)
    except (AttributeError, TypeError):
        # Only the schema of a VM says what is in lists.
        return None
    size, system = _size(vm, spec, demands), _system(vm)
    multiqueue = any(value_at(spec, path) for path in WITH_SIZE)
    for path in (*(tuple(demand.split(".")) for demand in demands), *_SIZE, *WITH_SIZE):
        remove_at(spec, path)
    for matcher_field in MATCHER_FIELDS:
        vm["spec"].pop(matcher_field.name, None)
    for named in (vm, vm["spec"]["template"]):
        named.pop("metadata", None)
    key = json.dumps([vm, others], sort_keys=True, default=str)
    return TemplateVM(place, name_of(template), key, size, system, multiqueue)


def _size(vm: Manifest, spec: Manifest, demands: Mapping[str, str]) -> str:
    matcher = INSTANCETYPE.matcher_of(vm)
    if matcher is not None:
        return str(matcher.get("name"))
    counts = [value_at(spec, ("domain", "cpu", part)) or 1 for part in _COUNTS]
    vcpus: int | str = " x ".join(map(str, counts))
    if all(isinstance(count, int) for count in counts):
        vcpus = counts[0] * counts[1] * counts[2]
    amount = value_at(spec, ("domain", "memory", "guest")) or value_at(
        spec, ("domain", "resources", "requests", "memory")
    )
    threads = [words.format(value) for path, words in _THREADS.items() if (value := value_at(spec, path))]
    return ", ".join([size_text(vcpus, _amount(amount)), *demands.values(), *map(str, threads)])


def _amount(amount: Any) -> str:
    try:
        return canonical(str(amount)) if amount else ""
    except QuantityError:
        # A reference to a parameter.
        return str(amount)


def _system(vm: Manifest) -> str:
    annotations = value_at(vm, ("spec", "template", "metadata", "annotations"))
    named = annotations.get(OS_ANNOTATION) if isinstance(annotations, Mapping) else None
    return str(named or value_at(vm, ("spec", PREFERENCE.name, "name")) or "")
