# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from plugins/module_utils/_resolver/api/fields and tools/descriptions; do not edit.

"""The options for the fields of a preference."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  clock:
    description:
      - The guest's clock and timers.
    type: dict
    suboptions:
      preferred_clock_offset:
        description:
          - What the guest's clock shows, if the VM sets neither UTC nor a time zone.
        type: dict
        aliases:
          - preferredClockOffset
        suboptions:
          utc:
            description:
              - The clock shows UTC. Excludes a time zone.
            type: dict
            suboptions:
              offset_seconds:
                description:
                  - Seconds by which the clock differs from UTC. If set, even to 0, changes
                    that the guest makes to its clock survive a reboot.
                type: int
                aliases:
                  - offsetSeconds
          timezone:
            description:
              - The clock shows the time of this zone, such as C(Europe/Berlin). Excludes UTC.
            type: str
      preferred_timer:
        description:
          - Timers of the guest. Used only if the VM lists no timers at all.
        type: dict
        aliases:
          - preferredTimer
        suboptions:
          hpet:
            description:
              - High precision event timer. Windows does better without.
            type: dict
            suboptions:
              tick_policy:
                description:
                  - What happens to ticks that come too late for the guest.
                type: str
                choices:
                  - delay
                  - catchup
                  - merge
                  - discard
                aliases:
                  - tickPolicy
              present:
                description:
                  - Whether the guest has this timer. Default is true.
                type: bool
          kvm:
            description:
              - The KVM clock, paravirtual, for Linux.
            type: dict
            suboptions:
              present:
                description:
                  - Whether the guest has this clock. Default is true.
                type: bool
          pit:
            description:
              - Programmable interval timer.
            type: dict
            suboptions:
              tick_policy:
                description:
                  - What happens to ticks that come too late for the guest.
                type: str
                choices:
                  - delay
                  - catchup
                  - discard
                aliases:
                  - tickPolicy
              present:
                description:
                  - Whether the guest has this timer. Default is true.
                type: bool
          rtc:
            description:
              - Real-time clock.
            type: dict
            suboptions:
              tick_policy:
                description:
                  - What happens to ticks that come too late for the guest.
                type: str
                choices:
                  - delay
                  - catchup
                aliases:
                  - tickPolicy
              present:
                description:
                  - Whether the guest has this clock. Default is true.
                type: bool
              track:
                description:
                  - 'Which time the clock follows: the guest''s own or the node''s.'
                type: str
                choices:
                  - guest
                  - wall
                  - realtime
          hyperv:
            description:
              - The Hyper-V clock, paravirtual, for Windows.
            type: dict
            suboptions:
              present:
                description:
                  - Whether the guest has this clock. Default is true.
                type: bool
  cpu:
    description:
      - How the vCPUs appear to the guest.
    type: dict
    suboptions:
      preferred_cpu_topology:
        description:
          - 'As what the guest sees the vCPUs of an instancetype: all as V(sockets) (also the
            meaning of V(any), and the default), all as V(cores) or all as V(threads), or V(spread)
            over several of them. With V(any) a VM without instancetype meets O(requirements.cpu)
            by any topology. The spellings that begin with prefer mean the same and are deprecated;
            KubeVirt before 1.4 knows only those and takes any other for a single vCPU.'
        type: str
        choices:
          - sockets
          - cores
          - threads
          - spread
          - any
          - preferSockets
          - preferCores
          - preferThreads
          - preferSpread
          - preferAny
        aliases:
          - preferredCPUTopology
      spread_options:
        description:
          - How the topology C(spread) divides the vCPUs.
          - Needs KubeVirt 1.3 or later; earlier releases drop it without a word.
        type: dict
        aliases:
          - spreadOptions
        suboptions:
          across:
            description:
              - What the vCPUs are spread over. V(SocketsCores) is the default.
            type: str
            choices:
              - SocketsCores
              - CoresThreads
              - SocketsCoresThreads
          ratio:
            description:
              - Number of cores for each socket, at least 1 and 2 by default. With C(CoresThreads)
                it is the number of threads for each core and has to be 2. KubeVirt refuses
                VMs whose number of vCPUs cannot be divided so.
            type: int
      preferred_cpu_features:
        description:
          - CPU features, added to those of the VM. A feature that the VM names itself stays
            as the VM has it.
        type: list
        elements: dict
        aliases:
          - preferredCPUFeatures
        suboptions:
          name:
            description:
              - Name of the feature, as libvirt spells it, such as C(vmx).
            type: str
            required: true
          policy:
            description:
              - 'What the guest gets: the feature even if the node lacks it (V(force)), only
                on nodes that have or emulate it (V(require), the default), if the node has
                it (V(optional)), not at all (V(disable)), or a start only on nodes without
                it (V(forbid)).'
            type: str
            choices:
              - force
              - require
              - optional
              - disable
              - forbid
  devices:
    description:
      - Devices of the VM. As soon as this is set, even to C({}), entries of the VM that do
        not say whether they are a disk, LUN or CD-ROM drive become disks.
    type: dict
    suboptions:
      preferred_autoattach_graphics_device:
        description:
          - Whether the VM gets a graphics device, and so VNC, if the VM does not say so.
        type: bool
        aliases:
          - preferredAutoattachGraphicsDevice
      preferred_autoattach_mem_balloon:
        description:
          - Whether the VM gets a memory balloon, which reports the guest's memory use, if the
            VM does not say so.
        type: bool
        aliases:
          - preferredAutoattachMemBalloon
      preferred_autoattach_pod_interface:
        description:
          - Whether a VM that lists no network gets an interface on the pod network, if the
            VM does not say so.
        type: bool
        aliases:
          - preferredAutoattachPodInterface
      preferred_autoattach_serial_console:
        description:
          - Whether the VM gets a serial console, if the VM does not say so.
        type: bool
        aliases:
          - preferredAutoattachSerialConsole
      preferred_autoattach_input_device:
        description:
          - Whether a VM without input devices gets one, if the VM does not say so.
        type: bool
        aliases:
          - preferredAutoattachInputDevice
      preferred_disable_hotplug:
        description:
          - Whether volumes can not be attached to the running VM. Replaces what the VM says.
        type: bool
        aliases:
          - preferredDisableHotplug
      preferred_virtual_gpu_options:
        description:
          - Settings of virtual GPUs. KubeVirt stores them, but does not apply them to a VM.
        type: dict
        aliases:
          - preferredVirtualGPUOptions
        suboptions:
          display:
            description:
              - The virtual GPU as a display.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the virtual GPU shows a display. Default is true.
                type: bool
              ram_fb:
                description:
                  - A simple frame buffer that shows the boot until the GPU's driver is loaded.
                    On by default.
                type: dict
                aliases:
                  - ramFB
                suboptions:
                  enabled:
                    description:
                      - Whether the feature is on. Naming a feature without this switches it
                        on.
                    type: bool
      preferred_sound_model:
        description:
          - Model of the VM's sound device, if it has one without a model.
        type: str
        choices:
          - ich9
          - ac97
        aliases:
          - preferredSoundModel
      preferred_use_virtio_transitional:
        description:
          - Whether virtio devices also speak the old protocol 0.9, for guests too old for 1.0,
            if the VM does not say so.
        type: bool
        aliases:
          - preferredUseVirtioTransitional
      preferred_input_bus:
        description:
          - Bus of the VM's input devices that name none.
        type: str
        choices:
          - virtio
          - usb
        aliases:
          - preferredInputBus
      preferred_input_type:
        description:
          - Type of the VM's input devices that name none. KubeVirt only takes VMs with V(tablet).
        type: str
        choices:
          - tablet
          - keyboard
        aliases:
          - preferredInputType
      preferred_disk_bus:
        description:
          - Bus of the VM's disks that name none.
        type: str
        choices:
          - virtio
          - scsi
          - sata
          - usb
        aliases:
          - preferredDiskBus
      preferred_lun_bus:
        description:
          - Bus of the VM's LUNs that name none.
        type: str
        choices:
          - virtio
          - scsi
          - sata
          - usb
        aliases:
          - preferredLunBus
      preferred_cdrom_bus:
        description:
          - Bus of the VM's CD-ROM drives that name none. KubeVirt refuses CD-ROM drives on
            V(virtio).
        type: str
        choices:
          - virtio
          - scsi
          - sata
          - usb
        aliases:
          - preferredCdromBus
      preferred_disk_dedicated_io_thread:
        description:
          - Whether each disk on the virtio bus gets an I/O thread of its own, where the VM
            does not say so.
        type: bool
        aliases:
          - preferredDiskDedicatedIoThread
      preferred_disk_cache:
        description:
          - How the node caches what the VM's disks read and write, where the VM does not say
            so.
        type: str
        choices:
          - none
          - writethrough
          - writeback
        aliases:
          - preferredDiskCache
      preferred_disk_io:
        description:
          - How QEMU does the I/O of the VM's disks, where the VM does not say so.
        type: str
        choices:
          - native
          - threads
        aliases:
          - preferredDiskIO
      preferred_disk_block_size:
        description:
          - Block size of the VM's disks, where the VM does not say so. Only one of its fields
            may be set.
        type: dict
        aliases:
          - preferredDiskBlockSize
        suboptions:
          custom:
            description:
              - Sizes given as numbers.
            type: dict
            suboptions:
              logical:
                description:
                  - Smallest unit that the guest can address, in bytes.
                type: int
              physical:
                description:
                  - Unit in which the disk works best, in bytes; not smaller than the logical
                    one.
                type: int
              discard_granularity:
                description:
                  - Unit in which the guest gives space back, in bytes.
                  - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
                type: int
                aliases:
                  - discardGranularity
          match_volume:
            description:
              - Takes the sizes of the volume behind the disk.
            type: dict
            aliases:
              - matchVolume
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
      preferred_interface_model:
        description:
          - Model of the VM's network interfaces that name none.
        type: str
        choices:
          - virtio
          - e1000
          - e1000e
          - igb
          - ne2k_pci
          - pcnet
          - rtl8139
        aliases:
          - preferredInterfaceModel
      preferred_rng:
        description:
          - Gives the VM a random number generator fed by the node, if it has none. Has no fields;
            write C({}).
        type: dict
        aliases:
          - preferredRng
      preferred_block_multi_queue:
        description:
          - Whether virtio disks get a queue for each vCPU, if the VM does not say so.
        type: bool
        aliases:
          - preferredBlockMultiQueue
      preferred_network_interface_multi_queue:
        description:
          - Whether virtio network interfaces get several queues, if the VM does not say so.
        type: bool
        aliases:
          - preferredNetworkInterfaceMultiQueue
      preferred_tpm:
        description:
          - Gives the VM a TPM, if it has no settings for one.
        type: dict
        aliases:
          - preferredTPM
        suboptions:
          enabled:
            description:
              - Whether there is a TPM. Default is true; false in a VM turns off the one that
                its preference gives.
              - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
            type: bool
          persistent:
            description:
              - Whether the TPM keeps its state when the VM stops. Default is false.
            type: bool
      preferred_interface_masquerade:
        description:
          - Connects interfaces on the pod network by masquerading, if the VM says nothing about
            how to connect them. Has no fields; write C({}).
        type: dict
        aliases:
          - preferredInterfaceMasquerade
      preferred_panic_device_model:
        description:
          - Model of the VM's panic devices that name none. Since KubeVirt 1.9 a VM without
            panic device gets one.
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        choices:
          - hyperv
          - isa
          - pvpanic
        aliases:
          - preferredPanicDeviceModel
      preferred_video_type:
        description:
          - Type of the video device, if the VM names none. On arm64 only V(virtio) and V(ramfb)
            exist.
          - Needs KubeVirt 1.9 or later; earlier releases drop it without a word.
        type: str
        choices:
          - virtio
          - vga
          - bochs
          - cirrus
          - ramfb
        aliases:
          - preferredVideoType
  features:
    description:
      - Features of the virtual machine's platform.
    type: dict
    suboptions:
      preferred_acpi:
        description:
          - ACPI. Replaces what the VM says.
        type: dict
        aliases:
          - preferredAcpi
        suboptions:
          enabled:
            description:
              - Whether the feature is on. Naming a feature without this switches it on.
            type: bool
      preferred_apic:
        description:
          - The interrupt controller APIC, if the VM does not set it.
        type: dict
        aliases:
          - preferredApic
        suboptions:
          enabled:
            description:
              - Whether the feature is on. Naming a feature without this switches it on.
            type: bool
          end_of_interrupt:
            description:
              - Whether the guest is notified of the end of interrupts. Default is false.
            type: bool
            aliases:
              - endOfInterrupt
      preferred_hyperv:
        description:
          - Hyper-V features, which make Windows run better. Each is used if the VM does not
            set the same one.
        type: dict
        aliases:
          - preferredHyperv
        suboptions:
          relaxed:
            description:
              - Tells the guest not to watch for late timers.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          vapic:
            description:
              - Faster handling of interrupts.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          spinlocks:
            description:
              - Lets a vCPU that waits for a lock give way after some attempts.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
              spinlocks:
                description:
                  - Number of attempts before the vCPU gives way, at least 4096, which is the
                    default.
                type: int
          vpindex:
            description:
              - Numbers of the vCPUs, which other features need.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          runtime:
            description:
              - Tells the guest how long each vCPU really ran.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          synic:
            description:
              - Synthetic interrupt controller. Needs vpindex.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          synictimer:
            description:
              - Synthetic timers, which cost less CPU time. Needs synic.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
              direct:
                description:
                  - Delivers the timers as interrupts instead of messages.
                type: dict
                suboptions:
                  enabled:
                    description:
                      - Whether the feature is on. Naming a feature without this switches it
                        on.
                    type: bool
          reset:
            description:
              - Lets the guest reboot through the hypervisor. Needs synic.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          vendorid:
            description:
              - Name of the hypervisor that the guest sees.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
              vendorid:
                description:
                  - The name, up to 12 characters.
                type: str
          frequencies:
            description:
              - Tells the guest the frequencies of its clocks.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          reenlightenment:
            description:
              - Tells the guest when its clock's frequency changes, as by a migration.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          tlbflush:
            description:
              - Flushes of the address cache by the hypervisor, good on busy nodes. Needs vpindex.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
              direct:
                description:
                  - Lets a nested guest flush directly.
                  - Needs KubeVirt 1.8 or later; earlier releases drop it without a word.
                type: dict
                suboptions:
                  enabled:
                    description:
                      - Whether the feature is on. Naming a feature without this switches it
                        on.
                    type: bool
              extended:
                description:
                  - Lets the guest flush parts of the cache.
                  - Needs KubeVirt 1.8 or later; earlier releases drop it without a word.
                type: dict
                suboptions:
                  enabled:
                    description:
                      - Whether the feature is on. Naming a feature without this switches it
                        on.
                    type: bool
          ipi:
            description:
              - Interrupts between vCPUs by the hypervisor, good on busy nodes. Needs vpindex.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
          evmcs:
            description:
              - Faster nested virtualization on Intel CPUs, at the cost of other features. Needs
                vapic.
            type: dict
            suboptions:
              enabled:
                description:
                  - Whether the feature is on. Naming a feature without this switches it on.
                type: bool
      preferred_kvm:
        description:
          - How KVM shows itself to the guest, if the VM does not set it.
        type: dict
        aliases:
          - preferredKvm
        suboptions:
          hidden:
            description:
              - Whether KVM hides itself from the guest. Default is false.
            type: bool
      preferred_pvspinlock:
        description:
          - Paravirtual spinlocks, if the VM does not set them.
        type: dict
        aliases:
          - preferredPvspinlock
        suboptions:
          enabled:
            description:
              - Whether the feature is on. Naming a feature without this switches it on.
            type: bool
      preferred_smm:
        description:
          - System management mode, if the VM does not set it. Secure boot needs it.
        type: dict
        aliases:
          - preferredSmm
        suboptions:
          enabled:
            description:
              - Whether the feature is on. Naming a feature without this switches it on.
            type: bool
  firmware:
    description:
      - BIOS or EFI. What the VM chooses itself wins.
    type: dict
    suboptions:
      preferred_use_bios:
        description:
          - Whether to boot with BIOS. Wins over EFI if both are preferred.
        type: bool
        aliases:
          - preferredUseBios
      preferred_use_bios_serial:
        description:
          - Whether the BIOS writes to the serial console. Used only with BIOS.
        type: bool
        aliases:
          - preferredUseBiosSerial
      preferred_use_efi:
        description:
          - Whether to boot with EFI. Not used where O(firmware.preferred_efi) takes effect.
          - Deprecated by KubeVirt. Use O(firmware.preferred_efi).
        type: bool
        aliases:
          - preferredUseEfi
      preferred_use_secure_boot:
        description:
          - Whether EFI only boots signed code. Fills in what a VM with EFI leaves open; not
            used where O(firmware.preferred_efi) takes effect.
          - Deprecated by KubeVirt. Use O(firmware.preferred_efi.secure_boot).
        type: bool
        aliases:
          - preferredUseSecureBoot
      preferred_efi:
        description:
          - Boots with EFI, with these settings.
          - Needs KubeVirt 1.4 or later; earlier releases drop it without a word.
        type: dict
        aliases:
          - preferredEfi
        suboptions:
          secure_boot:
            description:
              - Whether only signed code boots. Default is true; needs system management mode.
            type: bool
            aliases:
              - secureBoot
          persistent:
            description:
              - Whether the firmware's variables survive a stop of the VM. Default is false.
              - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
            type: bool
  machine:
    description:
      - The emulated machine.
    type: dict
    suboptions:
      preferred_machine_type:
        description:
          - Machine type, such as C(q35), C(pc-q35-rhel9.4.0), C(virt) or C(s390-ccw-virtio),
            if the VM names none.
        type: str
        aliases:
          - preferredMachineType
  volumes:
    description:
      - Storage of the VM.
    type: dict
    suboptions:
      preferred_storage_class_name:
        description:
          - Storage class of the VM's data volume templates that name none. Set when the VM
            is created.
        type: str
        aliases:
          - preferredStorageClassName
  preferred_subdomain:
    description:
      - Subdomain of the VM's host name, if the VM has none.
    type: str
    aliases:
      - preferredSubdomain
  preferred_termination_grace_period_seconds:
    description:
      - Seconds that the guest has to shut down before it is killed, if the VM does not say
        so.
    type: int
    aliases:
      - preferredTerminationGracePeriodSeconds
  requirements:
    description:
      - What a VM must have at least to use this preference. KubeVirt refuses VMs that have
        less.
    type: dict
    suboptions:
      cpu:
        description:
          - The vCPUs needed.
        type: dict
        suboptions:
          guest:
            description:
              - Least number of vCPUs. Without an instancetype only those count that the VM
                provides in the preferred topology, which is sockets by default.
            type: int
            required: true
      memory:
        description:
          - The memory needed.
        type: dict
        suboptions:
          guest:
            description:
              - Least memory that the guest sees, as a quantity such as C(2Gi).
            type: str
            required: true
      architecture:
        description:
          - The architecture that the VM must have.
          - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
        type: str
        choices:
          - amd64
          - arm64
          - s390x
  vm_annotations:
    description:
      - Annotations that the VM instance gets if neither the VM nor the instancetype sets the
        same key.
      - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
    type: dict
  prefer_spread_socket_to_core_ratio:
    description:
      - Ratio of the topology C(spread), used if O(cpu.spread_options.ratio) is not set. 2 if
        neither is.
      - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
    type: int
    aliases:
      - preferSpreadSocketToCoreRatio
  preferred_architecture:
    description:
      - CPU architecture of the VM, if it names none. Set when the VM is created.
      - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
    type: str
    choices:
      - amd64
      - arm64
      - s390x
    aliases:
      - preferredArchitecture
  preferred_launch_security:
    description:
      - Confidential computing, if neither the VM nor the instancetype sets it. One of its fields
        chooses the technology.
      - Needs KubeVirt 1.9 or later; earlier releases drop it without a word.
    type: dict
    aliases:
      - preferredLaunchSecurity
    suboptions:
      sev:
        description:
          - AMD Secure Encrypted Virtualization.
        type: dict
        suboptions:
          policy:
            description:
              - What the guest demands of the platform.
            type: dict
            suboptions:
              encrypted_state:
                description:
                  - Whether the CPU's registers are encrypted too (SEV-ES). Default is false.
                type: bool
                aliases:
                  - encryptedState
          attestation:
            description:
              - Starts the VM only after its owner has attested it. Has no fields; write C({}).
              - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
            type: dict
          session:
            description:
              - The owner's session blob, base64.
              - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
            type: str
          dh_cert:
            description:
              - The owner's Diffie-Hellman certificate, base64.
              - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
            type: str
            aliases:
              - dhCert
      snp:
        description:
          - AMD SEV-SNP. Has no fields; write C({}).
          - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
        type: dict
      tdx:
        description:
          - Intel Trust Domain Extensions. Has no fields; write C({}).
          - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
        type: dict
"""
