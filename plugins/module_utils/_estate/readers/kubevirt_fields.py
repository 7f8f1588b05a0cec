"""The fields of VMs of KubeVirt that are read or ignored; each other one is listed as not brought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from .reading import words

# Paths below `spec`, without the places in lists; `*` stands for any text.
USED: Final = words(
    "running runStrategy instancetype.kind instancetype.name preference.kind preference.name"
    " dataVolumeTemplates.metadata.name dataVolumeTemplates.spec.storage.resources.requests.storage"
    " dataVolumeTemplates.spec.pvc.resources.requests.storage dataVolumeTemplates.spec.*.storageClassName"
    " template.metadata.annotations.vm.kubevirt.io/os"
    " template.spec.volumes.name template.spec.volumes.dataVolume.name"
    " template.spec.volumes.persistentVolumeClaim.claimName template.spec.networks.name"
    " template.spec.networks.pod template.spec.networks.multus.networkName"
    " template.spec.domain.cpu.cores template.spec.domain.cpu.sockets template.spec.domain.cpu.threads"
    " template.spec.domain.cpu.dedicatedCpuPlacement template.spec.domain.memory.guest"
    " template.spec.domain.memory.hugepages.pageSize template.spec.domain.resources.requests.*"
    " template.spec.domain.firmware.bootloader*"
    " template.spec.domain.devices.tpm* template.spec.domain.devices.autoattachPodInterface"
    " template.spec.domain.devices.gpus.deviceName template.spec.domain.devices.hostDevices.deviceName"
    " template.spec.domain.devices.interfaces.macAddress template.spec.domain.devices.interfaces.model"
    " template.spec.domain.devices.interfaces.state template.spec.domain.devices.disks.shareable"
)
# Names within the VM, revisions, empty parts, contents of disks, which come by other ways, and preferences' choices.
IGNORED: Final = words(
    "instancetype.revisionName instancetype.inferFrom* preference.revisionName preference.inferFrom*"
    " dataVolumeTemplates.apiVersion dataVolumeTemplates.kind dataVolumeTemplates.metadata.*"
    " dataVolumeTemplates.spec.*source* dataVolumeTemplates.spec.*accessModes dataVolumeTemplates.spec.*volumeMode"
    " dataVolumeTemplates.spec.contentType dataVolumeTemplates.spec.preallocation template.metadata.*"
    " template.spec.domain.devices.disks.name template.spec.domain.devices.disks.disk.bus"
    " template.spec.domain.devices.interfaces.name template.spec.domain.devices.interfaces.masquerade"
    " template.spec.domain.devices.interfaces.bridge template.spec.domain.devices.gpus.name"
    " template.spec.domain.devices.hostDevices.name template.spec.domain.cpu.maxSockets"
    " template.spec.domain.memory.maxGuest template.spec.domain.machine.type template.spec.domain.features*"
    " template.spec.domain.clock* template.spec.domain.devices.rng template.spec.domain.devices.inputs*"
    " template.spec.domain.devices.networkInterfaceMultiqueue template.spec.domain.devices.blockMultiQueue"
    " template.spec.volumes.*.hotpluggable template template.spec template.metadata template.spec.domain"
    " template.spec.domain.devices template.spec.domain.cpu template.spec.domain.memory"
    " template.spec.domain.resources template.spec.domain.resources.requests template.spec.domain.resources.limits*"
)


def lost(vm: Mapping[str, Any]) -> list[str]:
    """A line with all settings of a VM that are neither read nor ignored; none if there are none."""
    paths = dict.fromkeys(_paths(vm.get("spec"), ""))
    settings = [path for path in paths if not any(fnmatchcase(path, pattern) for pattern in (*USED, *IGNORED))]
    shown = [path.removeprefix("template.spec.") for path in settings]
    return [f"settings ({', '.join(shown)})"] if shown else []


def _paths(value: Any, path: str) -> Iterator[str]:
    """The paths of all values that are no collections, and of empty ones, which may mean something."""
    if isinstance(value, Mapping) and value:
        for key, entry in value.items():
            yield from _paths(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for entry in value:
            yield from _paths(entry, path)
    elif value is not None:
        yield path
