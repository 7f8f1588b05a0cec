"""Devices and networks through resource claims (pkg/dra/admitter, pkg/network/admitter)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from ...api import behaviour
from ...api.name_rules import label, quoted, subdomain
from ..cluster import KubeVirt
from .rows import Group, Place, Row, conforms, exactly_one, gate, required, unique
from .rule import INVALID, Cause, Spec

_NETWORK_GATE: Final = "NetworkDevicesWithDRA"

Request = tuple[str, str]
"""The names of a VM's claim and of a request in it."""


def _claimed_networks(networks: list[Spec], place: Place) -> str:
    """validateNetworkDevicesWithDRA, before it looks at each network."""
    if not any("resourceClaim" in network for network in networks):
        return ""
    if any("multus" in network for network in networks):
        return _needs_gate({}, place) or "has networks of claims and of Multus; keep one kind"
    return _needs_gate({}, place)


_needs_gate: Final = gate(_NETWORK_GATE)


def _may_have_claim(place: Place) -> bool:
    mixed = any("multus" in network for network in place.entries)
    return "resourceClaim" in place.entry and not mixed and place.kubevirt.has_gate(_NETWORK_GATE)


def _claimed_binding(name: str, place: Place) -> str:
    """validateDRANetworkInterfaceBinding."""
    interfaces = place.spec["domain"]["devices"].get("interfaces", ())
    interface = next((interface for interface in interfaces if interface["name"] == name), None)
    wrong = interface is not None and "sriov" not in interface and "binding" not in interface
    return f"{quoted(name)} is a network of a claim; give its interface sriov or binding" if wrong else ""


def _is_claim(claim: Spec, place: Place) -> str:
    """validateDRANetworkClaimReference."""
    name = claim.get("claimName", "")
    missing = name and claim.get("requestName") and name not in place.named("resourceClaims")
    return f"{quoted(name)} is not in resourceClaims; add it there" if missing else ""


def _is_first(claim: Spec, place: Place) -> str:
    """validateDRAClaimRequestUniqueness."""
    request = _request(claim)
    repeated = request in [_request(network.get("resourceClaim") or {}) for network in place.entries[: place.index]]
    return f"{_shown(request)} is requested twice; remove one" if request and repeated else ""


NETWORKS: Final = Group(
    "",
    Row("networks", _claimed_networks),
    Group(
        "networks[]",
        Row("name", _claimed_binding, at="{spec}.domain.devices.interfaces"),
        Group("resourceClaim", required("claimName"), required("requestName")),
        Row("resourceClaim", _is_claim, at="{entry}.resourceClaim.claimName"),
        Row("resourceClaim", _is_first, at="{entry}"),
        when=_may_have_claim,
    ),
)


def _names(spec: Spec) -> set[str]:
    return {claim["name"] for claim in spec.get("resourceClaims", ())}


def _request(device: Spec) -> Request | None:
    claim, request = device.get("claimName"), device.get("requestName")
    return (claim, request) if claim and request else None


def _shown(request: Request | None) -> str:
    return quoted("/".join(request or ()))


class _Kind(NamedTuple):
    """A kind of devices.

    field: its list in `devices`. gate: the feature gate for claims. mixes: some may have claims, others none.
    """

    field: str
    gate: str
    mixes: bool


_KINDS: Final = (_Kind("gpus", "GPUsWithDRA", False), _Kind("hostDevices", "HostDevicesWithDRA", True))


