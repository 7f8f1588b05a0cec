"""Devices through resource claims (dynamic resource allocation; pkg/dra/admitter)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import names, networks
from .cause import DUPLICATE, INVALID, REQUIRED, Cause, Spec
from .cluster import Cluster

Request = tuple[str, str]
"""The names of a VM's claim and of a request in it."""


class _Kind(NamedTuple):
    """field: in `devices`.

    name: in messages. gate: for devices through claims. mixes: devices with and without claims may be combined.
    """

    field: str
    name: str
    gate: str
    mixes: bool


_KINDS = (_Kind("gpus", "GPU", "GPUsWithDRA", False), _Kind("hostDevices", "HostDevice", "HostDevicesWithDRA", True))


def check(spec: Spec, path: str, cluster: Cluster) -> Iterator[Cause]:
    """validateCreationDRA."""
    if not cluster.rules.checks_devices:
        return
    if cluster.rules.checks_claims:
        yield from _claims(spec.get("resourceClaims", ()), f"{path}.resourceClaims")
    requested: list[tuple[str, str, dict[Request, int]]] = []
    for kind in _KINDS:
        field = f"{path}.domain.devices.{kind.field}"
        causes, first = _devices(spec["domain"]["devices"].get(kind.field, ()), kind, field, cluster)
        yield from causes
        requested.append((f"{kind.name}s", field, first))
    used = {claim for _name, _field, first in requested for claim, _request in first}
    if cluster.has_gate("NetworkDevicesWithDRA"):
        requested.append(("Networks", f"{path}.networks", networks.requests(spec)))
    yield from _requested_twice(requested)
    if not used <= {claim["name"] for claim in spec.get("resourceClaims", ())}:
        message = (
            "vmi.spec.resourceClaims must specify all claims used in vmi.spec.domain.devices.gpus and "
            "vmi.spec.domain.devices.hostDevices"
        )
        yield Cause(INVALID, message, f"{path}.resourceClaims")


def _claims(claims: list[Spec], path: str) -> Iterator[Cause]:
    """validateResourceClaims."""
    seen = set()
    for index, claim in enumerate(claims):
        field, name = f"{path}[{index}]", claim["name"]
        if not name:
            yield Cause(REQUIRED, f"{field}.name is a required field", f"{field}.name")
        elif name in seen:
            yield Cause(DUPLICATE, f'duplicate resourceClaims name "{name}"', f"{field}.name")
        else:
            wrong = ", ".join(names.dns_label(name))
            if wrong:
                message = f"{field}.name does not conform to the kubernetes DNS_LABEL rules: {wrong}"
                yield Cause(INVALID, message, f"{field}.name")
            seen.add(name)
        sources = [source for source in ("resourceClaimName", "resourceClaimTemplateName") if source in claim]
        if len(sources) > 1:
            message = "at most one of resourceClaimName or resourceClaimTemplateName may be specified"
            yield Cause(INVALID, message, field)
        if not sources:
            yield Cause(INVALID, "must specify one of: resourceClaimName, resourceClaimTemplateName", field)
        for source in sources:
            for wrong in names.dns_subdomain(claim[source]):
                yield Cause(INVALID, wrong, f"{field}.{source}")


def _devices(devices: list[Spec], kind: _Kind, field: str, cluster: Cluster) -> tuple[list[Cause], dict[Request, int]]:
    """validateDRADevices: the causes, and the first device for each request."""
    causes: list[Cause] = []
    first: dict[Request, int] = {}
    claimed = {index: device for index, device in enumerate(devices) if _is_claimed(device)}
    others = [device for device in devices if not _is_claimed(device)]
    about = f"vmi.spec.domain.devices.{kind.field} contains"
    if claimed and others and not kind.mixes:
        message = f"{about} both DRA and non-DRA {kind.name}s; each {kind.name} must be either DRA or non-DRA"
        return [Cause(INVALID, message, field)], first
    for device in others:
        if not device.get("deviceName"):
            hint = f"each {kind.name} must specify either a deviceName or a claimRequest"
            message = f"{about} {kind.name}s without deviceName or claimRequest; {hint}"
            causes.append(Cause(REQUIRED, message, field))
        elif _claims_something(device):
            causes.append(Cause(INVALID, f"{about} {kind.name}s with both deviceName and claimRequest", field))
    if claimed and not cluster.has_gate(kind.gate):
        message = f"{about} DRA enabled {kind.name}s but feature gate is not enabled"
        return [*causes, Cause(INVALID, message, field)], first
    for index, device in claimed.items():
        missing = [part for part in ("claimName", "requestName") if not device.get(part)]
        for part in missing:
            causes.append(Cause(REQUIRED, f"{part} is required for DRA {kind.name}", f"{field}[{index}].{part}"))
        if missing:
            continue
        request = (device["claimName"], device["requestName"])
        if request in first:
            message = f'duplicate claimName/requestName pair "{"/".join(request)}"'
            causes.append(Cause(DUPLICATE, message, f"{field}[{index}]"))
        first.setdefault(request, index)
    return causes, first


def _claims_something(device: Spec) -> bool:
    return "claimName" in device or "requestName" in device


def _is_claimed(device: Spec) -> bool:
    return not device.get("deviceName") and _claims_something(device)


def _requested_twice(requested: list[tuple[str, str, dict[Request, int]]]) -> Iterator[Cause]:
    """pairDuplicateChecker: the same request by devices of two kinds."""
    owners: dict[Request, str] = {}
    for name, field, first in requested:
        for request, index in first.items():
            if request in owners:
                pair = f'"{"/".join(request)}" between {owners[request]} and {name}[{index}]'
                yield Cause(DUPLICATE, f"duplicate claimName/requestName pair {pair}", f"{field}[{index}]")
            else:
                owners[request] = f"{name}[{index}]"
