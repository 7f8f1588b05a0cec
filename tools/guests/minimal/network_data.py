"""What network data mean, as commands: versions 1 and 2, as far as they concern Ethernet."""

from __future__ import annotations

import fnmatch
import ipaddress
from typing import Any

UDHCPC = ["udhcpc", "-t", "5", "-T", "1", "-A", "1", "-b", "-S", "-s", "/usr/lib/guest/udhcpc", "-i"]
FALLBACK = "the first NIC asks for an address by DHCP"


class Plan:
    """commands: in their order. servers, search: what goes to resolv.conf. unknown: what is not done, a line each."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.servers: list[str] = []
        self.search: list[str] = []
        self.unknown: list[str] = []

    def ip(self, *arguments: object) -> None:
        self.commands.append(["ip", *map(str, arguments)])


def plan(data: Any, links: dict[str, str]) -> Plan:
    """How to set up the NICs. data: network data, or None. links: the names of the NICs → their MAC addresses."""
    result = Plan()
    config = data.get("network", data) if isinstance(data, dict) else data
    if not config:
        config = {"version": 2, "ethernets": {name: {"dhcp4": True} for name in list(links)[:1]}}
    elif not isinstance(config, dict) or str(config.get("version")) not in ("1", "2"):
        result.unknown.append(f"network data without version 1 or 2: {FALLBACK}")
        return _add(result, plan(None, links))
    elif str(config["version"]) == "1":
        config = _version_2(config, result)
    result.unknown += [
        f"network data: {key} is not known"
        for key in config
        if key not in ("version", "ethernets", "renderer", "nameservers")
    ]
    _name_servers(config, result)
    for name, ethernet in (config.get("ethernets") or {}).items():
        _ethernet(str(name), ethernet or {}, links, result)
    return result


def _add(first: Plan, second: Plan) -> Plan:
    second.unknown[:0] = first.unknown
    return second


def _ethernet(key: str, ethernet: dict[str, Any], links: dict[str, str], result: Plan) -> None:
    link = _link(key, ethernet.get("match") or {}, links)
    if link is None:
        result.unknown.append(f"network data: no NIC matches {key}; there are {', '.join(links) or 'none'}")
        return
    if (name := ethernet.get("set-name")) and name != link:
        result.ip("link", "set", link, "down")
        result.ip("link", "set", link, "name", name)
        link = name
    if ethernet.get("mtu"):
        result.ip("link", "set", link, "mtu", ethernet["mtu"])
    result.ip("link", "set", link, "up")
    for address in ethernet.get("addresses") or []:
        for text in address if isinstance(address, dict) else [address]:
            result.ip("addr", "replace", text, "dev", link)
    if ethernet.get("dhcp4"):
        result.commands.append([*UDHCPC, link])
    if ethernet.get("dhcp6"):
        result.unknown.append(f"network data: dhcp6 of {key} is not known; the router's announcements are used")
    for gateway in filter(None, (ethernet.get("gateway4"), ethernet.get("gateway6"))):
        result.ip(*_version(gateway), "route", "replace", "default", "via", gateway, "dev", link)
    for route in ethernet.get("routes") or []:
        _route(route, link, result)
    _name_servers(ethernet, result)


def _link(key: str, match: dict[str, Any], links: dict[str, str]) -> str | None:
    mac = str(match.get("macaddress", "")).lower()
    pattern = match.get("name", "*" if match else key)
    found = (name for name, its in links.items() if fnmatch.fnmatch(name, pattern) and mac in ("", its.lower()))
    return next(found, None)


def _version(address: str) -> list[str]:
    return ["-6"] if ":" in address else []


def _route(route: dict[str, Any], link: str, result: Plan) -> None:
    to, via = str(route.get("to", "default")), route.get("via")
    to = "default" if to in ("0.0.0.0/0", "::/0") else to
    options = ["via", via] if via else []
    options += ["dev", link, *(["metric", route["metric"]] if "metric" in route else [])]
    result.ip(
        *_version(f"{to} {via or ''}"), "route", "replace", to, *options, *(["onlink"] if route.get("on-link") else [])
    )


def _name_servers(owner: dict[str, Any], result: Plan) -> None:
    servers = owner.get("nameservers") or {}
    result.servers += servers.get("addresses") or []
    result.search += servers.get("search") or []


def _version_2(config: dict[str, Any], result: Plan) -> dict[str, Any]:
    """Data of version 1 in the form of version 2."""
    ethernets: dict[str, Any] = {}
    servers: dict[str, list[str]] = {"addresses": [], "search": []}
    for entry in config.get("config") or []:
        kind = entry.get("type")
        if kind == "physical":
            ethernets[entry["name"]] = _physical(entry, servers)
        elif kind == "nameserver":
            servers["addresses"] += _list(entry.get("address"))
            servers["search"] += _list(entry.get("search"))
        else:
            result.unknown.append(f"network data: type {kind} is not known")
    return {"version": 2, "ethernets": ethernets, "nameservers": servers}


def _physical(entry: dict[str, Any], servers: dict[str, list[str]]) -> dict[str, Any]:
    result: dict[str, Any] = {"addresses": [], "routes": []}
    if entry.get("mac_address"):
        result |= {"match": {"macaddress": entry["mac_address"]}, "set-name": entry["name"]}
    if entry.get("mtu"):
        result["mtu"] = entry["mtu"]
    for subnet in entry.get("subnets") or []:
        if subnet["type"] in ("dhcp", "dhcp4"):
            result["dhcp4"] = True
        elif subnet["type"] in ("static", "static6"):
            result["addresses"].append(_with_prefix(subnet["address"], subnet.get("netmask")))
        if subnet.get("gateway"):
            result["routes"].append({"to": "default", "via": subnet["gateway"]})
        for route in subnet.get("routes") or []:
            to = "default" if "destination" not in route and "network" not in route else None
            network = to or _with_prefix(route.get("destination") or route["network"], route.get("netmask"))
            result["routes"].append({"to": network, "via": route["gateway"]})
        servers["addresses"] += _list(subnet.get("dns_nameservers"))
        servers["search"] += _list(subnet.get("dns_search"))
    return result


def _with_prefix(address: str, mask: Any) -> str:
    if mask is None or "/" in address:
        return address
    return f"{address}/{mask if str(mask).isdigit() else ipaddress.ip_network(f'0.0.0.0/{mask}').prefixlen}"


def _list(value: Any) -> list[str]:
    return [] if value is None else value if isinstance(value, list) else [str(value)]
