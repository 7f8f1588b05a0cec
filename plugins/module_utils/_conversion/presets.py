"""VirtualMachineInstancePresets applied to a new VMI (virt-api's webhook; the same in KubeVirt 1.0 to 1.9).

A preset that matches the VMI's labels gives it these parts, each as a whole and only if it lacks them: the resource
requests, CPU, firmware, clock, timers, features, watchdog and the policy of IO threads. Other fields have no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from .._resolver.api import label_selector, release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.quantity import canonical, identical, parse
from .._resolver.api.release import NEWEST, Release
from .._resolver.api.tree import copy, value_at

KIND: Final = "VirtualMachineInstancePreset"
EXCLUDE: Final = "virtualmachineinstancepresets.admission.kubevirt.io/exclude"
"""The annotation of a VMI that presets leave alone; its value is ``true``."""

_APPLIED: Final = "virtualmachinepreset.kubevirt.io/{}"
REQUESTS: Final = "resources.requests"
_WHOLE: Final = ("cpu", "firmware", "clock", "features", "devices.watchdog", "ioThreadsPolicy")
PARTS: Final = (REQUESTS, *_WHOLE)
"""The parts of a VMI's domain that presets can set."""


class PresetResult(NamedTuple):
    """A VMI after the presets.

    annotations, domain: the VMI's. matching: the names of the presets that match. conflicts: the conflicts of presets
    with each other, because of which KubeVirt refuses the VMI: (preset, other preset, fields). order_dependent: whether
    the order of presets, which is arbitrary in KubeVirt, decides about the domain; here they are ordered by name.
    """

    annotations: dict[str, str]
    domain: Manifest
    matching: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    order_dependent: bool = False


class Preset(NamedTuple):
    """A VirtualMachineInstancePreset that matches a VMI.

    domain: canonical, but with the requests as written: in KubeVirt 1 and 1000m of two presets conflict.
    """

    name: str
    domain: Manifest


def apply(metadata: Manifest, domain: Manifest, presets: Iterable[Manifest], release: Release = NEWEST) -> PresetResult:
    """Applies the presets of a VMI's namespace.

    metadata: the VMI's. domain: canonical. Both are left unchanged. Raises FieldError for a preset without domain, or
    with a wrong one.
    """
    annotations, domain = dict(metadata.get("annotations") or {}), copy(domain)
    labels = metadata.get("labels") or {}
    ordered = sorted(presets, key=name_of)
    if annotations.get(EXCLUDE) == "true":
        ordered = []
    matching = [
        parse_preset(preset, release)
        for preset in ordered
        if label_selector.matches((preset.get("spec") or {}).get("selector") or {}, labels)
    ]
    names = tuple(preset.name for preset in matching)
    conflicts = tuple(_conflicts(matching))
    if conflicts:
        return PresetResult(annotations, domain, names, conflicts)
    requests = [preset.domain["resources"]["requests"] for preset in matching if _requests(preset.domain)]
    order_dependent = not _requests(domain) and any(set(other) != set(requests[0]) for other in requests)
    for preset in matching:
        if _merge(preset.domain, domain):
            annotations[_APPLIED.format(preset.name)] = "kubevirt.io/v1"
    requested = _requests(domain)
    if requested:
        domain["resources"]["requests"] = {key: canonical(str(value)) for key, value in requested.items()}
    return PresetResult(annotations, domain, names, (), order_dependent)


def parse_preset(preset: Manifest, release: Release) -> Preset:
    """The preset. Raises FieldError for one without domain, or with a wrong domain or selector."""
    spec = preset.get("spec") or {}
    if not isinstance(spec, dict):
        raise FieldError(f"{KIND} {name_of(preset)}: spec", "expected a mapping")
    try:
        release_schema.canonical("LabelSelector", spec.get("selector") or {}, release)
    except FieldError as error:
        raise error.with_parent(f"{KIND} {name_of(preset)}: spec.selector") from None
    domain = spec.get("domain")
    if domain is None:
        raise FieldError(f"{KIND} {name_of(preset)}: spec.domain", "is missing")
    try:
        read = release_schema.canonical("DomainSpec", domain, release)
    except FieldError as error:
        raise error.with_parent(f"{KIND} {name_of(preset)}: spec.domain") from None
    if _requests(read):
        read["resources"]["requests"] = {key: str(value) for key, value in domain["resources"]["requests"].items()}
    return Preset(name_of(preset), read)


def _conflicts(presets: Sequence[Preset]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for index, preset in enumerate(presets):
        for other in presets[:index]:
            fields = tuple(_contradictions(preset.domain, other.domain))
            if fields:
                yield preset.name, other.name, fields


def _contradictions(preset: Manifest, domain: Manifest) -> Iterator[str]:
    """The parts that both set, differently."""
    requests = _requests(domain)
    for key, value in _requests(preset).items():
        if key in requests and not identical(value, str(requests[key])):
            yield f"{REQUESTS}.{key}"
    for part in _WHOLE:
        preset_value, other = value_at(preset, part.split(".")), value_at(domain, part.split("."))
        if preset_value is None or other is None or preset_value == other:
            continue
        if part != "clock":
            yield part
            continue
        if _offset(preset_value) != _offset(other):
            yield "clock"
        if "timer" in preset_value and "timer" in other and preset_value["timer"] != other["timer"]:
            yield "clock.timer"


def _merge(preset: Manifest, domain: Manifest) -> bool:
    """Gives the domain the parts of the preset that it lacks. Returns whether any part is the preset's now."""
    applied = False
    requests = _requests(preset)
    if requests:
        if not _requests(domain):
            domain.setdefault("resources", {})["requests"] = dict(requests)
        applied = _amounts(_requests(domain)) == _amounts(requests)
    for part in _WHOLE:
        value = value_at(preset, part.split("."))
        if value is None:
            continue
        holder, _dot, name = part.rpartition(".")
        inside = domain.setdefault(holder, {}) if holder else domain
        if name not in inside:
            inside[name] = copy(_offset(value) if name == "clock" else value)
        applied = applied or inside[name] == value
        if name == "clock" and "timer" in value:
            inside[name].setdefault("timer", copy(value["timer"]))
            applied = applied or inside[name]["timer"] == value["timer"]
    return applied


def _amounts(requests: Manifest) -> dict[str, int]:
    return {key: parse(str(value)).nanos for key, value in requests.items()}


def _offset(clock: Manifest) -> Manifest:
    return {key: value for key, value in clock.items() if key != "timer"}


def _requests(domain: Manifest) -> Manifest:
    return (domain.get("resources") or {}).get("requests") or {}
