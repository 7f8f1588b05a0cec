"""The disks and interfaces of a running guest, by the spec and the status of its VMI.

virt-api has written the buses of the disks into the spec. virt-launcher gives an interface without a model virtio
(``getInterfaceType``).
"""

from __future__ import annotations

from typing import Any, Final

from ..api.manifest import Manifest, claim_of

Facts = dict[str, Any]

_DEVICES: Final = ("disk", "cdrom", "lun")
_BINDINGS: Final = ("masquerade", "bridge", "sriov", "slirp", "macvtap", "passt", "passtBinding")
_MODEL: Final = "virtio"


def disks(vmi: Manifest) -> list[Facts]:
    """The disks of a VMI in the order of its spec: {name, device, bus, source, claim, hotpluggable, target, size}, and
    `boot_order` if it is set.

    source: the field of the volume's source, "" for an empty CD-ROM drive. claim: "" for a disk without one. target:
    the device's name for libvirt, such as `vda`; size: the capacity of the claim, a quantity; "" if not reported.
    """
    spec = vmi["spec"]
    volumes = {volume["name"]: volume for volume in spec.get("volumes") or ()}
    states = {state["name"]: state for state in (vmi.get("status") or {}).get("volumeStatus") or ()}
    devices = spec["domain"].get("devices") or {}
    return [
        _disk(disk, volumes.get(disk["name"]) or {}, states.get(disk["name"]) or {})
        for disk in devices.get("disks") or ()
    ]


def _disk(disk: Manifest, volume: Manifest, state: Manifest) -> Facts:
    device = next((target for target in _DEVICES if target in disk), "disk")
    source = next((field for field in volume if field != "name"), "")
    capacity = (state.get("persistentVolumeClaimInfo") or {}).get("capacity") or {}
    result: Facts = {
        "name": disk["name"],
        "device": device,
        "bus": (disk.get(device) or {}).get("bus", ""),
        "source": source,
        "claim": claim_of(volume),
        "hotpluggable": bool(source and volume[source].get("hotpluggable")),
        "target": state.get("target") or "",
        "size": capacity.get("storage", ""),
    }
    return result if disk.get("bootOrder") is None else {**result, "boot_order": disk["bootOrder"]}


def claims(vmi: Manifest) -> list[str]:
    """The names of the claims that a VMI holds, sorted: the claims of its volumes, and the claim of TPM and EFI, which
    only the status names.
    """
    held = {claim_of(volume) for volume in vmi["spec"].get("volumes") or ()}
    for state in (vmi.get("status") or {}).get("volumeStatus") or ():
        held.add((state.get("persistentVolumeClaimInfo") or {}).get("claimName") or "")
    return sorted(held - {""})


def interfaces(vmi: Manifest) -> list[Facts]:
    """The interfaces of a VMI: {name, model, binding, network, guest_name, mac, addresses}.

    They come in the order of the spec, then interfaces that only the guest agent reports.

    model: "" for a passed-through device. network: the NetworkAttachmentDefinition, "" for the pod network. An
    interface of the guest's own, such as a bridge, has none of the three.
    """
    spec, reported = vmi["spec"], (vmi.get("status") or {}).get("interfaces") or []
    networks = {network["name"]: network for network in spec.get("networks") or ()}
    declared = (spec["domain"].get("devices") or {}).get("interfaces") or []
    states = {state.get("name"): state for state in reported}
    names = {interface["name"] for interface in declared}
    return [
        *(
            _interface(interface, networks.get(interface["name"]) or {}, states.get(interface["name"]) or {})
            for interface in declared
        ),
        *(_interface({}, {}, state) for state in reported if state.get("name") not in names),
    ]


def _interface(interface: Manifest, network: Manifest, state: Manifest) -> Facts:
    single = state.get("ipAddress")
    return {
        "name": interface.get("name") or state.get("name", ""),
        "model": interface.get("model") or (_MODEL if interface and "sriov" not in interface else ""),
        "binding": (interface.get("binding") or {}).get("name")
        or next((field for field in _BINDINGS if field in interface), ""),
        "network": (network.get("multus") or {}).get("networkName", ""),
        "guest_name": state.get("interfaceName", ""),
        "mac": state.get("mac") or interface.get("macAddress", ""),
        "addresses": state.get("ipAddresses") or ([single] if single else []),
    }
