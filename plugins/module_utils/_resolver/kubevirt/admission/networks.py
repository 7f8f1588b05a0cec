"""Networks, in the order of Validator.Validate (pkg/network/admitter), with their interfaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...api.name_rules import quoted
from ..cluster import KubeVirt
from . import claims, interfaces
from .rows import Check, Group, Place, Row, exactly_one, only_once, unique
from .rule import INVALID, Cause, Spec, items

SOURCES: Final = ("pod", "multus", "resourceClaim")


def _no_second_default(networks: list[Spec], _place: Place) -> str:
    both = any("pod" in network for network in networks) and any(map(_is_default_multus, networks))
    return "has a pod network and a default of Multus; keep one" if both else ""


def _is_default_multus(network: Spec) -> bool:
    return bool((network.get("multus") or {}).get("default"))


def _multus_name(spec: Spec, path: str, _kubevirt: KubeVirt) -> Iterator[Cause]:
    """validateMultusNetworkSource, which stops at the first error."""
    for network, field in items(spec, path, "networks"):
        if "multus" in network and not network["multus"].get("networkName"):
            yield Cause(INVALID, "multus.networkName is missing; set it", field)
            return


def _is_among(path: str, noun: str) -> Check:
    """A name of an entry of another list."""
    problem = f"is no {noun}; add one, or remove the entry"
    return lambda name, place: "" if name in place.named(path) else f"{quoted(name)} {problem}"


RULES: Final = Group(
    "",
    # validateSinglePodNetwork, validateSingleNetworkSource
    Row("networks", only_once("pod"), at="{spec}.interfaces"),
    Row("networks", only_once("multus.default")),
    Row("networks", _no_second_default),
    Group("networks[]", Row("", exactly_one(*SOURCES))),
    _multus_name,
    interfaces.STATES,
    interfaces.BINDINGS,
    Group("networks[]", unique("name")),
    claims.NETWORKS,
    # validateNetworksAssignedToInterfaces, validateInterfacesAssignedToNetworks
    Group("networks[]", Row("name", _is_among("domain.devices.interfaces", "interface"))),
    Group("domain.devices.interfaces[]", unique("name")),
    Group("domain.devices.interfaces[]", Row("name", _is_among("networks", "network"))),
    interfaces.FIELDS,
)
