"""Simulates Multus: says in an annotation which interfaces a pod has."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from node.kubelet import needs
from node.kubelet.pod_status import address

Manifest = dict[str, Any]

STATUS = "k8s.v1.cni.cncf.io/network-status"


def mac(*parts: str) -> str:
    """A MAC address that follows from the texts, in the range of locally administered ones."""
    digest = hashlib.sha256("/".join(parts).encode()).digest()
    return ":".join(f"{byte:02x}" for byte in (0x02, *digest[:5]))


def guest_mac(vmi: Manifest, interface: Manifest) -> str:
    """The MAC address of an interface in the guest."""
    return str(interface.get("macAddress") or mac(vmi["metadata"]["uid"], interface["name"]))


def status(pod: Manifest) -> str:
    """The annotation's text: the default network, and those that the pod asks for."""
    uid, namespace = pod["metadata"]["uid"], pod["metadata"]["namespace"]
    annotations = pod["metadata"].get("annotations") or {}
    default = annotations.get(needs.DEFAULT_NETWORK) or "k8s-pod-network"
    primary = {"name": default, "interface": "eth0", "ips": [address(pod)], "mac": mac(uid, "eth0"), "default": True}
    networks: list[Manifest] = [{**primary, "dns": {}}]
    for number, element in enumerate(needs.elements(pod), 1):
        interface = element.get("interface") or f"net{number}"
        name = f"{element.get('namespace') or namespace}/{element['name']}"
        address_of = element.get("mac") or mac(uid, interface)
        networks.append({"name": name, "interface": interface, "mac": address_of, "dns": {}})
    return json.dumps(networks)


def change(pod: Manifest) -> Manifest | None:
    """The merge patch that brings the annotation of a virt-launcher pod up to date; None if it is."""
    desired = status(pod)
    if (pod["metadata"].get("annotations") or {}).get(STATUS) == desired:
        return None
    return {"metadata": {"uid": pod["metadata"]["uid"], "annotations": {STATUS: desired}}}
