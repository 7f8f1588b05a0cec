"""The containers beside the guest's: container disks, console log, shared filesystems, hooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from ..api.quantity import parse
from .amounts import Amounts
from .container import Container
from .environment import Environment
from .traits import Spec, is_guaranteed, kernel_boot

_HOOKS: Final = "hooks.kubevirt.io/hookSidecars"
_KERNEL_BOOT: Final = "kernel-boot-volume"
_DISK_STORAGE: Final = {"ephemeral-storage": parse("50M")}


class Unreadable(ValueError):
    """The VMI's settings for its containers are invalid; one line."""


class _Type(NamedTuple):
    """The requests and limits of a type of container (as in supportContainerResources), by resource name."""

    name: str
    requests: Mapping[str, str]
    limits: Mapping[str, str]


_DISK: Final = _Type("container-disk", {"cpu": "1m", "memory": "1M"}, {"cpu": "10m", "memory": "40M"})
_DISK_BINARY: Final = _Type("container-disk", {"cpu": "10m", "memory": "1M"}, {"cpu": "100m", "memory": "40M"})
_DISK_BINARY_GUARANTEED: Final = _DISK_BINARY._replace(limits={"cpu": "10m", "memory": "40M"})
_CONSOLE_LOG: Final = _Type("guest-console-log", {"cpu": "5m", "memory": "35M"}, {"cpu": "15m", "memory": "60M"})
_FILESYSTEM: Final = _Type("virtiofs", {"cpu": "10m", "memory": "1M"}, {"cpu": "100m", "memory": "80M"})
_HOOK: Final = _Type("sidecar", {}, {})
_HOOK_GUARANTEED: Final = _HOOK._replace(limits={"cpu": "200m", "memory": "64M"})


def _container(name: str, kind: _Type, around: Environment, guaranteed: bool, restarts: bool = False) -> Container:
    """guaranteed: the requests equal the limits."""
    requests, limits = _amounts(kind, "requests", around), _amounts(kind, "limits", around)
    return Container(name, {**requests, **limits} if guaranteed else requests, limits, restarts=restarts)


def _amounts(kind: _Type, field: str, around: Environment) -> Amounts:
    given: Mapping[str, str] = getattr(kind, field)
    found = {}
    for resource in ("cpu", "memory"):
        amount = around.support(kind.name, field, resource)
        if amount is not None:
            found[resource] = amount
        elif resource in given:
            found[resource] = parse(given[resource])
    return found


def console_log(spec: Spec, around: Environment) -> Container | None:
    """The container that copies the serial console into a log."""
    devices = spec["domain"]["devices"]
    disabled = "disableSerialConsoleLog" in (around.configuration.get("virtualMachineOptions") or {})
    if not devices.get("autoattachSerialConsole", True) or not devices.get("logSerialConsole", not disabled):
        return None
    restarts = around.rules.console_log_is_sidecar
    return _container("guest-console-log", _CONSOLE_LOG, around, is_guaranteed(spec), restarts)


def disks(spec: Spec, around: Environment) -> Iterator[Container]:
    """The containers of container disks, the kernel's last; none if images are mounted as volumes."""
    if around.has_gate("ImageVolume"):
        return
    for name, _image in _images(spec):
        yield _disk(name, spec, around)


def disk_init_containers(spec: Spec, around: Environment, migrated: bool = False) -> Iterator[Container]:
    """The init containers that fetch the images of container disks.

    migrated: a migration target does not fetch images with a known digest.
    """
    images = list(_images(spec))
    if around.has_gate("ImageVolume"):
        # The kernel's container has the name of a volume too.
        named = dict(images) if migrated else {}
        yield from (_disk(name, spec, around) for name, _image in images if "@sha256:" not in named.get(name, ""))
        return
    if images:
        guaranteed = is_guaranteed(spec)
        kind = _DISK_BINARY_GUARANTEED if guaranteed else _DISK_BINARY
        yield _container("container-disk-binary", kind, around, guaranteed)
    for name, _image in images:
        yield _disk(f"{name}-init", spec, around)


def _images(spec: Spec) -> Iterator[tuple[str, str]]:
    for volume in spec.get("volumes", ()):
        if "containerDisk" in volume:
            yield volume["name"], volume["containerDisk"]["image"]
    kernel = kernel_boot(spec)
    if kernel is not None:
        yield _KERNEL_BOOT, kernel.get("image", "")


def _disk(name: str, spec: Spec, around: Environment) -> Container:
    container = _container(f"volume{name}", _DISK, around, is_guaranteed(spec))
    return container._replace(requests={**container.requests, **_DISK_STORAGE})


def filesystems(spec: Spec, around: Environment) -> Iterator[Container]:
    """The containers that share filesystems with the guest."""
    shared = {filesystem["name"] for filesystem in spec["domain"]["devices"].get("filesystems", ())}
    for volume in spec.get("volumes", ()):
        if volume["name"] in shared and "containerPath" not in volume:
            yield _container(f"virtiofs-{volume['name']}", _FILESYSTEM, around, is_guaranteed(spec))


def hooks(metadata: Mapping[str, Any], spec: Spec, around: Environment) -> list[Container]:
    """The containers of hook sidecars and network binding plugins. Raises Unreadable."""
    count = _hook_count(metadata) + _binding_sidecars(spec, around)
    guaranteed = is_guaranteed(spec)
    kind = _HOOK_GUARANTEED if guaranteed else _HOOK
    return [_container(f"hook-sidecar-{index}", kind, around, guaranteed) for index in range(count)]


def _hook_count(metadata: Mapping[str, Any]) -> int:
    text = (metadata.get("annotations") or {}).get(_HOOKS)
    if text is None:
        return 0
    try:
        listed = json.loads(text)
    except ValueError as error:
        raise Unreadable(f"the annotation {_HOOKS} is no JSON: {error}") from None
    if listed is not None and not isinstance(listed, list):
        raise Unreadable(f"the annotation {_HOOKS} is no list")
    return len(listed or ())


def _binding_sidecars(spec: Spec, around: Environment) -> int:
    interfaces = spec["domain"]["devices"].get("interfaces", ())
    names = {interface["binding"]["name"] for interface in interfaces if "binding" in interface}
    for name in sorted(names):
        if name not in around.binding_plugins:
            raise Unreadable(f"couldn't find configuration for network binding: {name}")
    return sum(bool((around.binding_plugins[name] or {}).get("sidecarImage")) for name in names)
