"""Instancetypes of a catalog as sizes with a class, and new ones as a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, count
from typing import Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from .._resolver.api.state import is_active
from .._resolver.choose.sizes import memory_text
from .machine import GIB, MIB, without_absent
from .sizes import MachineNeed

# No machine of a source asks for these fields; a type with them serves only machines that the rules give it.
_SPECIAL_CPU: Final = ("isolateEmulatorThread", "numa", "realtime", "model")
_SPECIAL: Final = ("gpus", "hostDevices", "launchSecurity", "nodeSelector", "schedulerName")
# KubeVirt's limit for a guest with one core in each socket.
_MOST_SOCKETS: Final = 512


class SizeClass(NamedTuple):
    """The class of machines that may share a size: dedicated CPUs, and the size of huge pages, "" for none."""

    dedicated: bool = False
    hugepages: str = ""


class Size(NamedTuple):
    """An instancetype. special: whether it has what no machine asks for. new: whether it is proposed."""

    name: str
    vcpus: int
    memory: int
    size_class: SizeClass
    manifest: Manifest
    overcommitted: bool = False
    special: bool = False
    new: bool = False

    @property
    def meaning(self) -> tuple[SizeClass, int, int, bool]:
        """The values that decide whether a machine fits; of two sizes with equal values, either will do."""
        return self.size_class, self.vcpus, self.memory, self.special


def sizes_of(manifests: Iterable[Manifest], series: str, release: Release) -> dict[str, Size]:
    """The active cluster-wide instancetypes by name, without the series that an earlier run proposed."""
    return {
        name_of(manifest): _size(name_of(manifest), spec, manifest)
        for manifest, spec in _active(manifests, INSTANCETYPE, release)
        if not name_of(manifest).startswith((f"{series}.", f"{series}-"))
    }


def preferences_of(manifests: Iterable[Manifest], release: Release) -> dict[str, Manifest]:
    """The canonical specs of the active cluster-wide preferences by name."""
    return {name_of(manifest): spec for manifest, spec in _active(manifests, PREFERENCE, release)}


def _active(
    manifests: Iterable[Manifest], field: MatcherField, release: Release
) -> Iterator[tuple[Manifest, Manifest]]:
    """The active cluster-wide objects that a cluster would store, with their canonical specs."""
    for manifest in manifests:
        if manifest.get("kind") == field.cluster_kind and is_active(manifest):
            with suppress(FieldError):
                yield manifest, release_schema.canonical(field.spec_type, manifest.get("spec"), release)


def _size(name: str, spec: Manifest, manifest: Manifest) -> Size:
    cpu, memory = spec["cpu"], spec["memory"]
    pages = (memory.get("hugepages") or {}).get("pageSize") or ""
    special = any(cpu.get(field) for field in _SPECIAL_CPU) or any(spec.get(field) is not None for field in _SPECIAL)
    return Size(
        name,
        cpu["guest"],
        parse(memory["guest"]).value,
        SizeClass(bool(cpu.get("dedicatedCPUPlacement")), pages),
        manifest,
        bool(memory.get("overcommitPercent")),
        special,
    )


def new_size(series: str, need: MachineNeed, headroom: int, known: Mapping[str, Size]) -> Size:
    """A size of the series of its class, with a name such as ``estate.4c-8g`` or ``estate-dedicated-1gi.2c-9g``.

    known: sizes by name, which keep what they are; a name that has another meaning there gets a number.
    """
    (size_class, vcpus), memory = need
    wanted = f"{series}{'-' if size_class != SizeClass() else '.'}{need_text(need)}"
    names = chain([wanted], (f"{wanted}-{number}" for number in count(2)))
    meaning = (size_class, vcpus, memory, False)
    name = next(name for name in names if name not in known or known[name].meaning == meaning)
    manifest = manifest_of(name, vcpus, memory, size_class, headroom)
    return known.get(name) or Size(name, vcpus, memory, size_class, manifest, new=True)


def need_text(need: MachineNeed) -> str:
    """The need as a text that no other has: ``4c-8g``, ``dedicated-1gi.2c-9g``."""
    (size_class, vcpus), memory = need
    whole, unit = (GIB, "g") if memory % GIB == 0 else (MIB, "m")
    amounts = f"{vcpus}c-{memory // whole}{unit}"
    parts = filter(None, ("dedicated" if size_class.dedicated else "", size_class.hugepages.lower()))
    return ".".join(filter(None, ("-".join(parts), amounts)))


def remembered_sizes(specs: Mapping[str, Manifest], release: Release) -> dict[str, Size]:
    """Sizes that an earlier run proposed, by their specs."""
    manifests = [_manifest(name, spec) for name, spec in specs.items()]
    return {
        name_of(manifest): _size(name_of(manifest), spec, manifest)._replace(new=True)
        for manifest, spec in _active(manifests, INSTANCETYPE, release)
    }


def manifest_of(name: str, vcpus: int, memory: int, size_class: SizeClass, headroom: int = 0) -> Manifest:
    """The manifest of an instancetype.

    headroom: how many times as large a guest may become while it runs; below 2 for the cluster's default. KubeVirt
    plugs neither dedicated CPUs nor huge pages, and memory only into guests of 1 GiB or more.
    """
    grows = headroom > 1 and size_class == SizeClass()
    spec = {
        "cpu": {
            "guest": vcpus,
            "dedicatedCPUPlacement": size_class.dedicated or None,
            "maxSockets": max(vcpus, min(vcpus * headroom, _MOST_SOCKETS)) if grows else None,
        },
        "memory": {
            "guest": memory_text(memory),
            "hugepages": {"pageSize": size_class.hugepages},
            "maxGuest": memory_text(memory * headroom) if grows and memory >= GIB else None,
        },
    }
    return _manifest(name, without_absent(spec))


def _manifest(name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": API_VERSION, "kind": INSTANCETYPE.cluster_kind, "metadata": {"name": name}, "spec": spec}


def catalog_of(sizes: Iterable[Size]) -> Manifest:
    """New instancetypes as a catalog in the language of the role common_instancetypes."""
    series: dict[str, Manifest] = {}
    for size in sorted(sizes, key=lambda size: (size.size_class, size.vcpus, size.memory)):
        name, _dot, key = size.name.partition(".")
        cpu, memory = size.manifest["spec"]["cpu"], size.manifest["spec"]["memory"]
        common = {
            "display_name": "Sizes of the estate",
            "description": "Sizes of the machines that were brought, where no other instancetype is near",
            "hugepages": size.size_class.hugepages,
            "spec": {"cpu": {"dedicatedCPUPlacement": cpu.get("dedicatedCPUPlacement")}},
        }
        entry = {
            "cpu": cpu["guest"],
            "memory": memory["guest"],
            "max_sockets": cpu.get("maxSockets"),
            "spec": {"memory": {"maxGuest": memory.get("maxGuest")}},
        }
        series.setdefault(name, {**without_absent(common), "sizes": {}})["sizes"][key] = without_absent(entry)
    return {"series": series}
