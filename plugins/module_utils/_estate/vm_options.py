"""Options of the module virtual_machine for a machine, and what of it is not brought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .machine import MIB, Machine, rounded_up, size_text
from .names import label_value
from .rules import Rules, is_pod

Options = dict[str, Any]

_PREFIX: Final = "instancetypes.virtshape.io"
NAME_ANNOTATION: Final = f"{_PREFIX}/source-name"
ID_ANNOTATION: Final = f"{_PREFIX}/source-id"
FOLDER_LABEL: Final = f"{_PREFIX}/folder"


class Unmapped(NamedTuple):
    """Datastores, networks and devices without an entry in the maps, each with the number of its uses."""

    storage: Counter[str]
    networks: Counter[str]
    devices: Counter[str]

    def as_dict(self) -> dict[str, list[dict[str, Any]]]:
        """By map: the names with the number of uses, in order of the names."""
        counted = self._asdict().items()
        return {key: [{"name": name, "uses": uses[name]} for name in sorted(uses)] for key, uses in counted}


class Chosen(NamedTuple):
    """The choice for a machine. firmware: options for firmware and TPM. instancetype: its name."""

    name: str
    namespace: str
    instancetype: str
    preference: str
    firmware: Mapping[str, Any]


def options_of(machine: Machine, chosen: Chosen, rules: Rules, unmapped: Unmapped) -> tuple[Options, list[str]]:
    """(the options, what is not brought)."""
    lost: list[str] = []
    options: Options = {
        "name": chosen.name,
        "namespace": chosen.namespace,
        "labels": _labels(machine),
        "annotations": {NAME_ANNOTATION: machine["name"], ID_ANNOTATION: machine["id"]},
        "instancetype": {"name": chosen.instancetype},
    }
    if chosen.preference:
        options["preference"] = {"name": chosen.preference}
    options["run_strategy"] = "Always" if rules.start and machine.get("power") == "on" else "Halted"
    options.update(chosen.firmware)
    domain = {**options.pop("template", {})}
    for key, made in (("volumes", _volumes), ("networks", _networks)):
        entries = made(machine, rules, unmapped, lost)
        if entries:
            options[key] = entries
    devices = _devices(machine, rules, unmapped, lost)
    if devices:
        domain["devices"] = {**domain.get("devices", {}), **devices}
    if domain:
        options["template"] = {"spec": {"domain": domain}}
    if machine.get("fault_tolerance"):
        lost.append("fault tolerance, which KubeVirt does not have")
    return options, lost


def _labels(machine: Machine) -> dict[str, str]:
    labels = {FOLDER_LABEL: label_value(machine.get("folder") or "")}
    for key, value in machine["tags"].items():
        name = label_value(str(key))
        if name:
            labels[name] = label_value(str(value))
    return {key: value for key, value in labels.items() if value}


def _volumes(machine: Machine, rules: Rules, unmapped: Unmapped, losses: list[str]) -> list[Options]:
    volumes: list[Options] = []
    for number, disk in enumerate(machine["disks"], 1):
        name = str(disk.get("name") or f"disk {number}")
        reason = _disk_refusal(disk)
        if reason:
            losses.append(f"{name}: {reason}")
            continue
        datastore = str(disk.get("storage") or "")
        if datastore not in rules.storage:
            unmapped.storage[datastore or "(unknown)"] += 1
        source: Options = {"blank": True}
        if rules.vddk and disk.get("path") and machine.get("uuid"):
            source = {"vddk": {**rules.vddk, "uuid": machine["uuid"], "backing_file": disk["path"]}}
        settings = {"size": size_text(rounded_up(disk["size"], MIB)), **rules.storage.get(datastore, {})}
        volumes.append({"name": f"disk-{number}", "import": {**source, **settings}})
    return volumes


def _disk_refusal(disk: Mapping[str, Any]) -> str:
    """Why a disk is not brought; "" if it is."""
    if disk.get("raw"):
        return "a raw device mapping"
    if disk.get("shared"):
        return "a disk that is shared with other machines"
    if "independent" in str(disk.get("mode") or "").lower():
        return "an independent disk, which snapshots of the machine leave out"
    if not disk.get("size"):
        return "a disk whose size the source does not tell"
    return ""


def _networks(machine: Machine, rules: Rules, unmapped: Unmapped, losses: list[str]) -> list[Options]:
    networks: list[Options] = []
    has_pod = False
    for number, nic in enumerate(machine["nics"], 1):
        source = str(nic.get("network") or "")
        if source not in rules.networks:
            unmapped.networks[source or "(unknown)"] += 1
            losses.append(f"network interface {number}: {source or 'its network'} is not in the map of networks")
            continue
        target = rules.networks[source]
        if target is None:
            continue
        if is_pod(target) and has_pod:
            losses.append(f"network interface {number}: a second interface on the pod network")
            continue
        has_pod = has_pod or is_pod(target)
        network: Options = {"name": f"nic-{number}", **({} if is_pod(target) else {"multus": target})}
        if rules.keep_macs and nic.get("mac"):
            network["mac_address"] = str(nic["mac"])
        networks.append(network)
    return networks


def _devices(machine: Machine, rules: Rules, unmapped: Unmapped, losses: list[str]) -> Options:
    devices: Options = {}
    for number, text in enumerate(machine["passthrough"], 1):
        target = rules.devices.get(text)
        if target is None:
            unmapped.devices[text] += 1
            losses.append(f"device {number}: {text} is not in the map of devices")
            continue
        ((kind, name),) = target.items()
        entries = devices.setdefault("gpus" if kind == "gpu" else "hostDevices", [])
        entries.append({"name": f"device-{number}", "deviceName": name})
    return devices
