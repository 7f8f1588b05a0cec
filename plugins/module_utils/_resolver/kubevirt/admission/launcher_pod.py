"""Rules for launcher pods, which virt-controller or the API server refuses although KubeVirt has accepted the VMI.

The VMI then stays in `Starting` (FailedCreate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ...api.quantity import parse
from ..config.cluster import KubeVirt
from . import name_errors, since
from .rule import INVALID, NOT_SUPPORTED, Cause, Spec, items, quoted

_NANO: Final = 10**9
_CLAIMED_KINDS: Final = (("gpus", "GPU", "GPUsWithDRA"), ("hostDevices", "HostDevice", "HostDevicesWithDRA"))
"""Devices of nodes: the field, the noun, the feature gate of claims for them."""

DEVICES: Final = "devices.kubevirt.io/"
"""The start of the resource names of the devices of virt-handler."""

_STANDARD: Final = frozenset({"cpu", "memory", "ephemeral-storage"})


def own_devices(spec: Spec, kubevirt: KubeVirt) -> list[str]:
    """The devices that KubeVirt itself adds, each with a limit of 1, whatever the VMI has for it
    (``getRequiredResources``).
    """
    devices = spec["domain"]["devices"]
    interfaces = devices.get("interfaces", ())
    hypervisors = kubevirt.configuration.get("hypervisors") or [{}]
    mshv = kubevirt.has_gate("ConfigurableHypervisor") and hypervisors[0].get("name") == "hyperv-direct"
    emulated = kubevirt.developer_configuration.get("useEmulation")
    needed = {
        "tun": interfaces or devices.get("autoattachPodInterface", True),
        "vhost-net": not emulated and any(interface.get("model", "") in ("", "virtio") for interface in interfaces),
        "mshv" if mshv else "kvm": not emulated,
        "vhost-vsock": devices.get("autoattachVSOCK"),
    }
    return [DEVICES + name for name, is_needed in needed.items() if is_needed]


def causes(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """The causes of the API server, with the fields of the VMI and the words of Kubernetes (``ValidatePodCreate``).

    KubeVirt copies these fields into the pod as they are.

    spec: the canonical spec of the VMI. path: the position of that spec, such as `spec.template.spec`.
    """
    subdomain = spec.get("subdomain")
    if subdomain:
        yield from _invalid(f"{path}.subdomain", subdomain, *name_errors.dns_label(subdomain))
    for volume, field in items(spec, path, "volumes"):
        if "containerDisk" in volume:
            yield from _image(volume["containerDisk"].get("image", ""), f"{field}.containerDisk.image")
    for kind in ("gpus", "hostDevices"):
        for device, field in items(spec, path, f"domain.devices.{kind}"):
            if device.get("deviceName"):
                yield from _resource(device["deviceName"], f"{field}.deviceName")
    resources = spec["domain"]["resources"]
    for part in ("limits", "requests"):
        yield from _amounts(resources.get(part, {}), f"{path}.domain.resources.{part}")
    own = own_devices(spec, kubevirt)
    requests = {name: amount for name, amount in resources.get("requests", {}).items() if name not in own}
    yield from _overcommitted(requests, resources.get("limits", {}), f"{path}.domain.resources")


def not_permitted(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """The causes of virt-controller for devices that the KubeVirt object does not list
    (``validatePermittedHostDevices``).

    They end when somebody lists the device, and virt-controller tries again. Without a list, a device plugin may have
    the device.
    """
    permitted = kubevirt.permitted_devices
    if permitted is None:
        return
    for kind, noun, gate in _CLAIMED_KINDS:
        claimable = kubevirt.has_gate(gate)
        if claimable and not kubevirt.release.has(since.UNCLAIMED_PERMITTED):
            continue
        for device, field in items(spec, path, f"domain.devices.{kind}"):
            claimed = claimable and ("claimName" in device or "requestName" in device)
            name = device.get("deviceName", "")
            if not claimed and name not in permitted:
                message = f"{noun} {name} is not permitted in permittedHostDevices configuration"
                yield Cause(NOT_SUPPORTED, message, field)


def _image(image: str, field: str) -> Iterator[Cause]:
    if not image:
        yield Cause(INVALID, "Required value", field)
    elif image != image.strip():
        yield from _invalid(field, image, "must not have leading or trailing whitespace")


def _amounts(amounts: Mapping[str, str], path: str) -> Iterator[Cause]:
    for name, amount in amounts.items():
        field = f"{path}[{name}]"
        yield from _resource(name, field)
        if not _is_standard(name) and parse(amount).nanos % _NANO:
            yield from _invalid(field, amount, "must be an integer")


def _resource(name: str, field: str) -> Iterator[Cause]:
    """validateContainerResourceName."""
    if "/" in name:
        yield from _invalid(field, name, *name_errors.qualified(name))
    elif not _is_standard(name):
        yield from _invalid(field, name, "must be a standard resource for containers")


def _overcommitted(requests: Mapping[str, str], limits: Mapping[str, str], path: str) -> Iterator[Cause]:
    """Devices cannot be requested below their limits."""
    for name, amount in requests.items():
        if "/" not in name:
            continue
        if name not in limits:
            message = "Required value: Limit must be set for non overcommitable resources"
            yield Cause(INVALID, message, f"{path}.limits")
        elif parse(limits[name]) != parse(amount):
            detail = f"must be equal to {name} limit of {limits[name]}"
            yield from _invalid(f"{path}.requests", amount, detail)


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith("hugepages-")


def _invalid(field: str, value: Any, *details: str) -> Iterator[Cause]:
    for detail in details:
        yield Cause(INVALID, f"Invalid value: {quoted(value)}: {detail}", field)
