"""Interfaces: state, binding, name, model, addresses, DHCP, ports (pkg/network/admitter)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from typing import Final

from ...api.fields import ENUMS
from ...api.name_rules import port_name
from ..config.cluster import KubeVirt
from . import networks, since
from .rule import DUPLICATE, INVALID, NOT_SUPPORTED, REQUIRED, Cause, Spec, items

BINDINGS: Final = ("bridge", "masquerade", "sriov", "passtBinding", "binding")
PCI_ADDRESS: Final = re.compile(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]")

_STATES: Final = ("absent", "down", "up")
_DISCONTINUED: Final = {
    "slirp": "Slirp interface support has been discontinued since v1.3",
    "passt": "Passt network binding has been discontinued since v1.3",
    "macvtap": "Macvtap network binding has been discontinued since v1.3",
}
BINDING_GATES: Final = {"Passt": "passt", "Macvtap": "macvtap"}
"""Gate → the binding that it allowed before the binding was discontinued."""
_RESERVED_MAC: Final = "02:00:00:00:00:00"
# Six, eight or twenty bytes, as in Go's net.ParseMAC.
_MAC_LENGTHS: Final = (6, 8, 20)
_MAX_MAC_LENGTH: Final = 6
_PRIVATE_OPTIONS: Final = range(224, 255)


def discontinued(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateDiscontinuedBindings, when a VM or VMI is created."""
    every = kubevirt.release.has(since.BINDINGS_DISCONTINUED)
    for interface, field in _interfaces(spec, path):
        for binding, message in _DISCONTINUED.items():
            if binding in interface and (every or binding not in BINDING_GATES.values()):
                yield Cause(INVALID, message, f"{field}.{binding}")


