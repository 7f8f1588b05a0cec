"""Preferences (instancetype.kubevirt.io/v1beta1).

Type → field → type expression, or a tuple (type expression, description, notes): see `schema` and
`argument_spec.Field`.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "VirtualMachinePreference": {
        "kind": "string",
        "apiVersion": "string",
        "metadata": "ObjectMeta",
        "spec": "VirtualMachinePreferenceSpec!",
    },
    "VirtualMachinePreferenceSpec": {
        "clock": ("*ClockPreferences", "The guest's clock and timers."),
        "cpu": ("*CPUPreferences", "How the vCPUs appear to the guest."),
        "devices": (
            "*DevicePreferences",
            "Devices of the VM. As soon as this is set, even to `{}`, entries of the VM that do not say whether they "
            "are a disk, LUN or CD-ROM drive become disks.",
        ),
        "features": ("*FeaturePreferences", "Features of the virtual machine's platform."),
        "firmware": ("*FirmwarePreferences", "BIOS or EFI. What the VM chooses itself wins."),
        "machine": ("*MachinePreferences", "The emulated machine."),
        "volumes": ("*VolumePreferences", "Storage of the VM."),
        "preferredSubdomain": ("*string", "Subdomain of the VM's host name, if the VM has none."),
        "preferredTerminationGracePeriodSeconds": (
            "*int64",
            "Seconds that the guest has to shut down before it is killed, if the VM does not say so.",
        ),
        "requirements": (
            "*PreferenceRequirements",
            "What a VM must have at least to use this preference. KubeVirt refuses VMs that have less.",
        ),
        "annotations": (
            "map[string]string",
            "Annotations that the VM instance gets if neither the VM nor the instancetype sets the same key.",
            {"since": "1.1"},
        ),
        "preferSpreadSocketToCoreRatio": (
            "uint32",
            "Ratio of the topology `spread`, used if `cpu.spreadOptions.ratio` is not set. 2 if neither is.",
            {"since": "1.1"},
        ),
        "preferredArchitecture": (
            "*Architecture",
            "CPU architecture of the VM, if it names none. Set when the VM is created.",
            {"since": "1.7"},
        ),
        "preferredLaunchSecurity": (
            "*LaunchSecurity",
            "Confidential computing, if neither the VM nor the instancetype sets it. One of its fields chooses the "
            "technology.",
            {"since": "1.9"},
        ),
    },
    "ClockPreferences": {
        "preferredClockOffset": (
            "*ClockOffset",
            "What the guest's clock shows, if the VM sets neither UTC nor a time zone.",
        ),
        "preferredTimer": ("*Timer", "Timers of the guest. Used only if the VM lists no timers at all."),
    },
    "CPUPreferences": {
        "preferredCPUTopology": (
            "*CPUTopology",
            "As what the guest sees the vCPUs of an instancetype: all as `sockets` (also the meaning of `any`, and the "
            "default), all as `cores` or all as `threads`, or `spread` over several of them. With `any` a VM without "
            "instancetype meets `requirements.cpu` by any topology. The spellings that begin with prefer mean the same "
            "and are deprecated; KubeVirt before 1.4 knows only those and takes any other for a single vCPU.",
        ),
        "spreadOptions": ("*SpreadOptions", "How the topology `spread` divides the vCPUs.", {"since": "1.3"}),
        "preferredCPUFeatures": (
            "[]CPUFeature",
            "CPU features, added to those of the VM. A feature that the VM names itself stays as the VM has it.",
        ),
    },
    "SpreadOptions": {
        "across": (
            "*SpreadAcross",
            "What the vCPUs are spread over. `SocketsCores` is the default.",
        ),
        "ratio": (
            "*uint32",
            "Number of cores for each socket, at least 1 and 2 by default. With `CoresThreads` it is the number of "
            "threads for each core and has to be 2. KubeVirt refuses VMs whose number of vCPUs cannot be divided so.",
        ),
    },
    "DevicePreferences": {
        "preferredAutoattachGraphicsDevice": (
            "*bool",
            "Whether the VM gets a graphics device, and so VNC, if the VM does not say so.",
        ),
        "preferredAutoattachMemBalloon": (
            "*bool",
            "Whether the VM gets a memory balloon, which reports the guest's memory use, if the VM does not say so.",
        ),
        "preferredAutoattachPodInterface": (
            "*bool",
            "Whether a VM that lists no network gets an interface on the pod network, if the VM does not say so.",
        ),
        "preferredAutoattachSerialConsole": (
            "*bool",
            "Whether the VM gets a serial console, if the VM does not say so.",
        ),
        "preferredAutoattachInputDevice": (
            "*bool",
            "Whether a VM without input devices gets one, if the VM does not say so.",
        ),
        "preferredDisableHotplug": (
            "*bool",
            "Whether volumes can not be attached to the running VM. Replaces what the VM says.",
        ),
        "preferredVirtualGPUOptions": (
            "*VGPUOptions",
            "Settings of virtual GPUs. KubeVirt stores them, but does not apply them to a VM.",
        ),
        "preferredSoundModel": ("SoundModel", "Model of the VM's sound device, if it has one without a model."),
        "preferredUseVirtioTransitional": (
            "*bool",
            "Whether virtio devices also speak the old protocol 0.9, for guests too old for 1.0, if the VM does not "
            "say so.",
        ),
        "preferredInputBus": ("InputBus", "Bus of the VM's input devices that name none."),
        "preferredInputType": (
            "InputType",
            "Type of the VM's input devices that name none. KubeVirt only takes VMs with `tablet`.",
        ),
        "preferredDiskBus": ("DiskBus", "Bus of the VM's disks that name none."),
        "preferredLunBus": ("DiskBus", "Bus of the VM's LUNs that name none."),
        "preferredCdromBus": (
            "DiskBus",
            "Bus of the VM's CD-ROM drives that name none. KubeVirt refuses CD-ROM drives on `virtio`.",
        ),
        "preferredDiskDedicatedIoThread": (
            "*bool",
            "Whether each disk on the virtio bus gets an I/O thread of its own, where the VM does not say so.",
        ),
        "preferredDiskCache": (
            "DiskCache",
            "How the node caches what the VM's disks read and write, where the VM does not say so.",
        ),
        "preferredDiskIO": ("DiskIO", "How QEMU does the I/O of the VM's disks, where the VM does not say so."),
        "preferredDiskBlockSize": (
            "*BlockSize",
            "Block size of the VM's disks, where the VM does not say so. Only one of its fields may be set.",
        ),
        "preferredInterfaceModel": ("InterfaceModel", "Model of the VM's network interfaces that name none."),
        "preferredRng": (
            "*Rng",
            "Gives the VM a random number generator fed by the node, if it has none. Has no fields; write `{}`.",
        ),
        "preferredBlockMultiQueue": (
            "*bool",
            "Whether virtio disks get a queue for each vCPU, if the VM does not say so.",
        ),
        "preferredNetworkInterfaceMultiQueue": (
            "*bool",
            "Whether virtio network interfaces get several queues, if the VM does not say so.",
        ),
        "preferredTPM": ("*TPMDevice", "Gives the VM a TPM, if it has no settings for one."),
        "preferredInterfaceMasquerade": (
            "*InterfaceMasquerade",
            "Connects interfaces on the pod network by masquerading, if the VM says nothing about how to connect them. "
            "Has no fields; write `{}`.",
        ),
        "preferredPanicDeviceModel": (
            "*PanicDeviceModel",
            "Model of the VM's panic devices that name none. Since KubeVirt 1.9 a VM without panic device gets one.",
            {"since": "1.6"},
        ),
        "preferredVideoType": (
            "*VideoType",
            "Type of the video device, if the VM names none. On arm64 only `virtio` and `ramfb` exist.",
            {"since": "1.9"},
        ),
    },
    "FeaturePreferences": {
        "preferredAcpi": ("*FeatureState", "ACPI. Replaces what the VM says."),
        "preferredApic": ("*FeatureAPIC", "The interrupt controller APIC, if the VM does not set it."),
        "preferredHyperv": (
            "*FeatureHyperv",
            "Hyper-V features, which make Windows run better. Each is used if the VM does not set the same one.",
        ),
        "preferredKvm": ("*FeatureKVM", "How KVM shows itself to the guest, if the VM does not set it."),
        "preferredPvspinlock": (
            "*FeatureState",
            "Paravirtual spinlocks, if the VM does not set them.",
        ),
        "preferredSmm": (
            "*FeatureState",
            "System management mode, if the VM does not set it. Secure boot needs it.",
        ),
    },
    "FirmwarePreferences": {
        "preferredUseBios": ("*bool", "Whether to boot with BIOS. Wins over EFI if both are preferred."),
        "preferredUseBiosSerial": ("*bool", "Whether the BIOS writes to the serial console. Used only with BIOS."),
        "preferredUseEfi": (
            "*bool",
            "Whether to boot with EFI. Not used where `firmware.preferredEfi` takes effect.",
            {"deprecated": "Use `firmware.preferredEfi`."},
        ),
        "preferredUseSecureBoot": (
            "*bool",
            "Whether EFI only boots signed code. Fills in what a VM with EFI leaves open; not used where "
            "`firmware.preferredEfi` takes effect.",
            {"deprecated": "Use `firmware.preferredEfi.secureBoot`."},
        ),
        "preferredEfi": ("*EFI", "Boots with EFI, with these settings.", {"since": "1.4"}),
    },
    "MachinePreferences": {
        "preferredMachineType": (
            "string",
            "Machine type, such as `q35`, `pc-q35-rhel9.4.0`, `virt` or `s390-ccw-virtio`, if the VM names none.",
        ),
    },
    "VolumePreferences": {
        "preferredStorageClassName": (
            "string",
            "Storage class of the VM's data volume templates that name none. Set when the VM is created.",
        ),
    },
    "PreferenceRequirements": {
        "cpu": ("*CPUPreferenceRequirement", "The vCPUs needed."),
        "memory": ("*MemoryPreferenceRequirement", "The memory needed."),
        "architecture": (
            "*Architecture",
            "The architecture that the VM must have.",
            {"since": "1.7"},
        ),
    },
    "CPUPreferenceRequirement": {
        "guest": (
            "uint32!",
            "Least number of vCPUs. Without an instancetype only those count that the VM provides in the preferred "
            "topology, which is sockets by default.",
        ),
    },
    "MemoryPreferenceRequirement": {
        "guest": ("Quantity!", "Least memory that the guest sees, as a quantity such as `2Gi`."),
    },
}