def resource_claims(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCreationDRA."""
    if not kubevirt.release.has(behaviour.DEVICE_NEEDED):
        return
    if not kubevirt.release.has(behaviour.HOST_DEVICE_CLAIMS):
        yield from _claims_of_gpus(spec, path, kubevirt)
        return
    if kubevirt.release.has(behaviour.CLAIMS_CHECKED):
        yield from _CLAIMS(spec, path, kubevirt)
    owners: dict[Request, str] = {}
    repeated: list[Cause] = []
    used = set()
    for kind in _KINDS:
        field = f"{path}.domain.devices.{kind.field}"
        devices = spec["domain"]["devices"].get(kind.field, [])
        causes, first = _devices(devices, kind, field, kubevirt)
        yield from causes
        used |= {claim for claim, _request in first}
        repeated += _between_kinds(first, field, owners)
    if kubevirt.has_gate(_NETWORK_GATE):
        first = _first_networks(spec)
        repeated += _between_kinds(first, f"{path}.networks", owners)
    yield from repeated
    yield from _undefined(used, spec, path)


_CLAIMS: Final = Group(  # validateResourceClaims
    "resourceClaims[]",
    required("name"),
    unique("name"),
    Row("name", conforms(label)),
    Row("", exactly_one("resourceClaimName", "resourceClaimTemplateName")),
    Row("resourceClaimName", conforms(subdomain)),
    Row("resourceClaimTemplateName", conforms(subdomain)),
)


def _undefined(used: set[str], spec: Spec, path: str) -> Iterator[Cause]:
    missing = sorted(used - _names(spec))
    if missing:
        yield Cause(INVALID, f"resourceClaims lacks {quoted(missing[0])}; add it there", f"{path}.resourceClaims")


def _claims_of_gpus(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateCreationDRA of the releases that knew claims of GPUs only; their field has `spec` twice."""
    gpus, field = spec["domain"]["devices"].get("gpus", ()), f"{path}.spec.domain.devices.gpus"
    claimed = [gpu for gpu in gpus if _is_claimed(gpu)]
    for gpu in gpus:
        if not gpu.get("deviceName") and not _has_claim(gpu):
            yield Cause(INVALID, _NO_DEVICE.format("gpus"), field)
            return
        if gpu.get("deviceName") and _has_claim(gpu):
            yield Cause(INVALID, _BOTH.format("gpus"), field)
    if claimed and not kubevirt.has_gate("GPUsWithDRA"):
        yield Cause(INVALID, _gate_text("gpus", "GPUsWithDRA"), field)
    else:
        yield from _undefined({gpu.get("claimName", "") for gpu in claimed}, spec, path)


_NO_DEVICE: Final = "{} has a device without deviceName and claim; set one"
_BOTH: Final = "{} has a device with deviceName and claim; remove one"


def _gate_text(field: str, name: str) -> str:
    return f"{field} with claims needs the feature gate {name}; enable it in the KubeVirt object, or use deviceName"


def _devices(
    devices: list[Spec], kind: _Kind, field: str, kubevirt: KubeVirt
) -> tuple[list[Cause], dict[Request, int]]:
    """validateDRADevices: the causes, and the first device for each request."""
    causes: list[Cause] = []
    first: dict[Request, int] = {}
    claimed = {index: device for index, device in enumerate(devices) if _is_claimed(device)}
    others = [device for device in devices if not _is_claimed(device)]
    if claimed and others and not kind.mixes:
        message = f"{kind.field} has devices with claims and without; keep one kind"
        return [Cause(INVALID, message, field)], first
    for device in others:
        if not device.get("deviceName"):
            causes.append(Cause(INVALID, _NO_DEVICE.format(kind.field), field))
        elif _has_claim(device):
            causes.append(Cause(INVALID, _BOTH.format(kind.field), field))
    if claimed and not kubevirt.has_gate(kind.gate):
        return [*causes, Cause(INVALID, _gate_text(kind.field, kind.gate), field)], first
    for index, device in claimed.items():
        for part in ("claimName", "requestName"):
            if not device.get(part):
                causes.append(Cause(INVALID, f"{part} is missing; set it", f"{field}[{index}].{part}"))
        request = _request(device)
        if request in first:
            causes.append(Cause(INVALID, f"{_shown(request)} is requested twice; remove one", f"{field}[{index}]"))
        if request:
            first.setdefault(request, index)
    return causes, first


def _has_claim(device: Spec) -> bool:
    return "claimName" in device or "requestName" in device


def _is_claimed(device: Spec) -> bool:
    return not device.get("deviceName") and _has_claim(device)


def _first_networks(spec: Spec) -> dict[Request, int]:
    """ExtractDRANetworkClaimRequestTuples: the index of the first network for each request."""
    first: dict[Request, int] = {}
    for index, network in enumerate(spec.get("networks", ())):
        request = _request(network.get("resourceClaim") or {})
        if request:
            first.setdefault(request, index)
    return first


def _between_kinds(first: dict[Request, int], field: str, owners: dict[Request, str]) -> Iterator[Cause]:
    """pairDuplicateChecker: the same request by devices of two kinds. owners: devices of the earlier kinds."""
    for request, index in first.items():
        own = f"{field}[{index}]"
        if owners.setdefault(request, own) != own:
            yield Cause(INVALID, f"{_shown(request)} is also requested by {owners[request]}; remove one", own)
