"""The address of a running VM: of one of its interfaces, or of a Service that leads to it."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final, NamedTuple

from ...module_utils._resolver.api.manifest import Manifest

# IP versions in order of preference.
FAMILIES: Final = {"prefer_ipv4": (4, 6), "prefer_ipv6": (6, 4), "ipv4": (4,), "ipv6": (6,)}

_LOAD_BALANCER: Final = "LoadBalancer"
_NODE_PORT: Final = "NodePort"
# The order in which Kubernetes prefers a node's addresses for clients outside.
_NODE_ADDRESSES: Final = ("ExternalIP", "InternalIP")
_LABEL_LENGTH: Final = 63


class Endpoint(NamedTuple):
    """Where a guest can be reached. port: None for the connection's default port."""

    host: str
    port: int | None = None


def interface_address(vmi: Manifest, interface: str | None = None, family: str = "prefer_ipv4") -> str | None:
    """An address of a VMI; None while it has none.

    interface: the name of an interface, which its network has too, or its name in the guest; None for the first
    interface of the VMI's spec with an address. family: a key of FAMILIES. Loopback and link-local addresses do not
    count.
    """
    order = [entry["name"] for entry in _interfaces(vmi)]
    reported = (vmi.get("status") or {}).get("interfaces") or []
    if interface is None:
        # Interfaces that the guest created, such as a container bridge, have no name.
        matches = [entry for entry in reported if entry.get("name") in order]
        matches.sort(key=lambda entry: order.index(entry["name"]))
    else:
        matches = [entry for entry in reported if interface in (entry.get("name"), entry.get("interfaceName"))]
    for entry in matches:
        addresses = entry.get("ipAddresses") or [entry.get("ipAddress")]
        address = _preferred([str(text) for text in addresses if text], family)
        if address is not None:
            return address
    return None


def is_loopback(host: str) -> bool:
    """Whether a host is the machine itself."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def services_by_vmi(services: Iterable[Manifest], vmis: Iterable[Manifest]) -> dict[str, list[Manifest]]:
    """The LoadBalancer and NodePort Services that lead to one VMI alone, by the VMI's name.

    services, vmis: all of one namespace. A LoadBalancer has priority over a NodePort, then the name decides.
    """
    labels = {vmi["metadata"]["name"]: _pod_labels(vmi) for vmi in vmis}
    names: dict[tuple[str, str], list[str]] = {}
    for name, pod_labels in labels.items():
        for label in pod_labels.items():
            names.setdefault(label, []).append(name)
    result: dict[str, list[Manifest]] = {}
    for service in sorted(
        services, key=lambda service: (_type(service) != _LOAD_BALANCER, str(service["metadata"]["name"]))
    ):
        selector = service["spec"].get("selector") or {}
        if _type(service) not in (_LOAD_BALANCER, _NODE_PORT) or not selector:
            continue
        # A Service of one VM has a label that only this VM has.
        fewest = min((names.get(label, []) for label in selector.items()), key=len)
        matching = (name for name in fewest if selector.items() <= labels[name].items())
        # With a second one, the connection could end at either.
        if len(matches := list(islice(matching, 2))) == 1:
            result.setdefault(matches[0], []).append(service)
    return result


def service_endpoint(
    vmi: Manifest,
    services: Iterable[Manifest],
    node: Callable[[str], object],
    port: int = 22,
    family: str = "prefer_ipv4",
) -> Endpoint | None:
    """The address and port of the first of these Services that leads to a port of the VMI, or None.

    services: see `services_by_vmi`. node: returns a node's manifest by name; without a manifest the node's name is the
    address. port: the guest's port.
    """
    for service in services:
        for service_port in service["spec"].get("ports") or []:
            if _target_port(service_port, vmi) == port and (service_port.get("protocol") or "TCP") == "TCP":
                endpoint = _load_balancer_endpoint(service, service_port, family) or _node_port_endpoint(
                    vmi, service_port, node, family
                )
                if endpoint is not None:
                    return endpoint
    return None


def _interfaces(vmi: Manifest) -> list[Manifest]:
    devices = ((vmi.get("spec") or {}).get("domain") or {}).get("devices") or {}
    return devices.get("interfaces") or []


def _preferred(addresses: list[str], family: str) -> str | None:
    """The first address of the preferred IP version."""
    usable = list(_usable(addresses))
    for version in FAMILIES[family]:
        for address in usable:
            if address.version == version:
                return str(address)
    return None


def _usable(addresses: list[str]) -> Iterator[ipaddress.IPv4Address | ipaddress.IPv6Address]:
    for text in addresses:
        try:
            # Some network plugins add the prefix length.
            address = ipaddress.ip_interface(text).ip
        except ValueError:
            continue
        if not (address.is_loopback or address.is_link_local or address.is_unspecified):
            yield address


def _type(service: Manifest) -> str:
    return str((service.get("spec") or {}).get("type") or "")


def _pod_labels(vmi: Manifest) -> dict[str, str]:
    """The labels of the VMI's pod (KubeVirt ``virt-controller/services/template.go``)."""
    metadata = vmi["metadata"]
    hostname = (vmi.get("spec") or {}).get("hostname") or metadata["name"].partition(".")[0][:_LABEL_LENGTH]
    return {
        **(metadata.get("labels") or {}),
        "kubevirt.io": "virt-launcher",
        "kubevirt.io/created-by": str(metadata.get("uid") or ""),
        "vm.kubevirt.io/name": hostname,
        "vmi.kubevirt.io/id": metadata["name"],
    }


def _target_port(service_port: Manifest, vmi: Manifest) -> int | None:
    """The guest's port behind a port of a Service. The VMI's interfaces define the named ports."""
    target = service_port.get("targetPort") or service_port.get("port")
    if isinstance(target, int):
        return target
    ports = [port for interface in _interfaces(vmi) for port in interface.get("ports") or []]
    return next((port.get("port") for port in ports if port.get("name") == target), None)


def _load_balancer_endpoint(service: Manifest, service_port: Manifest, family: str) -> Endpoint | None:
    ingress = ((service.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    address = _preferred([str(point["ip"]) for point in ingress if point.get("ip")], family)
    names = [str(point["hostname"]) for point in ingress if point.get("hostname")]
    host = address or next(iter(names), None)
    return Endpoint(host, service_port.get("port")) if _type(service) == _LOAD_BALANCER and host else None


def _node_port_endpoint(
    vmi: Manifest, service_port: Manifest, node: Callable[[str], object], family: str
) -> Endpoint | None:
    """The NodePort on the node of the guest, which accepts connections under every traffic policy."""
    name, port = (vmi.get("status") or {}).get("nodeName"), service_port.get("nodePort")
    if not name or not port:
        return None
    manifest = node(name)
    addresses = (manifest.get("status") or {}).get("addresses") or [] if isinstance(manifest, dict) else []
    for kind in _NODE_ADDRESSES:
        address = _preferred([str(item["address"]) for item in addresses if item.get("type") == kind], family)
        if address is not None:
            return Endpoint(address, port)
    return Endpoint(name, port)
