"""Options of the module virtual_machine for a machine, and what of it is not brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .._resolver.api.keys import (
    ASSIGNMENT_ANNOTATION,
    SOURCE_FOLDER_LABEL,
    SOURCE_ID_ANNOTATION,
    SOURCE_NAME_ANNOTATION,
)
from .._resolver.api.manifest import Options
from .._resolver.choose.sizes import memory_text
from .machine import MIB, Machine, rounded_up
from .memory import Given
from .names import label_value, part_names
from .rules import POD, Rules

# (rule, datastore, network or device without an entry in its map) → the number of its uses.
Unmapped = Counter[tuple[str, str]]


def options_of(
    machine: Machine, vm: Options, firmware: Mapping[str, Any], given: Given, rules: Rules, unmapped: Unmapped
) -> tuple[Options, list[str]]:
    """(the options, what is not brought). vm: name, namespace and matchers. firmware: options for firmware and TPM.

    given: what the machine is given, with the names of all its parts.
    """
    lost: list[str] = [*machine["not_brought"]]
    names = _part_names(machine, dict(given.parts))
    optional = {
        **firmware,
        "volumes": _volumes(machine, names["disk"], rules, unmapped, lost),
        "networks": _networks(machine, names["nic"], rules, unmapped, lost),
    }
    domain = {**firmware.get("template", {})}
    devices = _devices(machine, names["device"], rules, unmapped, lost)
    if not optional["networks"]:
        # Otherwise KubeVirt connects it to the pod network.
        devices["autoattachPodInterface"] = False
    if devices:
        domain["devices"] = {**domain.get("devices", {}), **devices}
    optional["template"] = {"spec": {"domain": domain}} if domain else {}
    if machine.get("power") == "suspended":
        lost.append("the memory of a suspended machine, which starts anew")
    if machine.get("fault_tolerance"):
        lost.append("fault tolerance, which KubeVirt does not have")
    options = {
        **vm,
        "labels": _labels(machine),
        "annotations": {
            SOURCE_NAME_ANNOTATION: machine["name"],
            SOURCE_ID_ANNOTATION: machine["id"],
            ASSIGNMENT_ANNOTATION: given.annotation(),
        },
        "run_strategy": "Always" if rules.start and machine.get("power") == "on" else "Halted",
        **{key: value for key, value in optional.items() if value},
    }
    return options, lost


def parts_of(machine: Machine, parts: Mapping[str, str]) -> dict[str, str]:
    """The names of the machine's volumes, networks and devices, and all earlier ones → their keys in the source."""
    result = dict(parts)
    _part_names(machine, result)
    return result


def _part_names(machine: Machine, parts: dict[str, str]) -> dict[str, list[str]]:
    """The names by kind, in the order of the source. parts: see `part_names`."""
    keys = {
        "disk": [_first(disk, "id", "name", "path") or str(place) for place, disk in enumerate(machine["disks"], 1)],
        "nic": [_first(nic, "mac", "network").lower() or str(place) for place, nic in enumerate(machine["nics"], 1)],
        "device": machine["passthrough"],
    }
    return {noun: part_names(noun, own, parts) for noun, own in keys.items()}


def _first(part: Mapping[str, Any], *fields: str) -> str:
    return next((str(part[field]) for field in fields if part.get(field)), "")


def _labels(machine: Machine) -> dict[str, str]:
    labels = {SOURCE_FOLDER_LABEL: label_value(machine.get("folder") or "")}
    labels.update({label_value(str(key)): label_value(str(value)) for key, value in machine["tags"].items()})
    return {key: value for key, value in labels.items() if key and value}


def _volumes(
    machine: Machine, names: Sequence[str], rules: Rules, unmapped: Unmapped, losses: list[str]
) -> list[Options]:
    volumes: list[Options] = []
    for number, disk in enumerate(machine["disks"], 1):
        name = str(disk.get("name") or f"disk {number}")
        reason = _disk_refusal(disk)
        if reason:
            losses.append(f"{name}: {reason}")
            continue
        datastore = str(disk.get("storage") or "")
        if datastore not in rules.storage:
            unmapped["storage", datastore or "(unknown)"] += 1
        source: Options = {"blank": True}
        if rules.vddk and disk.get("path") and machine.get("uuid"):
            source = {"vddk": {**rules.vddk, "uuid": machine["uuid"], "backing_file": disk["path"]}}
        settings = {"size": memory_text(rounded_up(disk["size"], MIB)), **rules.storage.get(datastore, {})}
        volumes.append({"name": names[number - 1], "import": {**source, **settings}})
    return volumes


def _disk_refusal(disk: Mapping[str, Any]) -> str:
    """Why a disk is not brought; "" if it is."""
    refusals = {
        "a raw device mapping": disk.get("raw"),
        "a disk that is shared with other machines": disk.get("shared"),
        "an independent disk, which snapshots of the machine leave out": "independent" in str(disk.get("mode")).lower(),
        "a disk whose size the source does not tell": not disk.get("size"),
    }
    return next((reason for reason, holds in refusals.items() if holds), "")


def _networks(
    machine: Machine, names: Sequence[str], rules: Rules, unmapped: Unmapped, losses: list[str]
) -> list[Options]:
    networks: list[Options] = []
    has_pod = False
    # The pod network of VMs of KubeVirt is the same by the same name.
    targets = {POD: POD, **rules.networks}
    for number, nic in enumerate(machine["nics"], 1):
        source = str(nic.get("network") or "")
        target = targets.get(source)
        if nic.get("connected") is False:
            losses.append(f"network interface {number}: it is not connected to {source or 'its network'}")
            continue
        if "sriov" in str(nic.get("model")).lower():
            losses.append(f"network interface {number}: direct access to a device of the host (SR-IOV)")
        if source not in targets:
            unmapped["networks", source or "(unknown)"] += 1
            losses.append(f"network interface {number}: {source or 'its network'} is not in the map of networks")
        elif target == POD and has_pod:
            losses.append(f"network interface {number}: a second interface on the pod network")
        elif target is not None:
            has_pod = has_pod or target == POD
            network: Options = {"name": names[number - 1], **({} if target == POD else {"multus": target})}
            if rules.keep_macs and nic.get("mac"):
                network["mac_address"] = str(nic["mac"])
            networks.append(network)
    return networks


def _devices(machine: Machine, names: Sequence[str], rules: Rules, unmapped: Unmapped, losses: list[str]) -> Options:
    devices: Options = {}
    for number, text in enumerate(machine["passthrough"], 1):
        target = rules.devices.get(text)
        if target is None:
            unmapped["devices", text] += 1
            losses.append(f"device {number}: {text} is not in the map of devices")
            continue
        ((kind, name),) = target.items()
        entries = devices.setdefault("gpus" if kind == "gpu" else "hostDevices", [])
        entries.append({"name": names[number - 1], "deviceName": name})
    return devices
