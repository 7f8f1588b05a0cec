"""The steps of a VMI on its node. Each changes the VMI that it is given, and nothing else."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from node.api.clock import now
from node.guests import growth
from node.guests.report import Report, Told
from node.handler import conditions, guest, migration
from node.kubelet.network import guest_mac
from node.launcher_pods import CRASHES, SILENT, behaviour

Manifest = dict[str, Any]

_MOUNTABLE: Final = ("Bound", "Pending", "AttachedToNode")
_UNMOUNTABLE: Final = ("Ready", "MountedToPod", "AttachedToNode")
# Who has reported an interface.
_DOMAIN: Final = "domain"
_AGENT: Final = "guest-agent"
_MULTUS: Final = "multus-status"


class Traits(NamedTuple):
    """Properties of all guests.

    agent: they have a guest agent. migratable: they can be migrated. link_state: interfaces tell it, from 1.5 on.
    """

    agent: bool = True
    migratable: bool = False
    link_state: bool = True


def advance(
    vmi: Manifest, traits: Traits, pod_ip: str = "", migration_phase: str = "", report: Report | None = None
) -> None:
    """The next step of a VMI that is Scheduled or Running. report: of its guest, if that is real."""
    spec, status = vmi["spec"], vmi["status"]
    starts = status.get("phase") == "Scheduled"
    if starts and behaviour(vmi) == CRASHES:
        transition(status, "Failed")
        return
    if report is not None and report.ended:
        transition(status, report.ended)
        return
    told = report.told if report is not None else simulated(vmi, traits)
    if report is not None:
        vmi["metadata"].setdefault("annotations", {}).update(report.annotations)
    if report is not None or starts:
        conditions.drop(status, "Synchronized")
    if starts:
        transition(status, "Running")
        if spec.get("startStrategy") == "Paused":
            pause(status)
    status.setdefault("machine", {})["type"] = guest.machine(spec)
    status.setdefault("selinuxContext", "none")  # without one virt-controller makes no pod beside the first
    memory = (spec["domain"].get("memory") or {}).get("guest")
    if starts and memory is not None:
        for name in ("guestAtBoot", "guestCurrent", "guestRequested"):
            status.setdefault("memory", {})[name] = memory
    _advance_volumes(vmi)
    _advance_interfaces(vmi, pod_ip, told, starts, traits.link_state)
    if told is not None:
        conditions.put(status, "AgentConnected")
        if told.system and not (status.get("guestOSInfo") or {}).get("name"):
            status["guestOSInfo"] = dict(told.system)
    elif report is not None:
        conditions.drop(status, "AgentConnected")
    if report is not None and report.credentials is not None:
        taken = "False" if report.credentials else "True"
        conditions.replace(status, "AccessCredentialsSynchronized", "", report.credentials, taken)
    if traits.migratable:
        conditions.put(status, "LiveMigratable")
        conditions.put(status, "StorageLiveMigratable")
        status.setdefault("migrationMethod", "LiveMigration")
    migration.advance(vmi, migration_phase)
    if report is not None and status.get("memory"):
        status["memory"]["guestCurrent"] = growth.current(vmi, report.plugged_memory)


def simulated(vmi: Manifest, traits: Traits) -> Told | None:
    """What the agent of a guest that does not exist tells."""
    if not traits.agent or behaviour(vmi) == SILENT:
        return None
    devices = vmi["spec"]["domain"].get("devices", {}).get("interfaces") or []
    names = {guest_mac(vmi, entry).lower(): {"name": f"eth{number}"} for number, entry in enumerate(devices)}
    return Told(guest.AGENT_VERSION, guest.SYSTEM, names, timezone="UTC, 0")


def end(vmi: Manifest, phase: str = "Succeeded") -> None:
    """The guest has shut down."""
    transition(vmi["status"], phase)


def fail_to_synchronize(vmi: Manifest, message: str) -> None:
    """The guest cannot be made what it should be, which is tried again."""
    conditions.replace(vmi["status"], "Synchronized", "Synchronizing with the Domain failed.", message, "False")


def transition(status: Manifest, phase: str) -> None:
    status["phase"] = phase
    moment = {"phase": phase, "phaseTransitionTimestamp": now()}
    status["phaseTransitionTimestamps"] = [*(status.get("phaseTransitionTimestamps") or []), moment]


def pause(status: Manifest) -> None:
    conditions.put(status, "Paused", "PausedByUser", "VMI was paused by user")


def _advance_volumes(vmi: Manifest) -> None:
    """The next step of each volume's status, which virt-controller has made.

    Hot-plugged ones are mounted and attached, others get the target that they have.
    """
    spec, status = vmi["spec"], vmi["status"]
    targets = guest.targets(spec)
    names = {entry["name"] for entry in [*(spec.get("volumes") or []), *(spec.get("utilityVolumes") or [])]}
    for volume in status.get("volumeStatus") or []:
        name = volume["name"]
        if volume.get("hotplugVolume") is None:
            volume["target"] = targets.get(name, "")
        elif name in names:
            _plug(volume, targets.get(name, ""))
        else:
            _unplug(volume)


def _plug(volume: Manifest, target: str) -> None:
    """Mounts a volume, then attaches it: clients see each step, as on a node."""
    name, phase = volume["name"], volume.get("phase")
    if phase == "MountedToPod":
        if target:
            volume["target"] = target
            message = f"Successfully attach hotplugged volume {name} to VM"
            volume.update(phase="Ready", reason="VolumeReady", message=message)
    elif phase in _MOUNTABLE and volume["hotplugVolume"].get("attachPodUID"):
        message = f"Volume {name} has been mounted in virt-launcher pod"
        volume.update(phase="MountedToPod", reason="VolumeMountedToPod", message=message)


def _unplug(volume: Manifest) -> None:
    name = volume["name"]
    volume["target"] = ""
    if volume.get("phase") in _UNMOUNTABLE:
        message = f"Volume {name} has been unmounted from virt-launcher pod"
        volume.update(phase="UnMountedFromPod", reason="VolumeUnMountedFromPod", message=message)


def _advance_interfaces(vmi: Manifest, pod_ip: str, told: Told | None, starts: bool, link_state: bool) -> None:
    """Brings status.interfaces up to date. starts: the guest is just being started. told: by its agent.

    An interface is in the guest from the start, or once Multus has given it to the pod; not any more once its state is
    absent.
    """
    spec, status = vmi["spec"], vmi["status"]
    before = {entry["name"]: entry for entry in status.get("interfaces") or [] if entry.get("name")}
    primary = _primary(spec)
    interfaces = []
    for interface in spec["domain"].get("devices", {}).get("interfaces") or []:
        name = interface["name"]
        sources = before.get(name, {}).get("infoSource", "").split(", ")
        inside = starts or _DOMAIN in sources or _MULTUS in sources or name == primary
        if inside and interface.get("state") != "absent":
            interfaces.append(_inside(vmi, interface, sources, told))
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


def _inside(vmi: Manifest, interface: Manifest, sources: list[str], told: Told | None) -> Manifest:
    name, address = interface["name"], guest_mac(vmi, interface)
    seen = told.interfaces.get(address.lower()) if told is not None else None
    info = [_DOMAIN, *([_AGENT] if seen else []), *([_MULTUS] if _MULTUS in sources else [])]
    entry: Manifest = {"name": name, "infoSource": ", ".join(info), "mac": address}
    if interface.get("sriov") is None:
        entry["queueCount"] = 1
    if seen:
        entry["interfaceName"] = seen["name"]
        if seen.get("addresses"):
            entry.update(ipAddress=seen["addresses"][0], ipAddresses=seen["addresses"])
    return entry


def _primary(spec: Manifest) -> str:
    """The name of the network that has the pod's IP."""
    for network in spec.get("networks") or []:
        if network.get("pod") is not None or (network.get("multus") or {}).get("default"):
            return str(network["name"])
    return ""
