"""Interfaces of a running VMI, as virt-handler reports them.

An interface is in the guest from the start, or once Multus has given it to the pod; not any more once its state is
absent.
"""

from __future__ import annotations

from typing import Any, Final

from node.kubelet.network import mac

Manifest = dict[str, Any]

_DOMAIN: Final = "domain"
_AGENT: Final = "guest-agent"
_MULTUS: Final = "multus-status"


def advance(vmi: Manifest, pod_ip: str, agent: bool, starts: bool, link_state: bool) -> None:
    """Brings status.interfaces up to date. starts: the guest is just being started. Changes the VMI."""
    spec, status = vmi["spec"], vmi["status"]
    before = {entry["name"]: entry for entry in status.get("interfaces") or [] if entry.get("name")}
    primary = _primary(spec)
    interfaces = []
    for number, interface in enumerate(spec["domain"].get("devices", {}).get("interfaces") or []):
        name = interface["name"]
        sources = before.get(name, {}).get("infoSource", "").split(", ")
        inside = starts or _DOMAIN in sources or _MULTUS in sources or name == primary
        if inside and interface.get("state") != "absent":
            interfaces.append(_inside(vmi, interface, number, sources, agent))
            if link_state and interface.get("sriov") is None:
                interfaces[-1]["linkState"] = "down" if interface.get("state") == "down" else "up"
            if name == primary and pod_ip:
                interfaces[-1].update(ipAddress=pod_ip, ipAddresses=[pod_ip])
        elif _MULTUS in sources:
            interfaces.append({"name": name, "infoSource": _MULTUS})
    for entry in interfaces:
        pod_interface = before.get(entry["name"], {}).get("podInterfaceName")
        if pod_interface:
            entry["podInterfaceName"] = pod_interface
    interfaces.sort(key=lambda entry: entry["name"] != primary)
    if interfaces or "interfaces" in status:
        status["interfaces"] = interfaces


def _inside(vmi: Manifest, interface: Manifest, number: int, sources: list[str], agent: bool) -> Manifest:
    name = interface["name"]
    info = [_DOMAIN, *([_AGENT] if agent else []), *([_MULTUS] if _MULTUS in sources else [])]
    entry: Manifest = {"name": name, "infoSource": ", ".join(info)}
    entry["mac"] = interface.get("macAddress") or mac(vmi["metadata"]["uid"], name)
    if interface.get("sriov") is None:
        entry["queueCount"] = 1
    if agent:
        entry["interfaceName"] = f"eth{number}"
    return entry


def _primary(spec: Manifest) -> str:
    """The name of the network that has the pod's IP."""
    for network in spec.get("networks") or []:
        if network.get("pod") is not None or (network.get("multus") or {}).get("default"):
            return str(network["name"])
    return ""
