"""The proxy of the environment, and the hosts that are reached without a proxy."""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from urllib.parse import urlsplit
from urllib.request import getproxies


def environment_proxy(host: str) -> str:
    """The proxy that the environment names for a URL; "" if it names none."""
    found = getproxies()
    return found.get(urlsplit(host).scheme) or found.get("all") or ""


def environment_exceptions() -> str:
    """The hosts that the environment excepts from proxies."""
    return getproxies().get("no") or ""


def is_excepted(host: str, exceptions: str) -> bool:
    """Whether a URL is reached without a proxy.

    exceptions: names of hosts and domains, with or without a port, addresses and networks, separated by commas; `*` for
    all hosts.
    """
    parts = urlsplit(host.lower())
    name = parts.hostname or ""
    names = {name, parts.netloc.rpartition("@")[2]}
    address = None
    with suppress(ValueError):
        address = ipaddress.ip_address(name)
    for entry in exceptions.lower().split(","):
        pattern = entry.strip()
        if pattern == "*":
            return True
        if pattern and address is not None:
            with suppress(ValueError):
                if address in ipaddress.ip_network(pattern, strict=False):
                    return True
        domain = pattern.lstrip(".")
        if domain and any(one == domain or one.endswith(f".{domain}") for one in names):
            return True
    return False
