"""The decisions of a person about an estate: bounds, maps and exceptions, in one YAML file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted
from .shapes import amount, checked, checked_at, label, name, pattern, text

# The pod network, as the map of networks names it.
POD: Final = "pod"
_IGNORED: Final = (None, "", "ignored")
_ACCESS_MODES: Final = ("ReadWriteOnce", "ReadWriteMany", "ReadOnlyMany", "ReadWriteOncePod")


class Rules(NamedTuple):
    """The rules. The names of the fields are the keys of the file.

    waste: the most additional vCPUs and memory in sum, a share. new_sizes: the most new sizes; 0 for as few as keep
    each machine under `waste`. storage: datastore → options of a volume. networks: network → `pod`, a
    NetworkAttachmentDefinition, or None to leave out. devices: the source's text → `{gpu: NAME}` or
    `{host_device: NAME}`. preferences: patterns before the built-in table. machines: exceptions by id or name.
    headroom: how many times as large as at the start a guest may become; 0 for the cluster's default. spare: the share
    that is added to measured use. team_label: the VM label with the team; without it, the namespace is the team.
    """

    waste: Fraction = Fraction(15, 100)
    new_sizes: int = 0
    series: str = "estate"
    overcommit: bool = False
    headroom: int = 2
    rightsize: str = ""
    spare: Fraction = Fraction(20, 100)
    team_label: str = "team"
    start: bool = False
    keep_macs: bool = False
    virtio_drivers: bool = False
    namespace: str = "default"
    namespaces: Mapping[str, str] = {}
    storage: Mapping[str, Mapping[str, Any]] = {}
    networks: Mapping[str, str | None] = {}
    devices: Mapping[str, Mapping[str, str]] = {}
    preferences: tuple[Mapping[str, str], ...] = ()
    machines: Mapping[str, Mapping[str, Any]] = {}
    vddk: Mapping[str, str] = {}
    forklift: Mapping[str, str] = {}

    @property
    def all_namespaces(self) -> set[str]:
        """The namespaces that VMs of the estate may be in."""
        own = (rule["namespace"] for rule in self.machines.values() if "namespace" in rule)
        return {self.namespace, *self.namespaces.values(), *own}

    def exception_of(self, *keys: str) -> tuple[str, Mapping[str, Any]]:
        """(the first key with a rule for machines, the rule); empty ones if none has."""
        return next(((key, self.machines[key]) for key in keys if self.machines.get(key)), ("", {}))

    def namespace_of(self, folder: str) -> str:
        """The namespace of the machines in a folder: the first pattern that matches counts."""
        found = (name for pattern, name in self.namespaces.items() if fnmatchcase(folder, pattern))
        return next(found, self.namespace)


def rules_of(value: Any) -> Rules:
    """The checked rules of a file; None for none. Raises FieldError, which names the key."""
    return Rules(**checked_at("rules", {} if value is None else value, _SHAPE))


def _percent(value: Any) -> Fraction:
    written = str(value).strip().removesuffix("%").strip()
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", written, re.ASCII):
        raise FieldError("", f"expected percent, such as 15, found {quoted(value)}")
    return Fraction(written) / 100


def _volume(value: Any) -> dict[str, Any]:
    """A storage class, or options of the volume."""
    shape = {"storage_class": name, "access_modes": [_ACCESS_MODES], "volume_mode": ("Block", "Filesystem")}
    return dict(checked({"storage_class": value} if isinstance(value, str) else value, shape))


def _network(value: Any) -> str | None:
    if value in _IGNORED:
        return None
    for part in text(value).split("/", 1):
        name(part)
    return str(value)


def _device(value: Any) -> dict[str, str]:
    entries = checked(value, {"gpu": text, "host_device": text})
    if len(entries) != 1:
        raise FieldError("", f"expected gpu or host_device, found {quoted(value)}")
    return dict(entries)


def _preference(value: Any) -> dict[str, str]:
    entries = checked(value, {"match": pattern, "preference": name})
    if len(entries) != 2:
        raise FieldError("", "needs match and preference")
    return dict(entries)


_SHAPE: Final[Mapping[str, Any]] = {
    "waste": _percent,
    "new_sizes": amount,
    "series": label,
    "headroom": amount,
    "rightsize": ("", "p95"),
    "spare": _percent,
    "team_label": text,
    **dict.fromkeys(("overcommit", "start", "keep_macs", "virtio_drivers"), bool),
    "namespace": label,
    "namespaces": {"*": label},
    "storage": {"*": _volume},
    "networks": {"*": _network},
    "devices": {"*": _device},
    "preferences": [_preference],
    "machines": {"*": {"instancetype": name, "preference": name, "name": label, "namespace": label, "skip": bool}},
    "vddk": dict.fromkeys(("url", "thumbprint", "secret_ref", "init_image_url"), text),
    "forklift": dict.fromkeys(("namespace", "source_provider", "destination_provider"), name),
}
