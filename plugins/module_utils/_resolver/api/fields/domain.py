"""The guest's hardware, and what VMs share with instancetypes and preferences (kubevirt.io/v1).

Type → field → type expression, or a tuple (type expression, description, notes): see `schema` and
`argument_spec.Field`.
"""

from __future__ import annotations

from typing import Any

TYPES: dict[str, dict[str, Any]] = {
    "NUMA": {
        "guestMappingPassthrough": (
            "*NUMAGuestMappingPassthrough",
            "Gives the guest a NUMA topology that follows the physical CPUs it is pinned to. Needs dedicated CPUs and "
            "huge pages. Has no fields; write `{}`.",
        ),
    },
    "NUMAGuestMappingPassthrough": {},
    "Realtime": {
        "mask": (
            "string",
            "Which vCPUs run real-time work, such as `0-3,^1` for 0, 2 and 3. Unset means all.",
        ),
    },
    "Hugepages": {
        "pageSize": (
            "string",
            "Size of the pages: `2Mi` or `1Gi` on amd64, other sizes elsewhere. Spelled as the nodes name the resource "
            "(`hugepages-2Mi`).",
        ),
    },
    "GPU": {
        "name": ("string!", "Name of the device inside the VM."),
        "deviceName": (
            "string",
            "Resource name under which nodes offer the device, such as `nvidia.com/GA102GL_A10`.",
            {"written_until": "1.6"},
        ),
        "claimName": (
            "string",
            "Dynamic resource allocation: name of the VM's resource claim that the device comes from.",
            {"since": "1.6", "kept_until": "1.9"},
        ),
        "requestName": (
            "string",
            "Dynamic resource allocation: name of the request in that claim.",
            {"since": "1.6", "kept_until": "1.9"},
        ),
        "virtualGPUOptions": ("*VGPUOptions", "Settings of a virtual GPU."),
        "tag": ("string", "Tag that the guest finds beside the device's address in its config drive."),
    },
    "VGPUOptions": {
        "display": ("*VGPUDisplayOptions", "The virtual GPU as a display."),
    },
    "VGPUDisplayOptions": {
        "enabled": ("*bool", "Whether the virtual GPU shows a display. Default is true."),
        "ramFB": (
            "*FeatureState",
            "A simple frame buffer that shows the boot until the GPU's driver is loaded. On by default.",
        ),
    },
    "FeatureState": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
    },
    "HostDevice": {
        "name": ("string!", "Name of the device inside the VM."),
        "deviceName": (
            "string",
            "Resource name under which nodes offer the device, such as `intel.com/qat`.",
            {"written_until": "1.6"},
        ),
        "claimName": (
            "string",
            "Dynamic resource allocation: name of the VM's resource claim that the device comes from.",
            {"since": "1.6", "kept_until": "1.9"},
        ),
        "requestName": (
            "string",
            "Dynamic resource allocation: name of the request in that claim.",
            {"since": "1.6", "kept_until": "1.9"},
        ),
        "tag": ("string", "Tag that the guest finds beside the device's address in its config drive."),
    },
    "DiskIOThreads": {
        "supplementalPoolThreadCount": (
            "*uint32",
            "Number of threads of the I/O threads policy `supplementalPool`. A VM that sets it itself conflicts with "
            "an instancetype that does.",
        ),
    },
    "LaunchSecurity": {
        "sev": ("*SEV", "AMD Secure Encrypted Virtualization."),
        "snp": ("*SEVSNP", "AMD SEV-SNP. Has no fields; write `{}`.", {"since": "1.7"}),
        "tdx": ("*TDX", "Intel Trust Domain Extensions. Has no fields; write `{}`.", {"since": "1.7"}),
    },
    "SEV": {
        "policy": ("*SEVPolicy", "What the guest demands of the platform."),
        "attestation": (
            "*SEVAttestation",
            "Starts the VM only after its owner has attested it. Has no fields; write `{}`.",
            {"since": "1.1"},
        ),
        "session": ("string", "The owner's session blob, base64.", {"since": "1.1"}),
        "dhCert": ("string", "The owner's Diffie-Hellman certificate, base64.", {"since": "1.1"}),
    },
    "SEVPolicy": {
        "encryptedState": ("*bool", "Whether the CPU's registers are encrypted too (SEV-ES). Default is false."),
    },
    "SEVAttestation": {},
    "SEVSNP": {},
    "TDX": {},
    "ClockOffset": {
        "utc": ("*ClockOffsetUTC", "The clock shows UTC. Excludes a time zone."),
        "timezone": (
            "*string",
            "The clock shows the time of this zone, such as `Europe/Berlin`. Excludes UTC.",
        ),
    },
    "ClockOffsetUTC": {
        "offsetSeconds": (
            "*int",
            "Seconds by which the clock differs from UTC. If set, even to 0, changes that the guest makes to its clock "
            "survive a reboot.",
        ),
    },
    "Timer": {
        "hpet": ("*HPETTimer", "High precision event timer. Windows does better without."),
        "kvm": ("*KVMTimer", "The KVM clock, paravirtual, for Linux."),
        "pit": ("*PITTimer", "Programmable interval timer."),
        "rtc": ("*RTCTimer", "Real-time clock."),
        "hyperv": ("*HypervTimer", "The Hyper-V clock, paravirtual, for Windows."),
    },
    "HPETTimer": {
        "tickPolicy": ("HPETTickPolicy", "What happens to ticks that come too late for the guest."),
        "present": ("*bool", "Whether the guest has this timer. Default is true."),
    },
    "KVMTimer": {
        "present": ("*bool", "Whether the guest has this clock. Default is true."),
    },
    "PITTimer": {
        "tickPolicy": ("PITTickPolicy", "What happens to ticks that come too late for the guest."),
        "present": ("*bool", "Whether the guest has this timer. Default is true."),
    },
    "RTCTimer": {
        "tickPolicy": ("RTCTickPolicy", "What happens to ticks that come too late for the guest."),
        "present": ("*bool", "Whether the guest has this clock. Default is true."),
        "track": ("RTCTrack", "Which time the clock follows: the guest's own or the node's."),
    },
    "HypervTimer": {
        "present": ("*bool", "Whether the guest has this clock. Default is true."),
    },
    "CPUFeature": {
        "name": ("string!", "Name of the feature, as libvirt spells it, such as `vmx`."),
        "policy": (
            "CPUFeaturePolicy",
            "What the guest gets: the feature even if the node lacks it (`force`), only on nodes that have or emulate "
            "it (`require`, the default), if the node has it (`optional`), not at all (`disable`), or a start only on "
            "nodes without it (`forbid`).",
        ),
    },
    "BlockSize": {
        "custom": ("*CustomBlockSize", "Sizes given as numbers."),
        "matchVolume": ("*FeatureState", "Takes the sizes of the volume behind the disk."),
    },
    "CustomBlockSize": {
        "logical": ("uint", "Smallest unit that the guest can address, in bytes.", {"written_until": "1.7"}),
        "physical": (
            "uint",
            "Unit in which the disk works best, in bytes; not smaller than the logical one.",
            {"written_until": "1.7"},
        ),
        "discardGranularity": ("*uint", "Unit in which the guest gives space back, in bytes.", {"since": "1.7"}),
    },
    "Rng": {},
    "TPMDevice": {
        "enabled": (
            "*bool",
            "Whether there is a TPM. Default is true; false in a VM turns off the one that its preference gives.",
            {"since": "1.6", "backported": "1.4.1 1.5.1"},
        ),
        "persistent": ("*bool", "Whether the TPM keeps its state when the VM stops. Default is false."),
    },
    "InterfaceMasquerade": {},
    "FeatureAPIC": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
        "endOfInterrupt": ("bool", "Whether the guest is notified of the end of interrupts. Default is false."),
    },
    "FeatureHyperv": {
        "relaxed": ("*FeatureState", "Tells the guest not to watch for late timers."),
        "vapic": ("*FeatureState", "Faster handling of interrupts."),
        "spinlocks": ("*FeatureSpinlocks", "Lets a vCPU that waits for a lock give way after some attempts."),
        "vpindex": ("*FeatureState", "Numbers of the vCPUs, which other features need."),
        "runtime": ("*FeatureState", "Tells the guest how long each vCPU really ran."),
        "synic": ("*FeatureState", "Synthetic interrupt controller. Needs vpindex."),
        "synictimer": ("*SyNICTimer", "Synthetic timers, which cost less CPU time. Needs synic."),
        "reset": ("*FeatureState", "Lets the guest reboot through the hypervisor. Needs synic."),
        "vendorid": ("*FeatureVendorID", "Name of the hypervisor that the guest sees."),
        "frequencies": ("*FeatureState", "Tells the guest the frequencies of its clocks."),
        "reenlightenment": ("*FeatureState", "Tells the guest when its clock's frequency changes, as by a migration."),
        "tlbflush": ("*TLBFlush", "Flushes of the address cache by the hypervisor, good on busy nodes. Needs vpindex."),
        "ipi": ("*FeatureState", "Interrupts between vCPUs by the hypervisor, good on busy nodes. Needs vpindex."),
        "evmcs": (
            "*FeatureState",
            "Faster nested virtualization on Intel CPUs, at the cost of other features. Needs vapic.",
        ),
    },
    "FeatureSpinlocks": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
        "spinlocks": ("*uint32", "Number of attempts before the vCPU gives way, at least 4096, which is the default."),
    },
    "SyNICTimer": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
        "direct": ("*FeatureState", "Delivers the timers as interrupts instead of messages."),
    },
    "FeatureVendorID": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
        "vendorid": ("string", "The name, up to 12 characters."),
    },
    "TLBFlush": {
        "enabled": ("*bool", "Whether the feature is on. Naming a feature without this switches it on."),
        "direct": ("*FeatureState", "Lets a nested guest flush directly.", {"since": "1.8"}),
        "extended": ("*FeatureState", "Lets the guest flush parts of the cache.", {"since": "1.8"}),
    },
    "FeatureKVM": {
        "hidden": ("bool", "Whether KVM hides itself from the guest. Default is false."),
    },
    "EFI": {
        "secureBoot": ("*bool", "Whether only signed code boots. Default is true; needs system management mode."),
        "persistent": (
            "*bool",
            "Whether the firmware's variables survive a stop of the VM. Default is false.",
            {"since": "1.1"},
        ),
    },
    "DomainSpec": {
        "resources": "ResourceRequirements",
        "cpu": "*CPU",
        "memory": "*Memory",
        "machine": "*Machine",
        "firmware": "*Firmware",
        "clock": "*Clock",
        "features": "*Features",
        "devices": "Devices!",
        "ioThreadsPolicy": "*string",
        "ioThreads": ("*DiskIOThreads", "", {"since": "1.5"}),
        "chassis": "*Chassis",
        "launchSecurity": "*LaunchSecurity",
        "rebootPolicy": ("*string", "", {"since": "1.8"}),
    },
    "ResourceRequirements": {
        "requests": "map[string]Quantity",
        "limits": "map[string]Quantity",
        "overcommitGuestOverhead": "bool",
    },
    "CPU": {
        "cores": "uint32",
        "sockets": "uint32",
        "maxSockets": "uint32",
        "threads": "uint32",
        "model": "string",
        "features": "[]CPUFeature",
        "dedicatedCpuPlacement": "bool",
        "numa": "*NUMA",
        "isolateEmulatorThread": "bool",
        "realtime": "*Realtime",
    },
    "Memory": {
        "hugepages": "*Hugepages",
        "guest": "*Quantity",
        "maxGuest": ("*Quantity", "", {"since": "1.1"}),
        "reservedOverhead": ("*ReservedOverhead", "", {"since": "1.8"}),
    },
    "ReservedOverhead": {
        "addedOverhead": "*Quantity",
        "memLock": "*string",
    },
    "Machine": {
        "type": "string!",
    },
    "Firmware": {
        "uuid": "string",
        "bootloader": "*Bootloader",
        "serial": "string",
        "kernelBoot": "*KernelBoot",
        "acpi": ("*ACPI", "", {"since": "1.2"}),
    },
    "Bootloader": {
        "bios": "*BIOS",
        "efi": "*EFI",
    },
    "BIOS": {
        "useSerial": "*bool",
    },
    "KernelBoot": {
        "kernelArgs": "string",
        "container": "*KernelBootContainer",
    },
    "KernelBootContainer": {
        "image": "string!",
        "imagePullSecret": "string",
        "imagePullPolicy": "string",
        "kernelPath": "string",
        "initrdPath": "string",
    },
    "ACPI": {
        "slicNameRef": "string",
        "msdmNameRef": "string",
    },
    "Clock": {
        "utc": "*ClockOffsetUTC",
        "timezone": "*string",
        "timer": "*Timer",
    },
    "Features": {
        "acpi": "FeatureState",
        "apic": "*FeatureAPIC",
        "hypervPassthrough": ("*HyperVPassthrough", "", {"since": "1.3"}),
        "hyperv": "*FeatureHyperv",
        "smm": "*FeatureState",
        "kvm": "*FeatureKVM",
        "pvspinlock": "*FeatureState",
    },
    "HyperVPassthrough": {
        "enabled": "*bool",
    },
    "Devices": {
        "useVirtioTransitional": "*bool",
        "disableHotplug": "bool",
        "disks": "[]Disk",
        "watchdog": "*Watchdog",
        "interfaces": "[]Interface",
        "inputs": "[]Input",
        "autoattachPodInterface": "*bool",
        "autoattachGraphicsDevice": "*bool",
        "autoattachSerialConsole": "*bool",
        "logSerialConsole": ("*bool", "", {"since": "1.1"}),
        "autoattachMemBalloon": "*bool",
        "autoattachInputDevice": "*bool",
        "autoattachVSOCK": "*bool",
        "rng": "*Rng",
        "blockMultiQueue": "*bool",
        "networkInterfaceMultiqueue": "*bool",
        "gpus": "[]GPU",
        "downwardMetrics": ("*DownwardMetrics", "", {"since": "1.1"}),
        "panicDevices": ("[]PanicDevice", "", {"since": "1.6"}),
        "filesystems": "[]Filesystem",
        "hostDevices": "[]HostDevice",
        "clientPassthrough": "*ClientPassthroughDevices",
        "sound": "*SoundDevice",
        "tpm": "*TPMDevice",
        "video": ("*VideoDevice", "", {"since": "1.6"}),
    },
    "Disk": {
        "name": "string!",
        "disk": "*DiskTarget",
        "lun": "*LunTarget",
        "cdrom": "*CDRomTarget",
        "bootOrder": "*uint",
        "serial": "string",
        "dedicatedIOThread": "*bool",
        "cache": "string",
        "io": "string",
        "tag": "string",
        "blockSize": "*BlockSize",
        "shareable": "*bool",
        "errorPolicy": ("*string", "", {"since": "1.1"}),
        "changedBlockTracking": ("*bool", "", {"since": "1.7"}),
    },
    "DiskTarget": {
        "bus": "string",
        "readonly": "bool",
        "pciAddress": "string",
    },
    "LunTarget": {
        "bus": "string",
        "readonly": "bool",
        "reservation": "bool",
    },
    "CDRomTarget": {
        "bus": "string",
        "readonly": "*bool",
        "tray": "string",
    },
    "Watchdog": {
        "name": "string!",
        "i6300esb": "*I6300ESBWatchdog",
        "diag288": "*Diag288Watchdog",
    },
    "I6300ESBWatchdog": {
        "action": "string",
    },
    "Diag288Watchdog": {
        "action": "string",
    },
    "Interface": {
        "name": "string!",
        "model": "string",
        "bridge": "*InterfaceBridge",
        "slirp": "*DeprecatedInterfaceSlirp",
        "masquerade": "*InterfaceMasquerade",
        "sriov": "*InterfaceSRIOV",
        "macvtap": "*DeprecatedInterfaceMacvtap",
        "passt": "*DeprecatedInterfacePasst",
        "passtBinding": ("*InterfacePasstBinding", "", {"since": "1.8"}),
        "binding": ("*PluginBinding", "", {"since": "1.1"}),
        "ports": "[]Port",
        "portRanges": ("[]PortRange", "", {"since": "1.9"}),
        "macAddress": "string",
        "bootOrder": "*uint",
        "pciAddress": "string",
        "dhcpOptions": "*DHCPOptions",
        "tag": "string",
        "acpiIndex": "int",
        "state": "string",
    },
    "InterfaceBridge": {},
    "DeprecatedInterfaceSlirp": {},
    "InterfaceSRIOV": {},
    "DeprecatedInterfaceMacvtap": {},
    "DeprecatedInterfacePasst": {},
    "InterfacePasstBinding": {},
    "PluginBinding": {
        "name": "string!",
    },
    "Port": {
        "name": "string",
        "protocol": "string",
        "port": "int32!",
    },
    "PortRange": {
        "protocol": "string!",
        "start": "int32!",
        "end": "int32!",
    },
    "DHCPOptions": {
        "bootFileName": "string",
        "tftpServerName": "string",
        "ntpServers": "[]string",
        "privateOptions": "[]DHCPPrivateOptions",
    },
    "DHCPPrivateOptions": {
        "option": "int!",
        "value": "string!",
    },
    "Input": {
        "bus": "string",
        "type": "string!",
        "name": "string!",
    },
    "DownwardMetrics": {},
    "PanicDevice": {
        "model": "*string",
    },
    "Filesystem": {
        "name": "string!",
        "virtiofs": "*FilesystemVirtiofs!",
    },
    "FilesystemVirtiofs": {},
    "ClientPassthroughDevices": {},
    "SoundDevice": {
        "name": "string!",
        "model": "string",
    },
    "VideoDevice": {
        "type": "string",
    },
    "Chassis": {
        "manufacturer": "string",
        "version": "string",
        "serial": "string",
        "asset": "string",
        "sku": "string",
    },
}
