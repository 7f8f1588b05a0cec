"""The devices and resource claims of the compute container."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .environment import Environment
from .traits import Spec, has_sev, has_snp, has_tdx

_PREFIX: Final = "devices.kubevirt.io/"
_MSHV: Final = "hyperv-direct"
_PERMITTED: Final = ("pciHostDevices", "mediatedDevices", "usb")
_GATES: Final = (("gpus", "GPU", "GPUsWithDRA"), ("hostDevices", "HostDevice", "HostDevicesWithDRA"))


class UnknownNetwork(LookupError):
    """A network attachment definition does not exist; the message is KubeVirt's."""


def needed(spec: Spec, env: Environment) -> list[str]:
    """The devices that KubeVirt itself adds, each with a limit of 1."""
    devices = spec["domain"]["devices"]
    interfaces = devices.get("interfaces", ())
    names = []
    if interfaces or devices.get("autoattachPodInterface", True):
        names.append("tun")
    if not env.emulated:
        if any(interface.get("model", "") in ("", "virtio") for interface in interfaces):
            names.append("vhost-net")
        names.append(_hypervisor(env))
    if devices.get("autoattachVSOCK"):
        names.append("vhost-vsock")
    return [_PREFIX + name for name in names]


def _hypervisor(env: Environment) -> str:
    configured = env.configuration.get("hypervisors") or ()
    if env.has_gate("ConfigurableHypervisor") and configured and configured[0].get("name") == _MSHV:
        return "mshv"
    return "kvm"


def plugged(namespace: str, spec: Spec, env: Environment) -> Iterator[str]:
    """The resource name of each further device, once for each request; for requests and limits.

    Raises UnknownNetwork if networks are known, but not this network.
    """
    yield from _networks(namespace, spec, env)
    for field, _kind, _gate in _GATES:
        for device in spec["domain"]["devices"].get(field, ()):
            name = device.get("deviceName", "")
            if not _has_claim(device) and (name or env.rules.nameless_devices):
                yield name
    if has_sev(spec) or (has_snp(spec) and env.rules.sev_device_of_snp):
        yield f"{_PREFIX}sev"
    if has_tdx(spec) and env.rules.has_tdx_device:
        yield f"{_PREFIX}tdx"
    if any((disk.get("lun") or {}).get("reservation") for disk in spec["domain"]["devices"].get("disks", ())):
        yield f"{_PREFIX}pr-helper"
    if env.has_gate("IOMMUFD"):
        yield f"{_PREFIX}iommufd"


def _networks(namespace: str, spec: Spec, env: Environment) -> Iterator[str]:
    if env.networks is None or env.has_gate("ExternalNetResourceInjection"):
        return
    attachments = {network["name"]: network["multus"] for network in spec.get("networks", ()) if "multus" in network}
    for multus in attachments.values():
        name = multus["networkName"]
        qualified = name if "/" in name else f"{namespace}/{name}"
        resource = env.networks.get(qualified, env.networks.get(qualified.removeprefix(f"{namespace}/")))
        if resource is None:
            raise UnknownNetwork(f"failed to locate network attachment definition {qualified}")
        if resource:
            yield resource


def _has_claim(device: Spec) -> bool:
    return "claimName" in device or "requestName" in device


def claims(spec: Spec, env: Environment) -> list[dict[str, str]]:
    """The claims of the compute container: [{name, request}]."""
    requests: list[dict[str, str]] = []
    for field, _kind, gate in _GATES:
        devices = spec["domain"]["devices"].get(field, ())
        if env.has_gate(gate):
            requests += [_claim(device) for device in devices if _has_claim(device) and not device.get("deviceName")]
    if env.has_gate("NetworkDevicesWithDRA"):
        networks = spec.get("networks", ())
        requests += [_claim(network["resourceClaim"]) for network in networks if "resourceClaim" in network]
    if env.rules.claims_need_request:
        requests = [claim for claim in requests if claim["name"] and "request" in claim]
    if env.rules.claims_once:
        requests = list({claim["name"]: claim for claim in reversed(requests)}.values())[::-1]
    return requests


def _claim(reference: Spec) -> dict[str, str]:
    request = reference.get("requestName")
    return {"name": reference.get("claimName", ""), **({"request": request} if request else {})}


def not_permitted(spec: Spec, env: Environment) -> list[str]:
    """KubeVirt's messages for devices that are not in the cluster's permittedHostDevices."""
    permitted = env.configuration.get("permittedHostDevices")
    if permitted is None:
        return []
    permitted_names = {entry.get("resourceName", "") for field in _PERMITTED for entry in permitted.get(field) or ()}
    problems = []
    for field, kind, gate in _GATES:
        for device in spec["domain"]["devices"].get(field, ()):
            claimed = env.has_gate(gate) and (_has_claim(device) or not env.rules.checks_claimed_devices)
            name = device.get("deviceName", "")
            if not claimed and name not in permitted_names:
                problems.append(f"{kind} {name} is not permitted in permittedHostDevices configuration")
    return problems
