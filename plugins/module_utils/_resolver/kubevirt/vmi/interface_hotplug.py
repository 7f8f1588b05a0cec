"""Interfaces and networks of a running guest: which changes it can take, and what it gets
(``pkg/network/vmliveupdate``, ``pkg/network/controllers``).
"""

from __future__ import annotations

import re
from typing import Any, Final

from ...api.tree import copy
from .cluster import KubeVirt

Manifest = dict[str, Any]

_ORDINAL_NAME: Final = re.compile(r"net\d+")


def interfaces_need_restart(desired: Manifest, running: Manifest, kubevirt: KubeVirt) -> bool:
    """Whether interfaces or networks of the guest were removed or changed; new ones and states do not count
    (``IsRestartRequired``).

    desired, running: VMI specs.
    """
    if kubevirt.release.restarts_for_pod_network and _has_pod_network(desired) and not _has_pod_network(running):
        return True

    def interfaces(spec: Manifest) -> dict[str, Manifest]:
        return {entry["name"]: {key: entry[key] for key in entry if key != "state"} for entry in _interfaces(spec)}

    def networks(spec: Manifest) -> dict[str, Manifest]:
        result = {entry["name"]: copy(entry) for entry in spec.get("networks") or []}
        for entry in result.values():
            if entry.get("multus") is not None and kubevirt.changes_networks:
                entry["multus"]["networkName"] = ""
        return result

    return any(
        named(desired).get(name) != entry for named in (interfaces, networks) for name, entry in named(running).items()
    )


def plugged(desired: Manifest, instance: Manifest, kubevirt: KubeVirt) -> Manifest:
    """The spec of a VMI with the VM's interfaces, states and networks, as far as a running guest can have them.

    desired: the VM's VMI spec. instance: with `spec`; its status names the pod's interfaces.
    """
    result: Manifest = copy(instance["spec"])
    devices = result["domain"].setdefault("devices", {})
    present = {entry["name"]: entry for entry in devices.get("interfaces") or []}
    networks = {entry["name"]: entry for entry in desired.get("networks") or []}
    fixed = _has_ordinal_names(instance)
    for interface in _interfaces(desired):
        current, state = present.get(interface["name"]), interface.get("state")
        pluggable = interface.get("bridge") is not None or interface.get("sriov") is not None
        if current is None and state != "absent" and pluggable and interface["name"] in networks:
            devices["interfaces"] = [*(devices.get("interfaces") or []), interface]
            result["networks"] = [*(result.get("networks") or []), networks[interface["name"]]]
        elif current is not None and state != current.get("state") and not (fixed and state == "absent"):
            current.pop("state", None)
            current.update({} if state is None else {"state": state})
    for network in result.get("networks") or []:
        declared = networks.get(network["name"]) or {}
        if kubevirt.changes_networks and "multus" in declared and "multus" in network:
            network["multus"]["networkName"] = declared["multus"]["networkName"]
    return result


def _has_ordinal_names(instance: Manifest) -> bool:
    """Whether the pod numbers its interfaces, so that none can be unplugged. KubeVirt assumes it of a pod that reports
    none.
    """
    networks = [entry for entry in instance["spec"].get("networks") or [] if entry.get("multus") is not None]
    secondary = [entry["name"] for entry in networks if not entry["multus"].get("default")]
    reported = (instance.get("status") or {}).get("interfaces") or []
    names = {entry.get("name"): entry.get("podInterfaceName") for entry in reported}
    name = next((names[entry] for entry in secondary if names.get(entry)), None)
    return bool(secondary) if name is None else _ORDINAL_NAME.fullmatch(name) is not None


def _has_pod_network(spec: Manifest) -> bool:
    return any(entry.get("pod") is not None for entry in spec.get("networks") or [])


def _interfaces(spec: Manifest) -> list[Manifest]:
    interfaces: list[Manifest] = spec["domain"].get("devices", {}).get("interfaces") or []
    return interfaces
