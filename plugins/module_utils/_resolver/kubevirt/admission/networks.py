"""Networks, and their relation to interfaces (pkg/network/admitter)."""

from __future__ import annotations

from collections.abc import Iterator

from ..config.cluster import KubeVirt
from .rule import DUPLICATE, INVALID, NOT_FOUND, REQUIRED, Cause, Spec, items

_SOURCES = ("pod", "multus", "resourceClaim")


def by_name(spec: Spec) -> dict[str, Spec]:
    """The networks by name; of duplicates the last."""
    return {network["name"]: network for network in spec.get("networks", ())}


def single_pod_network(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateSinglePodNetwork."""
    networks = spec.get("networks", ())
    pods = [network for network in networks if "pod" in network]
    defaults = [network for network in networks if (network.get("multus") or {}).get("default")]
    if len(pods) > 1:
        field = f"{path}.interfaces"
        yield Cause(DUPLICATE, f"more than one interface is connected to a pod network in {field}", field)
    if len(defaults) > 1:
        yield Cause(INVALID, "Multus CNI should only have one default network", f"{path}.networks")
    if pods and defaults:
        message = "Pod network cannot be defined when Multus default network is defined"
        yield Cause(INVALID, message, f"{path}.networks")


def single_source(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateSingleNetworkSource."""
    for network, field in items(spec, path, "networks"):
        count = sum(source in network for source in _SOURCES)
        if count != 1:
            yield Cause(REQUIRED, f"should have {'only one' if count else 'a'} network type", field)


def multus_name(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateMultusNetworkSource, which stops at the first error."""
    for network, field in items(spec, path, "networks"):
        if "multus" in network and not network["multus"].get("networkName"):
            yield Cause(REQUIRED, "CNI delegating plugin must have a networkName", field)
            return


def unique_names(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateNetworkNameUnique."""
    used = set()
    for network, field in items(spec, path, "networks"):
        name = network["name"]
        if name in used:
            message = f'Network with name "{name}" already exists, every network must have a unique name'
            yield Cause(DUPLICATE, message, f"{field}.name")
        used.add(name)


def assigned_to_interfaces(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateNetworksAssignedToInterfaces."""
    interface_names = {interface["name"] for interface in spec["domain"]["devices"].get("interfaces", ())}
    for network, field in items(spec, path, "networks"):
        if network["name"] not in interface_names:
            yield Cause(REQUIRED, f"{field}.name '{network['name']}' not found.", f"{field}.name")


def interfaces_assigned(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInterfacesAssignedToNetworks."""
    networks = by_name(spec)
    for interface, field in items(spec, path, "domain.devices.interfaces"):
        if interface["name"] not in networks:
            yield Cause(INVALID, f"{field}.name '{interface['name']}' not found.", f"{field}.name")


def claimed(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateNetworkDevicesWithDRA: networks by resource claim."""
    networks, field = spec.get("networks", ()), f"{path}.networks"
    if not any("resourceClaim" in network for network in networks):
        return
    if not kubevirt.has_gate("NetworkDevicesWithDRA"):
        message = "vmi.spec.networks contains DRA networks but NetworkDevicesWithDRA feature gate is not enabled"
        yield Cause(INVALID, message, field)
        return
    if any("multus" in network for network in networks):
        message = "mixing Multus and DRA resourceClaim networks in the same VMI is not supported"
        yield Cause(INVALID, message, field)
        return
    first = requests(spec)
    for index, network in enumerate(networks):
        if "resourceClaim" in network:
            yield from _claimed_binding(spec, network["name"], path)
            yield from _claim(spec, network["resourceClaim"], f"{field}[{index}]", index, first)


def requests(spec: Spec) -> dict[tuple[str, str], int]:
    """ExtractDRANetworkClaimRequestTuples: the index of the first network for each (claim, request)."""
    first: dict[tuple[str, str], int] = {}
    for index, network in enumerate(spec.get("networks", ())):
        claim = network.get("resourceClaim") or {}
        if claim.get("claimName") and claim.get("requestName"):
            first.setdefault((claim["claimName"], claim["requestName"]), index)
    return first


def _claimed_binding(spec: Spec, name: str, path: str) -> Iterator[Cause]:
    """validateDRANetworkInterfaceBinding."""
    interfaces = spec["domain"]["devices"].get("interfaces", ())
    interface = next((interface for interface in interfaces if interface["name"] == name), None)
    if interface is not None and "sriov" not in interface and "binding" not in interface:
        message = f'DRA network "{name}" requires an SR-IOV or binding plugin interface'
        yield Cause(INVALID, message, f"{path}.domain.devices.interfaces")


def _claim(spec: Spec, claim: Spec, field: str, index: int, first: dict[tuple[str, str], int]) -> Iterator[Cause]:
    """validateDRAClaimAndRequestNames, validateDRANetworkClaimReference, validateDRAClaimRequestUniqueness."""
    name, request = claim.get("claimName", ""), claim.get("requestName", "")
    for part in ("claimName", "requestName"):
        if not claim.get(part):
            yield Cause(REQUIRED, f"{part} is required for DRA network", f"{field}.resourceClaim.{part}")
    if not name or not request:
        return
    if name not in {entry["name"] for entry in spec.get("resourceClaims", ())}:
        message = f'network references resourceClaim "{name}" which is not defined in spec.resourceClaims'
        yield Cause(NOT_FOUND, message, f"{field}.resourceClaim.claimName")
    if first[name, request] != index:
        yield Cause(DUPLICATE, f'duplicate claimName/requestName combination "{name}/{request}"', field)
