"""Instancetypes of a catalog as sizes with a class, and new ones as a catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, name_of
from .._resolver.api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, MatcherField
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from .._resolver.api.state import is_active
from .machine import GIB, MIB, Machine, size_text, without_absent

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
    """An instancetype. hot: whether a machine that has it could be enlarged while it ran."""

    name: str
    vcpus: int
    memory: int
    size_class: SizeClass
    overcommitted: bool = False
    special: bool = False
    manifest: Manifest | None = None
    hot: bool = False


def class_of(machine: Machine) -> SizeClass:
    """The class that a machine needs."""
    return SizeClass(machine["reserved"].get("cpu") is True, machine.get("hugepages") or "")


def sizes_of(manifests: Iterable[Manifest], series: str, release: Release) -> list[Size]:
    """The active cluster-wide instancetypes, without those of the series that an earlier run proposed."""
    return sorted(
        _size(name_of(manifest), spec, manifest)
        for manifest, spec in _active(manifests, INSTANCETYPE, release)
        if not name_of(manifest).startswith((f"{series}.", f"{series}-"))
    )


def preferences_of(manifests: Iterable[Manifest], release: Release) -> dict[str, Manifest]:
    """The canonical specs of the active cluster-wide preferences by name."""
    return {name_of(manifest): spec for manifest, spec in _active(manifests, PREFERENCE, release)}


def _active(
    manifests: Iterable[Manifest], field: MatcherField, release: Release
) -> Iterator[tuple[Manifest, Manifest]]:
    """The active cluster-wide objects with their canonical specs; without those that no cluster stores."""
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
        bool(memory.get("overcommitPercent")),
        special,
        manifest,
    )


def waste_of(size: Size, vcpus: int, memory: int) -> Fraction:
    """The additional vCPUs and memory of a machine with a size in sum, each as a share of what it needs."""
    return Fraction(size.vcpus - vcpus, vcpus) + Fraction(size.memory - memory, memory)


def new_size(series: str, size_class: SizeClass, vcpus: int, memory: int, hot: bool) -> Size:
    """A size with the name ``estate.4c-8g``, of the series of its class."""
    whole, unit = (GIB, "g") if memory % GIB == 0 else (MIB, "m")
    return Size(f"{series_of(series, size_class)}.{vcpus}c-{memory // whole}{unit}", vcpus, memory, size_class, hot=hot)


def series_of(series: str, size_class: SizeClass) -> str:
    """The series of a class: ``estate``, ``estate-dedicated``, ``estate-dedicated-1gi``."""
    dedicated = "dedicated" if size_class.dedicated else ""
    return "-".join(filter(None, [series, dedicated, size_class.hugepages.lower()]))


def _limits(size: Size, headroom: int) -> tuple[int | None, str | None]:
    """(the most sockets, the most memory) of a guest that can be enlarged; None for the cluster's default.

    KubeVirt plugs neither dedicated CPUs nor huge pages, and memory only into guests of 1 GiB or more.
    """
    if not size.hot or headroom < 2 or size.size_class != SizeClass():
        return None, None
    sockets = max(size.vcpus, min(size.vcpus * headroom, _MOST_SOCKETS))
    return sockets, size_text(size.memory * headroom) if size.memory >= GIB else None


def manifest_of(size: Size, headroom: int) -> Manifest:
    """The manifest of a new instancetype. headroom: how many times as large a guest may become that can be enlarged."""
    sockets, guest = _limits(size, headroom)
    dedicated, pages = size.size_class
    spec = {
        "cpu": {"guest": size.vcpus, "dedicatedCPUPlacement": dedicated or None, "maxSockets": sockets},
        "memory": {"guest": size_text(size.memory), "hugepages": {"pageSize": pages}, "maxGuest": guest},
    }
    return {
        "apiVersion": API_VERSION,
        "kind": INSTANCETYPE.cluster_kind,
        "metadata": {"name": size.name},
        "spec": without_absent(spec),
    }


def catalog_of(sizes: Iterable[Size], headroom: int) -> Manifest:
    """New instancetypes as a catalog in the language of the role common_instancetypes."""
    series: dict[str, Manifest] = {}
    for size in sorted(sizes, key=lambda size: (size.size_class, size.vcpus, size.memory)):
        name, _dot, key = size.name.partition(".")
        sockets, guest = _limits(size, headroom)
        dedicated, pages = size.size_class
        common = {
            "display_name": "Sizes of the estate",
            "description": "Sizes of the machines that were brought, where no other instancetype is near",
            "hugepages": pages,
            "spec": {"cpu": {"dedicatedCPUPlacement": dedicated or None}},
        }
        entry = {
            "cpu": size.vcpus,
            "memory": size_text(size.memory),
            "max_sockets": sockets,
            "spec": {"memory": {"maxGuest": guest}},
        }
        series.setdefault(name, {**without_absent(common), "sizes": {}})["sizes"][key] = without_absent(entry)
    return {"series": series}