def states(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInterfaceStateValue."""
    permitted = _STATES if kubevirt.release.has(since.LINK_STATES) else _STATES[:1]
    default = next((network["name"] for network in spec.get("networks", ()) if _is_default(network)), None)
    for interface, field in _interfaces(spec, path):
        name, state = interface["name"], interface.get("state", "")
        about = f'"{name}" interface\'s state "{state}"'
        if state and state not in permitted:
            message = f"logical {name} interface state value is unsupported: {state}"
            yield Cause(INVALID, message, f"{field}.state")
        elif "sriov" in interface and state in ("down", "up"):
            yield Cause(INVALID, f"{about} is not supported for SR-IOV NICs", f"{field}.state")
        if state == "absent" and "bridge" not in interface:
            yield Cause(INVALID, f"{about} is supported only for bridge binding", f"{field}.state")
        if state == "absent" and default == name:
            yield Cause(INVALID, f"{about} is not supported on default networks", f"{field}.state")


def _is_default(network: Spec) -> bool:
    """vmispec.LookUpDefaultNetwork."""
    return "pod" in network or bool((network.get("multus") or {}).get("default"))


def bindings(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInterfaceBinding."""
    network_by_name = networks.by_name(spec)
    for interface, field in _interfaces(spec, path):
        on_pod = "pod" in network_by_name.get(interface["name"], {})
        count = sum(binding in interface for binding in BINDINGS)
        if count != 1 and kubevirt.release.has(since.BINDING_NEEDED):
            message = "interface must have exactly one binding method or binding plugin"
            yield Cause(INVALID, f"logical {interface['name']} {message}", field)
        if not kubevirt.release.has(since.BINDINGS_DISCONTINUED):
            yield from _gated_bindings(interface, network_by_name.get(interface["name"], {}), field, kubevirt)
        if "masquerade" in interface and not on_pod:
            yield Cause(INVALID, "Masquerade interface only implemented with pod network", f"{field}.name")
        if "masquerade" in interface and interface.get("macAddress") == _RESERVED_MAC:
            message = "The requested MAC address is reserved for the in-pod bridge. Please choose another one."
            yield Cause(INVALID, message, f"{field}.macAddress")
        if "bridge" in interface and on_pod and not kubevirt.bridge_permitted:
            message = "Bridge on pod network configuration is not enabled under kubevirt-config"
            yield Cause(INVALID, message, f"{field}.name")
        if "binding" in interface and not kubevirt.has_gate("NetworkBindingPlugins"):
            yield Cause(INVALID, "Binding plugins feature gate is not enabled", f"{field}.name")
        if "passtBinding" in interface and not kubevirt.has_gate("PasstBinding"):
            yield Cause(INVALID, "PasstBinding feature gate is not enabled", f"{field}.name")
        if "passtBinding" in interface and not on_pod:
            yield Cause(INVALID, "PasstBinding interface only implemented with pod network", f"{field}.name")


def _gated_bindings(interface: Spec, network: Spec, field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validatePasstBinding, validateMacvtapBinding of the releases that still had them."""
    for gate, binding in BINDING_GATES.items():
        if binding in interface and not kubevirt.has_gate(gate):
            yield Cause(INVALID, f"{gate} feature gate is not enabled", f"{field}.name")
    if "macvtap" in interface and "multus" not in network:
        yield Cause(INVALID, "Macvtap interface only implemented with Multus network", f"{field}.name")
    if "passt" in interface and "pod" not in network:
        yield Cause(INVALID, "Passt interface only implemented with pod network", f"{field}.name")


def unique_names(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInterfaceNameUnique."""
    used = set()
    for interface, field in _interfaces(spec, path):
        if interface["name"] in used:
            message = "Only one interface can be connected to one specific network"
            yield Cause(DUPLICATE, message, f"{field}.name")
        used.add(interface["name"])


def fields(spec: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateInterfacesFields."""
    network_by_name = networks.by_name(spec)
    for interface, field in _interfaces(spec, path):
        yield from _own_fields(interface, field)
        yield from ports(interface, "pod" in network_by_name.get(interface["name"], {}), field, kubevirt)
        yield from _dhcp(interface.get("dhcpOptions"), field, path)


def _own_fields(interface: Spec, field: str) -> Iterator[Cause]:
    """validateInterfaceNameFormat, ...Model, validateMacAddress, validatePciAddress."""
    if not re.fullmatch("[A-Za-z0-9_-]+", interface["name"]):
        message = "can only contain alphabetical characters, numbers, dashes (-) or underscores (_)"
        yield Cause(INVALID, f"Network interface name {message}", f"{field}.name")
    model, mac, pci = (interface.get(name) for name in ("model", "macAddress", "pciAddress"))
    if model and model not in ENUMS["InterfaceModel"]:
        message = f"interface {field}.name uses model {model} that is not supported."
        yield Cause(NOT_SUPPORTED, message, f"{field}.model")
    mistake = _mac_error(mac) if mac else ""
    if mistake:
        yield Cause(INVALID, f"interface {field}.name has {mistake} MAC address ({mac}).", f"{field}.macAddress")
    if pci and not PCI_ADDRESS.fullmatch(pci):
        yield Cause(INVALID, f"interface {field}.name has malformed PCI address ({pci}).", f"{field}.pciAddress")


def _mac_error(mac: str) -> str:
    """link.ValidateMacAddress."""
    digits = "[0-9a-fA-F]"
    for separator, size in ((":", 2), ("-", 2), (r"\.", 4)):
        if re.fullmatch(f"{digits}{{{size}}}({separator}{digits}{{{size}}})+", mac):
            length = len(re.findall(digits, mac)) // 2
            return "malformed" if length not in _MAC_LENGTHS else "too long" if length > _MAX_MAC_LENGTH else ""
    return "malformed"


def _dhcp(options: Spec | None, field: str, path: str) -> Iterator[Cause]:
    """validateDHCPOptions; causes of private options name the whole spec."""
    if options is None:
        return
    private = [option["option"] for option in options.get("privateOptions", ())]
    if len(set(private)) < len(private):
        yield Cause(INVALID, "Found Duplicates: you have provided duplicate DHCPPrivateOptions", path)
    for option in private:
        if option not in _PRIVATE_OPTIONS:
            message = "provided DHCPPrivateOptions are out of range, must be in range 224 to 254"
            yield Cause(INVALID, message, path)
    for index, server in enumerate(options.get("ntpServers", ())):
        if not is_ip(server, 4):
            message = "NTP servers must be a list of valid IPv4 addresses."
            yield Cause(INVALID, message, f"{field}.dhcpOptions.ntpServers[{index}]")


def is_ip(text: str, version: int = 0) -> bool:
    """Whether Go parses the address. version: 4 for addresses with an IPv4 form.

    Leading zeros of numbers do not count, because KubeVirt removes them.
    """
    try:
        address = ipaddress.ip_address(text if ":" in text else re.sub(r"\b0+(?=[0-9])", "", text))
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id is not None:
        return False
    return version == 0 or address.version == version or getattr(address, "ipv4_mapped", None) is not None


def _interfaces(spec: Spec, path: str) -> Sequence[tuple[Spec, str]]:
    """The interfaces, each with its path."""
    return items(spec, path, "domain.devices.interfaces")


_MAX_RANGES: Final = 10
_PORTS: Final = range(1, 65536)
_PROTOCOLS: Final = ("TCP", "UDP")
_UNKNOWN_PROTOCOL: Final = "Unknown protocol, only TCP or UDP allowed"


def ports(interface: Spec, on_pod: bool, field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validatePortConfiguration, validatePortRangesConfiguration. on_pod: the network is the pod network."""
    if on_pod:
        yield from _names(interface.get("ports", ()), f"{field}.ports")
        for index, port in enumerate(interface.get("ports", ())):
            yield from _port(port, f"{field}.ports[{index}]", kubevirt)
    ranges = interface.get("portRanges")
    if ranges is None:
        return
    if not kubevirt.has_gate("PortRangesSpec"):
        message = "portRanges is specified on interface but the PortRangesSpec feature gate is not enabled"
        yield Cause(INVALID, message, f"{field}.name")
    elif on_pod:
        if "ports" in interface:
            yield Cause(INVALID, "Cannot define both ports and portRanges on interface", f"{field}.name")
        if "masquerade" not in interface:
            yield Cause(INVALID, "portRanges are only supported on masquerade interfaces", f"{field}.name")
        yield from _ranges(ranges, f"{field}.portRanges")


def _names(ports: list[Spec], field: str) -> Iterator[Cause]:
    """validateForwardPortsName."""
    used = set()
    for index, port in enumerate(ports):
        name = port.get("name")
        if not name:
            continue
        if name in used:
            yield Cause(DUPLICATE, f"Duplicate name of the port: {name}", f"{field}[{index}].name")
        if port_name(name):
            yield Cause(INVALID, f"Invalid name of the port: {name}", f"{field}[{index}].name")
        used.add(name)


def _port(port: Spec, field: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateForwardPortNonZero, ...InRange, ...Protocol."""
    number = port.get("port", 0)
    if number == 0:
        own = ".port" if kubevirt.release.has(since.PORT_FIELD) else ""
        yield Cause(REQUIRED, "Port field is mandatory.", f"{field}{own}")
    elif number not in _PORTS:
        yield Cause(INVALID, "Port field must be in range 0 < x < 65536.", f"{field}.port")
    if port.get("protocol", "") not in ("", *_PROTOCOLS):
        yield Cause(INVALID, _UNKNOWN_PROTOCOL, f"{field}.protocol")


def _ranges(ranges: list[Spec], field: str) -> Iterator[Cause]:
    """validateForwardPortRanges."""
    if len(ranges) > _MAX_RANGES:
        yield Cause(INVALID, "No more than 10 portRanges are allowed", field)
        return
    valid: dict[str, list[tuple[int, int]]] = {}
    for index, entry in enumerate(ranges):
        protocol, start, end = entry.get("protocol", ""), entry.get("start", 0), entry.get("end", 0)
        if protocol not in _PROTOCOLS:
            yield Cause(INVALID, _UNKNOWN_PROTOCOL, f"{field}[{index}].protocol")
        elif start not in _PORTS:
            yield Cause(INVALID, "Start must be a valid port number, 0 < x < 65536", f"{field}[{index}].start")
        elif end not in _PORTS:
            yield Cause(INVALID, "End must be a valid port number, 0 < x < 65536", f"{field}[{index}].end")
        elif start > end:
            yield Cause(INVALID, "Start must be less than or equal to end", f"{field}[{index}].start")
        else:
            valid.setdefault(protocol, []).append((start, end))
    for protocol, spans in valid.items():
        yield from _overlaps(protocol, sorted(spans), field)


def _overlaps(protocol: str, spans: list[tuple[int, int]], field: str) -> Iterator[Cause]:
    """validateForwardPortRangesOverlaps."""
    for (start, end), (next_start, next_end) in zip(spans, spans[1:]):
        if next_start <= end:
            message = f"{protocol} portRanges [{start}-{end}] and [{next_start}-{next_end}] overlap"
            yield Cause(INVALID, message, field)
