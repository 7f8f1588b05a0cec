"""Rules for launcher pods, which virt-controller or the API server refuses although KubeVirt has accepted the VMI.

The VMI then stays in `Starting` (FailedCreate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ...api import behaviour
from ...api.name_rules import label, label_key, quoted
from ...api.quantity import parse
from ..cluster import KubeVirt
from .rows import Group, Place, Row, conforms
from .rule import INVALID, Cause, Spec, items

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
    """The causes of the API server, with the fields of the VMI (``ValidatePodCreate``).

    KubeVirt copies these fields into the pod as they are.

    spec: the canonical spec of the VMI. path: the position of that spec, such as `spec.template.spec`.
    """
    yield from _COPIED(spec, path, kubevirt)
    resources = spec["domain"]["resources"]
    for part in ("limits", "requests"):
        for name, amount in resources.get(part, {}).items():
            problem = _resource(name) or _amount(name, amount)
            if problem:
                yield Cause(INVALID, problem, f"{path}.domain.resources.{part}[{name}]")
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
        if claimable and not kubevirt.release.has(behaviour.UNCLAIMED_PERMITTED):
            continue
        for device, field in items(spec, path, f"domain.devices.{kind}"):
            claimed = claimable and ("claimName" in device or "requestName" in device)
            name = device.get("deviceName", "")
            if not claimed and name not in permitted:
                message = f"{noun} {name} is not permitted in permittedHostDevices configuration"
                yield Cause(INVALID, message, field)


def _image(image: str | None, _place: Place) -> str:
    if not image:
        return "is missing; set it"
    return "" if image == image.strip() else f"{quoted(image)} begins or ends with a space; remove it"


def _resource(name: str) -> str:
    """validateContainerResourceName."""
    problem = label_key(name) if "/" in name else "" if _is_standard(name) else "needs a domain, such as example.com/"
    return f"{quoted(name)} {problem}" if problem else ""


def _amount(name: str, amount: str) -> str:
    broken = not _is_standard(name) and parse(amount).nanos % _NANO
    return f"{name} must be a whole number, not {amount}" if broken else ""


def _device(name: str, _place: Place) -> str:
    return _resource(name) if name else ""


_COPIED: Final = Group(
    "",
    Row("subdomain", lambda name, place: conforms(label)(name, place) if name else ""),
    Group("volumes[]", Group("containerDisk", Row("image", _image, absent=True))),
    Group("domain.devices.gpus[]", Row("deviceName", _device)),
    Group("domain.devices.hostDevices[]", Row("deviceName", _device)),
)


def _overcommitted(requests: Mapping[str, str], limits: Mapping[str, str], path: str) -> Iterator[Cause]:
    """Devices cannot be requested below their limits."""
    for name, amount in requests.items():
        if "/" not in name:
            continue
        if name not in limits:
            yield Cause(INVALID, f"limits lacks {name}, which is requested; set the same there", f"{path}.limits")
        elif parse(limits[name]) != parse(amount):
            yield Cause(INVALID, f"{name} must equal its limit of {limits[name]}, not {amount}", f"{path}.requests")


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith("hugepages-")
