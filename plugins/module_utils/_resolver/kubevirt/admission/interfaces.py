"""Interfaces: state, binding, name, model, addresses, DHCP, ports (pkg/network/admitter)."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Final

from ...api import behaviour
from ...api.fields import ENUMS
from ...api.name_rules import port_name, quoted
from ..cluster import KubeVirt
from .rows import (
    Check,
    Group,
    Place,
    Row,
    at_most,
    conforms,
    each,
    exactly_one,
    excludes,
    gate,
    matches,
    needs,
    one_of,
    required,
    unique,
    within,
)
from .rule import INVALID, Cause, Spec

PCI_ADDRESS: Final = matches(r"[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]", "an address such as 0000:03:07.1")
BINDING_GATES: Final = {"Passt": "passt", "Macvtap": "macvtap"}
"""Gate → the binding that it allowed before the binding was discontinued."""

_PATH: Final = "domain.devices.interfaces[]"
_NAME: Final = "{entry}.name"
_RESERVED_MAC: Final = "02:00:00:00:00:00"
# Six, eight or twenty bytes, as in Go's net.ParseMAC.
_MAC_LENGTHS: Final = (6, 8, 20)
_MAX_MAC_LENGTH: Final = 6
_PORTS: Final = range(1, 65536)


def _network(place: Place) -> Spec:
    """The network of an interface; of duplicates the last."""
    return place.named("networks").get(place.entry["name"], {})


def _is_on_pod(place: Place) -> bool:
    return "pod" in _network(place)


def _only_on(source: str, noun: str) -> Check:
    """The binding needs a kind of network."""
    problem = f"works only with {noun}; use another binding"
    return lambda _value, place: "" if source in _network(place) else problem


def _discontinued(_binding: Spec, _place: Place) -> str:
    return "is discontinued since KubeVirt 1.3; use another binding"


def _state(state: str, place: Place) -> str:
    """validateInterfaceStateValue."""
    if "sriov" in place.entry and state in ("down", "up"):
        return f"{state} is not possible for SR-IOV; remove it"
    if state != "absent":
        return ""
    if "bridge" not in place.entry:
        return "absent needs the binding bridge; remove the interface instead"
    networks = place.spec.get("networks", ())
    default = next((network["name"] for network in networks if _is_default(network)), None)
    return "absent is not possible on the default network; remove it" if default == place.entry["name"] else ""


def _is_default(network: Spec) -> bool:
    """vmispec.LookUpDefaultNetwork."""
    return "pod" in network or bool((network.get("multus") or {}).get("default"))


def _reserved(mac: str, place: Place) -> str:
    taken = mac == _RESERVED_MAC and "masquerade" in place.entry
    return f"{mac} belongs to the bridge in the pod; choose another" if taken else ""


def _bridge(_bridge: Spec, place: Place) -> str:
    barred = _is_on_pod(place) and not place.kubevirt.bridge_permitted
    return "is not permitted on the pod network by the KubeVirt object; use masquerade" if barred else ""


def _mac(mac: str, _place: Place) -> str:
    """link.ValidateMacAddress."""
    digits = "[0-9a-fA-F]"
    length = len(re.findall(digits, mac)) // 2
    forms = (
        f"{digits}{{{size}}}({separator}{digits}{{{size}}})+" for separator, size in ((":", 2), ("-", 2), (r"\.", 4))
    )
    if mac and (length not in _MAC_LENGTHS or not any(re.fullmatch(form, mac) for form in forms)):
        return f"must be an address such as 02:00:00:00:00:01, not {quoted(mac)}"
    return f"{mac} is longer than {_MAX_MAC_LENGTH} bytes; shorten it" if length > _MAX_MAC_LENGTH else ""


def _distinct(options: list[Spec], _place: Place) -> str:
    numbers = [option["option"] for option in options]
    return "has an option twice; keep one" if len(set(numbers)) < len(numbers) else ""


def _private(option: Spec, place: Place) -> str:
    return within(range(224, 255))(option["option"], place)


def _time_server(server: str, _place: Place) -> str:
    return "" if is_ip(server, 4) else f"must be an IPv4 address, not {quoted(server)}"


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


def _may_forward_ranges(place: Place) -> bool:
    return "portRanges" in place.entry and _is_on_pod(place) and place.kubevirt.has_gate("PortRangesSpec")


def _ranges(interface: Spec, path: str, kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateForwardPortRanges, which names one field of each, and then validateForwardPortRangesOverlaps."""
    ranges, field = interface["portRanges"], f"{path}.portRanges"
    if len(ranges) > _MAX_RANGES:
        return
    place = Place(interface, path, kubevirt, {})
    valid: dict[str, list[tuple[int, int]]] = {}
    for index, entry in enumerate(ranges):
        protocol, start, end = entry.get("protocol", ""), entry.get("start", 0), entry.get("end", 0)
        judged = (
            ("protocol", _is_protocol(protocol, place)),
            ("start", _is_port(start, place)),
            ("end", _is_port(end, place)),
            ("start", f"{start} is after the end; swap them" if start > end else ""),
        )
        name, problem = next((entry for entry in judged if entry[1]), ("", ""))
        if problem:
            yield Cause(INVALID, f"{name} {problem}", f"{field}[{index}].{name}")
        else:
            valid.setdefault(protocol, []).append((start, end))
    for spans in map(sorted, valid.values()):
        for (start, end), (next_start, next_end) in zip(spans, spans[1:]):
            if next_start <= end:
                overlap = f"{start}-{end} and {next_start}-{next_end} overlap; join them"
                yield Cause(INVALID, f"portRanges {overlap}", field)


