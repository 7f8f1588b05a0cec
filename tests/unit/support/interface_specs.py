"""VMI specs with interfaces and their networks."""

from typing import Any

Manifest = dict[str, Any]

POD = ({"name": "default", "masquerade": {}}, {"name": "default", "pod": {}})
LAN = ({"name": "lan", "bridge": {}}, {"name": "lan", "multus": {"networkName": "lan"}})


def spec(*pairs: tuple[Manifest, Manifest]) -> Manifest:
    interfaces, networks = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return {"domain": {"devices": {"interfaces": interfaces}}, "networks": networks}


def state(pair: tuple[Manifest, Manifest], value: str) -> tuple[Manifest, Manifest]:
    return {**pair[0], "state": value}, pair[1]
