"""The words of virt-handler, libvirt and QEMU about guests that do not start: their meaning, and the remedy.

The words are those of KubeVirt 1.9, libvirt 11 and QEMU 10, and of earlier ones that people quote.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from .._resolver.api.manifest import Manifest, name_of, namespace_of
from .case import Case
from .link import emulated, ending, kubectl, merged, power_task, vm_task

# QEMU warns of these, and starts the guest.
_WARNINGS: Final = re.compile(r"warning: host doesn't support requested feature: \S+( \[bit \d+\])?")
_DISK: Final = re.compile(
    r"(?:vmi-disks|hotplug-disks|ephemeral-disks/disk-data|container-disks)/(?P<volume>[^/'\"\s\]]+)"
)


class Symptom(NamedTuple):
    """A kind of failure.

    words: how it is said. problem: what it means. remedy: what to do. mend: the task, of
    the case and the text; None for what only a person can do.
    """

    words: re.Pattern[str]
    problem: str
    remedy: str
    mend: Callable[[Case, str], Manifest | None] = lambda _case, _text: None


def _volume(case: Case, text: str) -> tuple[int, Manifest] | None:
    """The volume of the VM, with its index, whose file a text names."""
    found = _DISK.search(text)
    volumes = enumerate(case.declared_spec.get("volumes") or ())
    return next((item for item in volumes if found and item[1].get("name") == found["volume"]), None)


def _claims(case: Case, text: str) -> list[str]:
    """The claim of the volume that a text names, or else all of the VM."""
    found = _volume(case, text)
    volume = found[1] if found is not None else {}
    claim = (volume.get("persistentVolumeClaim") or {}).get("claimName") or (volume.get("dataVolume") or {}).get("name")
    return [claim] if claim else [item.name for item in case.volumes]


def _other_users(case: Case, text: str) -> Manifest | None:
    claims = _claims(case, text)
    users = [user for claim in claims for user in case.users_of(claim)]
    if users:
        return ending(case, users)
    return (
        kubectl("Who uses the claim?", "describe", "pvc", *claims, namespace=namespace_of(case.vm)) if claims else None
    )


def _host_disk(case: Case, text: str) -> Manifest | None:
    """Lets KubeVirt create the file of a host disk."""
    for index, volume in enumerate(case.declared_spec.get("volumes") or ()):
        disk = volume.get("hostDisk") or {}
        if disk.get("type") == "Disk":
            pointer = f"/template/spec/volumes/{index}/hostDisk"
            changes = {f"{pointer}/type": "DiskOrCreate", f"{pointer}/capacity": disk.get("capacity") or "SIZE"}
            return vm_task("Let KubeVirt create the disk", case, changes)
    return None


def _domain(text: str, pointer: str, value: object) -> Callable[[Case, str], Manifest | None]:
    """Changes a field of the domain that the VM declares; what its instancetype or preference gives, it cannot."""

    def mend(case: Case, _text: str) -> Manifest | None:
        return vm_task(text, case, {f"/template/spec/domain{pointer}": value})

    return mend


def _cpu_model(case: Case, _text: str) -> Manifest | None:
    if case.vm["spec"].get("instancetype"):
        return vm_task("Give the VM another instancetype", case, {"/instancetype/name": "NAME"})
    if case.declared_spec["domain"].get("cpu"):
        return vm_task("Take the CPU of the node", case, {"/template/spec/domain/cpu/model": "host-model"})
    return vm_task("Take the CPU of the node", case, {"/template/spec/domain/cpu": {"model": "host-model"}})


def _hugepages(case: Case, _text: str) -> Manifest | None:
    if (case.declared_spec["domain"].get("memory") or {}).get("hugepages"):
        return vm_task("Use ordinary memory", case, {"/template/spec/domain/memory/hugepages": None})
    return None


def _restarted(case: Case, _text: str) -> Manifest | None:
    return power_task("Restart the guest", case, "restarted")


def _sysprep(case: Case, _text: str) -> Manifest | None:
    sources = [volume["sysprep"] for volume in case.declared_spec.get("volumes") or () if volume.get("sysprep")]
    for kind, field, part in (("secret", "secret", "stringData"), ("configmap", "configMap", "data")):
        for source in sources:
            if name := (source.get(field) or {}).get("name"):
                answers = {part: {"autounattend.xml": "ANSWERS"}}
                return merged("Give Windows its answers", kind, name, namespace_of(case.vm), **answers)
    return None


def _log(case: Case, _text: str) -> Manifest | None:
    pod = next(iter(case.pods), None)
    if pod is None:
        return None
    return kubectl("Read the log", "logs", name_of(pod), "--container", "compute", namespace=namespace_of(pod))


def _words(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_CONSOLE: Final = "see the log of the pod's container compute"

CAUSES: Final = (
    Symptom(
        _words(r"cannot limit locked memory|RLIMIT_MEMLOCK|locked memory"),
        "the pod may not lock the guest's memory, which a device that is passed through needs",
        "raise the limit of locked memory of the node's container runtime, or give the pod CAP_SYS_RESOURCE: a mutating"
        " policy may have removed it",
    ),
    Symptom(
        _words(
            r"/dev/kvm|KVM kernel module|KVM is not available|hardware emulation device|virt type 'kvm'|domaintype=kvm"
            r"|failed to initialize kvm|KVM support not available"
        ),
        "the node offers no KVM to the guest",
        "turn on virtualization in its firmware, or nested virtualization in its hypervisor, and load the module kvm;"
        " without it KubeVirt can emulate, which is slow",
        lambda case, _text: emulated(case),
    ),
    Symptom(
        _words(r"Failed to get .{0,20}lock\b|Is another process using the image"),
        "another process uses the disk",
        "stop the VM that has the same disk, or give this one a disk of its own",
        _other_users,
    ),
    Symptom(
        _words(r"multiple of request alignment"),
        "the size of the disk is no multiple of the block size of its storage",
        "make the image as large as whole blocks: import it again, or resize it to a multiple of 1 MiB",
    ),
    Symptom(
        _words(r"root PCI bus|No more available PCI|PCI slots|no PCI buses|duplicate target|Unrecognized bus"),
        "the guest has more devices, or other buses, than its machine has room for",
        "move disks to the bus scsi, or remove interfaces or devices",
    ),
    Symptom(
        _words(r"not enough space|no space left|demanded size|disk quota exceeded"),
        "the storage of the disk is full, or smaller than the disk",
        "free or enlarge the storage, or let KubeVirt accept less: pvcTolerateLessSpaceUpToPercent",
    ),
    Symptom(
        _words(
            r"hugepage|hugetlbfs|backing store for guest RAM|Cannot allocate memory|can.t allocate memory"
            r"|cannot set up guest memory"
        ),
        "the node lacks the memory or the huge pages for the guest",
        "reserve huge pages on the node and restart kubelet, free memory there, or let the VM use ordinary memory",
        _hugepages,
    ),
    Symptom(
        _words(
            r"CPU.{0,40}(incompatible|not (available|supported|provided|compatible))|(un)?known CPU model"
            r"|host CPU.{0,60}(match|lack|miss)|missing features|invalid CPU|guest CPU.{0,60}match"
            r"|unable to find.{0,30}CPU"
        ),
        "the node's CPU lacks the model or a feature of the guest's",
        "give the VM a CPU model that the node has: its labels cpu-model.node.kubevirt.io/ name them",
        _cpu_model,
    ),
    Symptom(
        _words(r"max(imum)? CPUs|maximum vcpu count|missing hotplug data|SMP (CPUs|topolog)"),
        "the machine type does not support so many vCPUs, or that they are plugged in later",
        "give the VM fewer vCPUs or sockets, or another machine type",
    ),
    Symptom(
        _words(r"machine type|unsupported machine"),
        "the node's QEMU does not know the machine type",
        "take a machine type that KubeVirt supports, such as q35",
        _domain("Take a machine type that there is", "/machine", {"type": "q35"}),
    ),
    Symptom(
        _words(r"OVMF|EFI.{0,20}rom|UEFI|secure ?boot|firmware.{0,40}(not found|unable|missing)|any firmware"),
        "virt-launcher has no firmware of this kind",
        "boot by BIOS, or without Secure Boot; see that the guest's system can",
        _domain("Boot by BIOS", "/firmware/bootloader", {"bios": {}}),
    ),
    Symptom(
        _words(r"\bSEV\b|SEV-|\bTDX\b|launch security|memory encryption"),
        "the node cannot encrypt the guest's memory",
        "run the VM on a node with this feature, or without launchSecurity",
        _domain("Do without encrypted memory", "/launchSecurity", None),
    ),
    Symptom(
        _words(r"swtpm|\bTPM\b|vTPM"),
        "the TPM of the guest does not start",
        "see the claim in which its state is kept, and the StorageClass vmStateStorageClass of KubeVirt",
    ),
    Symptom(
        _words(
            r"vfio|IOMMU|PCI device|mdev|host-?devices?|hostdev|SR-?IOV.{0,80}(not found|fail)|passthrough|\bGPU\b"
            r"|PCI_RESOURCE|USB device"
        ),
        "a device that is passed through is missing on the node, or another guest has it",
        "see the device on the node: its driver is vfio-pci, its IOMMU group is free, and the device plugin offers it",
        lambda _case, _text: kubectl("Which nodes have which devices?", "describe", "nodes"),
    ),
    Symptom(
        _words(
            r"vmi network|Link not found|critical network|pod network|plugging phase"
            r"|\btap\d*\b.{0,60}(fail|busy|exist)|bridge.{0,60}(not found|does not exist|fail)"
            r"|network.{0,60}(not found|fail)|DHCP|interface.{0,60}(not found|no such device)"
        ),
        "a network of the guest cannot be set up on the node",
        "see that the bridge of its NetworkAttachmentDefinition is on the node, that Multus runs there, and that two"
        " interfaces do not share an address",
        lambda case, _text: kubectl(
            "Which networks are there?", "get", "net-attach-def", "--output", "yaml", namespace=namespace_of(case.vm)
        ),
    ),
    Symptom(
        _words(r"sysprep"),
        "the answers for Windows are missing",
        "give the Secret or ConfigMap of the sysprep volume the key autounattend.xml or unattend.xml",
        _sysprep,
    ),
    Symptom(
        _words(
            r"cloud-?init|userdata|networkdata|ignition"
            r"|(secret|config ?map|service ?account|downward).{0,80}(fail|found|exist|no such)"
        ),
        "the pod lacks what a volume of the guest is made of, such as cloud-init's user data",
        "correct the Secret or ConfigMap: cloud-init takes the keys userdata and networkdata",
        lambda case, _text: kubectl(
            "Which are there?", "describe", "secrets,configmaps", namespace=namespace_of(case.vm)
        ),
    ),
    Symptom(
        _words(r"not in \S+ format|qcow2|invalid image|corrupt|no disk image|sourceFile|image info|header"),
        "the disk has no image that QEMU can read",
        "make the disk anew from a qcow2 or raw image; a container disk has one file, in /disk",
    ),
    Symptom(
        _words(r"does not support direct I/?O|direct IO"),
        "the file system of the disk does not support direct I/O",
        "let the disk use the cache writethrough or writeback, or other storage",
    ),
    Symptom(
        _words(
            r"permission denied|operation not permitted|change ownership|set ownership|relabel|selinux|apparmor|seccomp"
            r"|EACCES"
        ),
        "virt-launcher, which runs as user 107, may not use a file of the guest",
        "on the node or the NFS server give user and group 107 the file; a host disk needs the SELinux label"
        " container_file_t, an export no root_squash",
    ),
    Symptom(
        _words(r"read-only file system|input/output error|stale file handle|transport endpoint is not connected"),
        "the storage of a disk fails",
        "mend the storage, or start the VM on another node",
        _restarted,
    ),
    Symptom(
        _words(
            r"access storage file|no such (file|device)|does not exist|could not open|is not a block device"
            r"|not populated"
        ),
        "the file of a disk is not there",
        "put the image on the disk: a host disk needs its file on the node, or the type DiskOrCreate; a claim an import"
        " or an upload",
        _host_disk,
    ),
    Symptom(
        _words(
            r"already exists with uuid|already (running|active)|DeadlineExceeded|deadline exceeded|transport is closing"
            r"|code = Unavailable|connection (refused|reset)|connect socket|virtqemud|libvirtd|state change lock"
            r"|timed out|multiple pods active|client socket|command server"
        ),
        "virt-launcher does not answer virt-handler",
        f"{_CONSOLE}, and restart the guest",
        _restarted,
    ),
)
"""The first symptom whose words are in a text counts: devices and disks come before files in general."""

UNKNOWN: Final = Symptom(_words(""), "", f"{_CONSOLE}, and that of virt-handler on the node", _log)
"""The cause of a text that has none of the words."""


def cause_of(text: str) -> Symptom:
    """The cause of a failure; UNKNOWN if its words are not known."""
    plain = _WARNINGS.sub("", text)
    return next((cause for cause in CAUSES if cause.words.search(plain)), UNKNOWN)
