"""Finds VMs that make or write to the same disk, or that have the same MAC address."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from ..api.errors import FieldError
from ..api.finding import COLLISION, ERROR, WARNING, Finding
from ..api.manifest import Manifest, claim_of, name_of, namespace_of
from ..api.name_rules import first_names
from ..kubevirt.vm.readiness import HALTED, run_strategy
from .references import templates_of

Name = tuple[str, str]
"""Namespace and name of a VM."""

_TEMPLATE: Final = "spec.template.spec"
MAKES: Final = "makes the DataVolume"
WRITES: Final = "writes to the disk"
HAS_MAC: Final = "has the MAC address"
_MOST_NAMES: Final = 3


class Use(NamedTuple):
    """A thing that only one VM may have. what: one of the constants above. place: the namespace of a disk, the network
    of an address.
    """

    path: str
    what: str
    place: str
    value: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.what, self.place, self.value


def uses(vm: Manifest) -> list[Use]:
    """The things that only this VM may have; none for a VM that is rejected, because it does not match the schema."""
    try:
        return [*_made_disks(vm), *_written_disks(vm), *_addresses(vm)]
    except (AttributeError, FieldError, KeyError, TypeError):
        return []


def collisions(
    vms: Mapping[Name, Iterable[Use]], made: Mapping[Name, Collection[str]] = MappingProxyType({})
) -> dict[Name, list[Finding]]:
    """The findings about each VM that shares something with others, or a disk among its own volumes.

    All findings about one shared thing have the same text.

    made: the disks that KubeVirt has made for a VM. A change of the VM does not make these worse, so they are a doubt.
    """
    groups: dict[tuple[str, str, str], dict[Name, Use]] = {}
    found: dict[Name, list[Finding]] = {}
    for name, own in vms.items():
        for use in own:
            first = groups.setdefault(use.key, {}).setdefault(name, use)
            if first is not use and use.what == WRITES:
                found.setdefault(name, []).append(_used_twice(use))
    for (what, place, value), members in groups.items():
        # VMs that make the same disk write to it, too.
        if len(members) < 2 or (what == WRITES and len(groups.get((MAKES, place, value), ())) > 1):
            continue
        names = _joined(["/".join(filter(None, name)) for name in members])
        for name, use in members.items():
            found.setdefault(name, []).append(_finding(use, names, is_made=value in made.get(name, ())))
    return found


def _used_twice(use: Use) -> Finding:
    text = f"two volumes of the VM use the disk {use.value}: QEMU refuses the guest, or both damage the data"
    return Finding(text, WARNING, use.path, "leave out one of the volumes", rule=COLLISION)


def _joined(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        return first_names(names, _MOST_NAMES)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _finding(use: Use, names: str, *, is_made: bool) -> Finding:
    """The finding about something that several VMs have in common.

    names: the VMs that have something in common. is_made: the disk exists.
    """
    if use.what == MAKES:
        text, remedy = f"{names} make the same DataVolume {use.value}", "choose another name for one of the volumes"
        return Finding(text, WARNING if is_made else ERROR, use.path, remedy, rule=COLLISION)
    if use.what == WRITES:
        text = f"{names} use the disk {use.value}: QEMU refuses the second guest, or both damage the data"
        remedy = "give each VM a disk of its own, or stop the others, or mark the disk as shareable in all of them"
        return Finding(text, WARNING, use.path, remedy, rule=COLLISION)
    text, remedy = f"{names} have the MAC address {use.value} in one network", "give each VM an address of its own"
    return Finding(text, WARNING, use.path, remedy, rule=COLLISION)


def _made_disks(vm: Manifest) -> Iterator[Use]:
    for index, template in enumerate(templates_of(vm)):
        if name_of(template):
            yield Use(f"spec.dataVolumeTemplates[{index}]", MAKES, namespace_of(vm), name_of(template))


def _written_disks(vm: Manifest) -> Iterator[Use]:
    """The disks to which only one guest may write at a time, of a VM that is to run."""
    if run_strategy(vm) in (HALTED, "Manual"):
        return
    spec = vm["spec"]["template"].get("spec") or {}
    devices = (spec.get("domain") or {}).get("devices") or {}
    disks = {disk["name"]: disk for disk in devices.get("disks") or ()}
    directories = {filesystem.get("name") for filesystem in devices.get("filesystems") or ()}
    for index, volume in enumerate(spec.get("volumes") or ()):
        source = volume.get("dataVolume") or volume.get("persistentVolumeClaim") or {}
        name = volume.get("name")
        if source and name not in directories and not (source.get("readOnly") or _is_shareable(disks.get(name) or {})):
            yield Use(f"{_TEMPLATE}.volumes[{index}]", WRITES, namespace_of(vm), claim_of(volume))


def _is_shareable(disk: Manifest) -> bool:
    """Whether several guests may have a disk: it says so, or none writes to it."""
    drive = disk.get("cdrom")
    if drive is not None and drive.get("readonly") is not False:
        return True
    # Guests that make reservations on a LUN, such as the nodes of a failover cluster, agree on who writes.
    reserved = (disk.get("lun") or {}).get("reservation")
    read_only = any((disk.get(device) or {}).get("readonly") for device in ("disk", "lun"))
    return bool(disk.get("shareable") or reserved or read_only)


def _addresses(vm: Manifest) -> Iterator[Use]:
    spec = vm["spec"]["template"].get("spec") or {}
    networks = {network["name"]: network for network in spec.get("networks") or ()}
    interfaces = ((spec.get("domain") or {}).get("devices") or {}).get("interfaces") or ()
    for index, interface in enumerate(interfaces):
        if address := interface.get("macAddress"):
            attached = ((networks.get(interface.get("name")) or {}).get("multus") or {}).get("networkName") or ""
            network = attached if "/" in attached else f"{namespace_of(vm)}/{attached}"
            path = f"{_TEMPLATE}.domain.devices.interfaces[{index}].macAddress"
            yield Use(path, HAS_MAC, network, address.lower().replace("-", ":"))
