"""What a person decides about an estate: bounds, maps and exceptions, as written in one YAML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._resolver.api import name_rules
from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import did_you_mean, quoted

_POD: Final = "pod"
_ACCESS_MODES: Final = ("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")
_VDDK: Final = ("url", "thumbprint", "secret_ref", "init_image_url")
_FORKLIFT: Final = ("namespace", "source_provider", "destination_provider")
_EXCEPTION: Final = ("instancetype", "preference", "name", "namespace", "skip")


class Rules(NamedTuple):
    """The rules. The names of the fields are the keys of the file.

    waste: the most additional vCPUs and memory in sum, a share. new_sizes: the most new sizes; None for as few as keep
    each machine under `waste`. storage: datastore → options of a volume. networks: network → `pod`, a
    NetworkAttachmentDefinition, or None to leave out. devices: the source's text → `{gpu: NAME}` or
    `{host_device: NAME}`. preferences: pairs of a pattern and a preference, before the built-in table. machines:
    exceptions by id or name. headroom: how many times as large as at the start a guest may become; 0 for the
    cluster's default. spare: what is added to measured use, a share.
    """

    waste: Fraction = Fraction(15, 100)
    new_sizes: int | None = None
    series: str = "estate"
    overcommit: bool = False
    headroom: int = 2
    rightsize: bool = False
    spare: Fraction = Fraction(20, 100)
    start: bool = False
    keep_macs: bool = False
    virtio_drivers: bool = False
    namespace: str = "default"
    namespaces: Mapping[str, str] = {}
    storage: Mapping[str, Mapping[str, Any]] = {}
    networks: Mapping[str, str | None] = {}
    devices: Mapping[str, Mapping[str, str]] = {}
    preferences: tuple[tuple[str, str], ...] = ()
    machines: Mapping[str, Mapping[str, Any]] = {}
    vddk: Mapping[str, str] = {}
    forklift: Mapping[str, str] = {}

    def namespace_of(self, folder: str) -> str:
        """The namespace of the machines in a folder: the first pattern that matches counts."""
        found = (name for pattern, name in self.namespaces.items() if fnmatchcase(folder, pattern))
        return next(found, self.namespace)


def rules_of(value: Any) -> Rules:
    """The checked rules of a file; None for none. Raises FieldError, which names the key."""
    if value is None:
        return Rules()
    if not isinstance(value, Mapping):
        raise FieldError("rules", f"expected a dictionary, found {quoted(value)}")
    given: dict[str, Any] = {}
    for key, entry in value.items():
        if key not in _CHECKS:
            raise FieldError(f"rules.{key}", f"is not a rule{did_you_mean(key, _CHECKS)}")
        if entry is None:
            continue
        try:
            given[key] = _CHECKS[key](entry)
        except FieldError as error:
            raise error.with_parent(f"rules.{key}") from None
    return Rules(**given)


def _percent(value: Any) -> Fraction:
    text = str(value).strip().removesuffix("%").strip()
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", text, re.ASCII):
        raise FieldError("", f"expected percent, such as 15, found {quoted(value)}")
    return Fraction(text) / 100


def _count(value: Any) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch("[0-9]{1,5}", text, re.ASCII):
        raise FieldError("", f"expected a whole number, found {quoted(value)}")
    return int(text)


def _sizes(value: Any) -> int | None:
    """0 is the default, for variables that are set."""
    return _count(value) or None


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise FieldError("", f"expected true or false, found {quoted(value)}")
    return value


def _rightsize(value: Any) -> bool:
    if value not in ("p95", False):
        raise FieldError("", f"expected p95, found {quoted(value)}; leave it out to keep the sizes of the source")
    return bool(value)


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise FieldError("", f"expected a name, found {quoted(value)}")
    problem = name_rules.subdomain(value)
    if problem or not value:
        raise FieldError("", f"{quoted(value)} {problem or 'is empty'}")
    return value


def _namespace(value: Any) -> str:
    problem = name_rules.label(value) if isinstance(value, str) else "is no name"
    if problem:
        raise FieldError("", f"{quoted(value)} {problem}")
    return str(value)


def _entries(value: Any, check: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise FieldError("", f"expected a dictionary, found {quoted(value)}")
    result = {}
    for key, entry in value.items():
        try:
            result[str(key)] = check(entry)
        except FieldError as error:
            raise error.with_parent(f"[{key}]") from None
    return result


def _volume(value: Any) -> dict[str, Any]:
    """A storage class, or options of the volume."""
    if isinstance(value, str):
        return {"storage_class": _name(value)}
    entries = _chosen(value, ("storage_class", "access_modes", "volume_mode"))
    modes = entries.get("access_modes", [])
    if not isinstance(modes, (list, tuple)) or not set(modes) <= set(_ACCESS_MODES):
        raise FieldError("access_modes", f"expected a list of {', '.join(_ACCESS_MODES)}, found {quoted(modes)}")
    if entries.get("volume_mode", "Block") not in ("Block", "Filesystem"):
        raise FieldError("volume_mode", f"{quoted(entries['volume_mode'])} is not one of Block, Filesystem")
    if "storage_class" in entries:
        _name(entries["storage_class"])
    return entries


def _network(value: Any) -> str | None:
    if value in (None, "", "ignored"):
        return None
    if not isinstance(value, str) or any(map(name_rules.subdomain, value.split("/", 1))):
        raise FieldError("", f"expected pod, ignored, NAME or NAMESPACE/NAME, found {quoted(value)}")
    return value


def _device(value: Any) -> dict[str, str]:
    entries = _chosen(value, ("gpu", "host_device"))
    if len(entries) != 1 or not isinstance(next(iter(entries.values())), str):
        raise FieldError("", f"expected gpu or host_device with the name of a device, found {quoted(value)}")
    return entries


def _preferences(value: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, (list, tuple)):
        raise FieldError("", f"expected a list, found {quoted(value)}")
    pairs = []
    for index, entry in enumerate(value):
        try:
            fields = _chosen(entry, ("match", "preference"))
            re.compile(str(fields.get("match")))
        except re.error as error:
            raise FieldError(f"[{index}].match", f"{quoted(fields['match'])} is no pattern: {error}") from None
        except FieldError as error:
            raise error.with_parent(f"[{index}]") from None
        if len(fields) != 2:
            raise FieldError(f"[{index}]", "needs match and preference")
        pairs.append((str(fields["match"]), str(fields["preference"])))
    return tuple(pairs)


def _exception(value: Any) -> dict[str, Any]:
    entries = _chosen(value, _EXCEPTION)
    for field in ("instancetype", "preference", "name", "namespace"):
        if field in entries:
            check = _name if field in ("instancetype", "preference") else _namespace
            try:
                check(entries[field])
            except FieldError as error:
                raise error.with_parent(field) from None
    if not isinstance(entries.get("skip", False), bool):
        raise FieldError("skip", f"expected true or false, found {quoted(entries['skip'])}")
    return entries


def _chosen(value: Any, keys: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise FieldError("", f"expected a dictionary, found {quoted(value)}")
    for key in value:
        if key not in keys:
            raise FieldError(str(key), f"is unknown{did_you_mean(key, keys)}")
    return {str(key): entry for key, entry in value.items() if entry is not None}


_CHECKS: Final[Mapping[str, Any]] = {
    "waste": _percent,
    "new_sizes": _sizes,
    "series": _namespace,
    "overcommit": _flag,
    "headroom": _count,
    "rightsize": _rightsize,
    "spare": _percent,
    "start": _flag,
    "keep_macs": _flag,
    "virtio_drivers": _flag,
    "namespace": _namespace,
    "namespaces": lambda value: _entries(value, _namespace),
    "storage": lambda value: _entries(value, _volume),
    "networks": lambda value: _entries(value, _network),
    "devices": lambda value: _entries(value, _device),
    "preferences": _preferences,
    "machines": lambda value: _entries(value, _exception),
    "vddk": lambda value: _chosen(value, _VDDK),
    "forklift": lambda value: _chosen(value, _FORKLIFT),
}


def is_pod(network: str) -> bool:
    """Whether a network of the map is the pod network."""
    return network == _POD
