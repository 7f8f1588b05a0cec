"""Options of the module virtual_machine for a machine, and what of it is not brought."""

from __future__ import annotations

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


class Unmapped:
    """Datastores, networks and devices without an entry in the maps, each with the number of its uses."""

    def __init__(self) -> None:
        self.storage: dict[str, int] = {}
        self.networks: dict[str, int] = {}
        self.devices: dict[str, int] = {}

    @staticmethod
    def count(counts: dict[str, int], name: str) -> None:
        counts[name] = counts.get(name, 0) + 1

    def as_dict(self) -> dict[str, list[dict[str, Any]]]:
        """By map: the names with the number of uses, in order of the names."""
        maps = (("storage", self.storage), ("networks", self.networks), ("devices", self.devices))
        return {key: [{"name": name, "uses": count} for name, count in sorted(counts.items())] for key, counts in maps}


class Chosen(NamedTuple):
    """What is chosen for a machine. firmware: options for firmware and TPM. instancetype: the name."""

    name: str
    namespace: str
    instancetype: str
    preference: str
    firmware: Mapping[str, Any]


def options_of(machine: Machine, chosen: Chosen, rules: Rules, unmapped: Unmapped) -> tuple[Options, list[str]]:
    """(the options, what is not brought)."""
    lost: list[str] = []
    template: Options = {}
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
    options.update({key: value for key, value in chosen.firmware.items() if key != "template"})
    if "template" in chosen.firmware:
        template = chosen.firmware["template"]["spec"]["domain"]
    volumes = _volumes(machine, rules, unmapped, lost)
    if volumes:
        options["volumes"] = volumes
    networks = _networks(machine, rules, unmapped, lost)
    if networks:
        options["networks"] = networks
    devices = _devices(machine, rules, unmapped, lost)
    if devices:
        template = {**template, "devices": devices}
    if template:
        options["template"] = {"spec": {"domain": template}}
    if machine.get("fault_tolerance"):
        lost.append("fault tolerance: KubeVirt has none")
    return options, lost


def _labels(machine: Machine) -> dict[str, str]:
    labels = {FOLDER_LABEL: label_value(machine.get("folder") or "")}
    for key, value in machine["tags"].items():
        name = label_value(str(key))
        if name:
            labels[name] = label_value(str(value))
    return {key: value for key, value in labels.items() if value}


def _volumes(machine: Machine, rules: Rules, unmapped: Unmapped, lost: list[str]) -> list[Options]:
    volumes: list[Options] = []
    for number, disk in enumerate(machine["disks"], 1):
        name = str(disk.get("name") or f"disk {number}")
        reason = _unbrought(disk)
        if reason:
            lost.append(f"{name}: {reason}")
            continue
        datastore = str(disk.get("storage") or "")
        if datastore not in rules.storage:
            Unmapped.count(unmapped.storage, datastore or "(unknown)")
        source: Options = {"blank": True}
        if rules.vddk and disk.get("path") and machine.get("uuid"):
            source = {"vddk": {**rules.vddk, "uuid": machine["uuid"], "backing_file": disk["path"]}}
        settings = {"size": size_text(rounded_up(disk["size"], MIB)), **rules.storage.get(datastore, {})}
        volumes.append({"name": f"disk-{number}", "import": {**source, **settings}})
    return volumes


def _unbrought(disk: Mapping[str, Any]) -> str:
    """Why a disk is not brought; "" if it is."""
    if disk.get("raw"):
        return "a raw device mapping"
    if disk.get("shared"):
        return "it is shared with other machines"
    if "independent" in str(disk.get("mode") or "").lower():
        return "an independent disk, which snapshots of the machine leave out"
    if not disk.get("size"):
        return "the source does not tell its size"
    return ""


def _networks(machine: Machine, rules: Rules, unmapped: Unmapped, lost: list[str]) -> list[Options]:
    networks: list[Options] = []
    has_pod = False
    for number, nic in enumerate(machine["nics"], 1):
        source = str(nic.get("network") or "")
        if source not in rules.networks:
            Unmapped.count(unmapped.networks, source or "(unknown)")
            lost.append(f"network interface {number}: {source or 'its network'} is not in the map of networks")
            continue
        target = rules.networks[source]
        if target is None:
            continue
        if is_pod(target) and has_pod:
            lost.append(f"network interface {number}: a VM has one interface on the pod network")
            continue
        has_pod = has_pod or is_pod(target)
        network: Options = {"name": f"nic-{number}", **({} if is_pod(target) else {"multus": target})}
        if rules.keep_macs and nic.get("mac"):
            network["mac_address"] = str(nic["mac"])
        networks.append(network)
    return networks


def _devices(machine: Machine, rules: Rules, unmapped: Unmapped, lost: list[str]) -> Options:
    devices: Options = {}
    for number, text in enumerate(machine["passthrough"], 1):
        target = rules.devices.get(text)
        if target is None:
            Unmapped.count(unmapped.devices, text)
            lost.append(f"device {text}: it is not in the map of devices")
            continue
        ((kind, name),) = target.items()
        entries = devices.setdefault("gpus" if kind == "gpu" else "hostDevices", [])
        entries.append({"name": f"device-{number}", "deviceName": name})
    return devices
