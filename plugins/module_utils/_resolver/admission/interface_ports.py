"""Ports of an interface on the pod network (pkg/network/admitter/netiface.go)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from . import names
from .cause import DUPLICATE, INVALID, REQUIRED, Cause, Spec
from .cluster import Cluster

_MOST_RANGES: Final = 10
_PORTS: Final = range(1, 65536)
_PROTOCOLS: Final = ("TCP", "UDP")
_UNKNOWN_PROTOCOL: Final = "Unknown protocol, only TCP or UDP allowed"


def check(interface: Spec, on_pod: bool, field: str, cluster: Cluster) -> Iterator[Cause]:
    """validatePortConfiguration, validatePortRangesConfiguration. on_pod: the network is the pod network."""
    if on_pod:
        yield from _names(interface.get("ports", ()), f"{field}.ports")
        for index, port in enumerate(interface.get("ports", ())):
            yield from _port(port, f"{field}.ports[{index}]")
    ranges = interface.get("portRanges")
    if ranges is None:
        return
    if not cluster.has_gate("PortRangesSpec"):
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
    seen = set()
    for index, port in enumerate(ports):
        name = port.get("name")
        if not name:
            continue
        if name in seen:
            yield Cause(DUPLICATE, f"Duplicate name of the port: {name}", f"{field}[{index}].name")
        if not names.is_port_name(name):
            yield Cause(INVALID, f"Invalid name of the port: {name}", f"{field}[{index}].name")
        seen.add(name)


def _port(port: Spec, field: str) -> Iterator[Cause]:
    """validateForwardPortNonZero, ...InRange, ...Protocol."""
    number = port.get("port", 0)
    if number == 0:
        yield Cause(REQUIRED, "Port field is mandatory.", f"{field}.port")
    elif number not in _PORTS:
        yield Cause(INVALID, "Port field must be in range 0 < x < 65536.", f"{field}.port")
    if port.get("protocol", "") not in ("", *_PROTOCOLS):
        yield Cause(INVALID, _UNKNOWN_PROTOCOL, f"{field}.protocol")


def _ranges(ranges: list[Spec], field: str) -> Iterator[Cause]:
    """validateForwardPortRanges."""
    if len(ranges) > _MOST_RANGES:
        yield Cause(INVALID, "No more than 10 portRanges are allowed", field)
        return
    good: dict[str, list[tuple[int, int]]] = {}
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
            good.setdefault(protocol, []).append((start, end))
    for protocol, spans in good.items():
        yield from _overlaps(protocol, sorted(spans), field)


def _overlaps(protocol: str, spans: list[tuple[int, int]], field: str) -> Iterator[Cause]:
    """validateForwardPortRangesOverlaps."""
    for (start, end), (next_start, next_end) in zip(spans, spans[1:]):
        if next_start <= end:
            message = f"{protocol} portRanges [{start}-{end}] and [{next_start}-{next_end}] overlap"
            yield Cause(INVALID, message, field)