_MAX_RANGES: Final = 10
_is_protocol: Final = one_of("TCP", "UDP")
_is_port: Final = within(_PORTS)

DISCONTINUED: Final = Group(  # validateDiscontinuedBindings, when a VM or VMI is created
    _PATH,
    Row("slirp", _discontinued),
    Row("passt", _discontinued, since=behaviour.BINDINGS_DISCONTINUED),
    Row("macvtap", _discontinued, since=behaviour.BINDINGS_DISCONTINUED),
)
STATES: Final = Group(
    _PATH,
    Row("state", one_of("", "absent", "down", "up"), since=behaviour.LINK_STATES),
    Row("state", one_of("", "absent"), until=behaviour.LINK_STATES),
    Row("state", _state),
)
BINDINGS: Final = Group(  # validateInterfaceBinding
    _PATH,
    Row("", exactly_one("bridge", "masquerade", "sriov", "passtBinding", "binding"), since=behaviour.BINDING_NEEDED),
    Row("passt", gate("Passt"), at=_NAME, until=behaviour.BINDINGS_DISCONTINUED),
    Row("macvtap", gate("Macvtap"), at=_NAME, until=behaviour.BINDINGS_DISCONTINUED),
    Row("macvtap", _only_on("multus", "a network of Multus"), at=_NAME, until=behaviour.BINDINGS_DISCONTINUED),
    Row("passt", _only_on("pod", "the pod network"), at=_NAME, until=behaviour.BINDINGS_DISCONTINUED),
    Row("masquerade", _only_on("pod", "the pod network"), at=_NAME),
    Row("macAddress", _reserved),
    Row("bridge", _bridge, at=_NAME),
    Row("binding", gate("NetworkBindingPlugins"), at=_NAME),
    Row("passtBinding", gate("PasstBinding"), at=_NAME),
    Row("passtBinding", _only_on("pod", "the pod network"), at=_NAME),
)
FIELDS: Final = Group(  # validateInterfacesFields
    _PATH,
    required("name"),
    Row("name", matches("[A-Za-z0-9_-]+", "of letters, digits, - and _")),
    Row("model", one_of("", *ENUMS["InterfaceModel"])),
    Row("macAddress", _mac),
    Row("pciAddress", PCI_ADDRESS),
    # validatePortConfiguration
    Group(
        "",
        Group("ports[]", unique("name"), Row("name", conforms(port_name))),
        Group(
            "ports[]",
            Row("port", _is_port, since=behaviour.PORT_FIELD, absent=True),
            Row("port", _is_port, at="{entry}", until=behaviour.PORT_FIELD, absent=True),
            Row("protocol", one_of("", "TCP", "UDP")),
        ),
        when=_is_on_pod,
    ),
    # validatePortRangesConfiguration
    Row("portRanges", gate("PortRangesSpec"), at=_NAME),
    Group(
        "",
        Row("portRanges", excludes("ports"), at=_NAME),
        Row("portRanges", needs("masquerade"), at=_NAME),
        Row("portRanges", at_most(_MAX_RANGES)),
        _ranges,
        when=_may_forward_ranges,
    ),
    # validateDHCPOptions
    Row("dhcpOptions.privateOptions", _distinct, at="{spec}"),
    Row("dhcpOptions.privateOptions", each(_private), at="{spec}"),
    Group("dhcpOptions.ntpServers[]", Row("", _time_server)),
)
