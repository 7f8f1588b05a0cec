# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the options and their descriptions; do not edit.

"""The options of preferences, of one and of a list."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  clock: &id001
    description: The guest's clock and timers.
    type: dict
    suboptions:
      preferred_clock_offset:
        description: Offset of the clock, if the VM sets neither UTC nor a time zone.
        type: dict
        aliases: [preferredClockOffset]
        suboptions:
          utc:
            description: The clock shows UTC. Mutually exclusive with a time zone.
            type: dict
            suboptions:
              offset_seconds:
                description: Seconds by which the clock differs from UTC. If this is set, even to 0, changes of the
                  clock by the guest survive a reboot.
                type: int
                aliases: [offsetSeconds]
          timezone:
            description: The clock shows the time of this zone, such as C(Europe/Berlin). Mutually exclusive with UTC.
            type: str
      preferred_timer:
        description: Timers of the guest, if the VM lists no timers.
        type: dict
        aliases: [preferredTimer]
        suboptions:
          hpet:
            description: High precision event timer. Windows runs better without it.
            type: dict
            suboptions:
              tick_policy:
                description: What happens to ticks that reach the guest too late.
                type: str
                choices: [delay, catchup, merge, discard]
                aliases: [tickPolicy]
              present:
                description: Whether the guest has this timer. Default is true.
                type: bool
          kvm:
            description: Paravirtual KVM clock for Linux.
            type: dict
            suboptions:
              present:
                description: Whether the guest has this clock. Default is true.
                type: bool
          pit:
            description: Programmable interval timer.
            type: dict
            suboptions:
              tick_policy:
                description: What happens to ticks that reach the guest too late.
                type: str
                choices: [delay, catchup, discard]
                aliases: [tickPolicy]
              present:
                description: Whether the guest has this timer. Default is true.
                type: bool
          rtc:
            description: Real-time clock.
            type: dict
            suboptions:
              tick_policy:
                description: What happens to ticks that reach the guest too late.
                type: str
                choices: [delay, catchup]
                aliases: [tickPolicy]
              present:
                description: Whether the guest has this clock. Default is true.
                type: bool
              track:
                description: 'Source of the time of the clock: the guest (V(guest)) or the node (V(wall)).'
                type: str
                choices: [guest, wall, realtime]
          hyperv:
            description: Paravirtual Hyper-V clock for Windows.
            type: dict
            suboptions:
              present:
                description: Whether the guest has this clock. Default is true.
                type: bool
  cpu: &id002
    description: How the vCPUs appear to the guest.
    type: dict
    suboptions:
      preferred_cpu_topology:
        description: 'How the guest sees the vCPUs of an instancetype: all as V(sockets) (also with V(any), and by
          default), all as V(cores), all as V(threads), or V(spread) over several of them. With V(any), a VM without an
          instancetype meets O(requirements.cpu) with any topology. The spellings that begin with prefer have the same
          meaning and are deprecated.'
        type: str
        choices: [sockets, cores, threads, spread, any, preferSockets, preferCores, preferThreads, preferSpread,
          preferAny]
        aliases: [preferredCPUTopology]
      spread_options:
        description: How the topology C(spread) divides the vCPUs.
        type: dict
        aliases: [spreadOptions]
        suboptions:
          across:
            description: The levels over which to spread the vCPUs. Default is V(SocketsCores).
            type: str
            choices: [SocketsCores, CoresThreads, SocketsCoresThreads]
          ratio:
            description: Number of cores per socket, at least 1, by default 2. With C(CoresThreads) the number of
              threads per core, which must be 2. KubeVirt rejects a VM whose vCPUs are not divisible by this ratio.
            type: int
      preferred_cpu_features:
        description: CPU features, added to the features of the VM. A feature that the VM names keeps the policy of the
          VM.
        type: list
        elements: dict
        aliases: [preferredCPUFeatures]
        suboptions:
          name:
            description: Name of the feature as in libvirt, such as C(vmx).
            type: str
            required: true
          policy:
            description: 'Whether the guest gets the feature: always, even if the node lacks it (V(force)); the VM runs
              only on nodes that have or emulate it (V(require), the default); if the node has it (V(optional)); never
              (V(disable)); the VM runs only on nodes without it (V(forbid)).'
            type: str
            choices: [force, require, optional, disable, forbid]
  devices: &id003
    description: Devices of the VM. If this is set, even to C({}), disks of the VM without a type (disk, LUN or CD-ROM)
      get the type disk.
    type: dict
    suboptions:
      preferred_autoattach_graphics_device:
        description: Whether to attach a graphics device, and so VNC, if the VM does not set it.
        type: bool
        aliases: [preferredAutoattachGraphicsDevice]
      preferred_autoattach_mem_balloon:
        description: Whether to attach a memory balloon, which reports the guest's memory use, if the VM does not set
          it.
        type: bool
        aliases: [preferredAutoattachMemBalloon]
      preferred_autoattach_pod_interface:
        description: Whether a VM without networks gets an interface on the pod network, if the VM does not set it.
        type: bool
        aliases: [preferredAutoattachPodInterface]
      preferred_autoattach_serial_console:
        description: Whether to attach a serial console, if the VM does not set it.
        type: bool
        aliases: [preferredAutoattachSerialConsole]
      preferred_autoattach_input_device:
        description: Whether a VM without input devices gets an input device, if the VM does not set it.
        type: bool
        aliases: [preferredAutoattachInputDevice]
      preferred_disable_hotplug:
        description: Whether to disable hotplug of volumes. Replaces the value of the VM.
        type: bool
        aliases: [preferredDisableHotplug]
      preferred_virtual_gpu_options:
        description: Settings of virtual GPUs. KubeVirt stores them, but does not apply them to a VM.
        type: dict
        aliases: [preferredVirtualGPUOptions]
        suboptions:
          display:
            description: Display of the virtual GPU.
            type: dict
            suboptions:
              enabled:
                description: Whether the virtual GPU has a display. Default is true.
                type: bool
              ram_fb:
                description: Simple frame buffer that shows the boot until the guest loads the driver of the GPU. On by
                  default.
                type: dict
                aliases: [ramFB]
                suboptions:
                  enabled:
                    description: Whether the feature is on. Default is true if the feature is set.
                    type: bool
      preferred_sound_model:
        description: Model of the VM's sound device, if the device has no model.
        type: str
        choices: [ich9, ac97]
        aliases: [preferredSoundModel]
      preferred_use_virtio_transitional:
        description: Whether virtio devices also support the old protocol 0.9, for guests that do not support 1.0, if
          the VM does not set it.
        type: bool
        aliases: [preferredUseVirtioTransitional]
      preferred_input_bus:
        description: Bus of input devices without a bus.
        type: str
        choices: [virtio, usb]
        aliases: [preferredInputBus]
      preferred_input_type:
        description: Type of input devices without a type. KubeVirt accepts only V(tablet).
        type: str
        choices: [tablet, keyboard]
        aliases: [preferredInputType]
      preferred_disk_bus:
        description: Bus of disks without a bus.
        type: str
        choices: [virtio, scsi, sata, usb]
        aliases: [preferredDiskBus]
      preferred_lun_bus:
        description: Bus of LUNs without a bus.
        type: str
        choices: [virtio, scsi, sata, usb]
        aliases: [preferredLunBus]
      preferred_cdrom_bus:
        description: Bus of CD-ROM drives without a bus. KubeVirt rejects CD-ROM drives on V(virtio).
        type: str
        choices: [virtio, scsi, sata, usb]
        aliases: [preferredCdromBus]
      preferred_disk_dedicated_io_thread:
        description: Whether each disk on the virtio bus gets a dedicated I/O thread, if the VM does not set it.
        type: bool
        aliases: [preferredDiskDedicatedIoThread]
      preferred_disk_cache:
        description: Cache mode of disks, if the VM does not set it.
        type: str
        choices: [none, writethrough, writeback]
        aliases: [preferredDiskCache]
      preferred_disk_io:
        description: I/O mode of disks in QEMU, if the VM does not set it.
        type: str
        choices: [native, threads]
        aliases: [preferredDiskIO]
      preferred_disk_block_size:
        description: Block size of disks, if the VM does not set it. Its fields are mutually exclusive.
        type: dict
        aliases: [preferredDiskBlockSize]
        suboptions:
          custom:
            description: Custom sizes.
            type: dict
            suboptions:
              logical:
                description: Smallest unit that the guest can address, in bytes.
                type: int
              physical:
                description: Unit in which the disk is fastest, in bytes; at least the logical size.
                type: int
              discard_granularity:
                description:
                  - Unit in which the guest discards blocks, in bytes.
                  - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
                type: int
                aliases: [discardGranularity]
          match_volume:
            description: Uses the sizes of the volume of the disk.
            type: dict
            aliases: [matchVolume]
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
      preferred_interface_model:
        description: Model of network interfaces without a model.
        type: str
        choices: [virtio, e1000, e1000e, igb, ne2k_pci, pcnet, rtl8139]
        aliases: [preferredInterfaceModel]
      preferred_rng:
        description: Adds a random number generator with the entropy of the node, if the VM has none. Has no fields;
          write C({}).
        type: dict
        aliases: [preferredRng]
      preferred_block_multi_queue:
        description: Whether virtio disks get a queue for each vCPU, if the VM does not set it.
        type: bool
        aliases: [preferredBlockMultiQueue]
      preferred_network_interface_multi_queue:
        description: Whether virtio network interfaces get several queues, if the VM does not set it.
        type: bool
        aliases: [preferredNetworkInterfaceMultiQueue]
      preferred_tpm:
        description: Adds a TPM, if the VM has no TPM settings.
        type: dict
        aliases: [preferredTPM]
        suboptions:
          enabled:
            description:
              - Whether the VM has a TPM. Default is true; false in a VM disables the TPM of its preference.
              - Needs KubeVirt 1.5.1 or later; earlier releases drop it without a word.
            type: bool
          persistent:
            description: Whether the TPM keeps its state when the VM stops. Default is false.
            type: bool
      preferred_interface_masquerade:
        description: Connects interfaces on the pod network by masquerading, if the VM does not set how to connect them.
          Has no fields; write C({}).
        type: dict
        aliases: [preferredInterfaceMasquerade]
      preferred_panic_device_model:
        description:
          - Model of panic devices without a model. Since KubeVirt 1.9 a VM without a panic device gets a panic device.
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        choices: [hyperv, isa, pvpanic]
        aliases: [preferredPanicDeviceModel]
      preferred_video_type:
        description:
          - Type of the video device, if the VM does not set it. Only V(virtio) and V(ramfb) are available on arm64.
          - Needs KubeVirt 1.9 or later; earlier releases drop it without a word.
        type: str
        choices: [virtio, vga, bochs, cirrus, ramfb]
        aliases: [preferredVideoType]
  features: &id004
    description: Features of the platform of the VM.
    type: dict
    suboptions:
      preferred_acpi:
        description: ACPI. Replaces the value of the VM.
        type: dict
        aliases: [preferredAcpi]
        suboptions:
          enabled:
            description: Whether the feature is on. Default is true if the feature is set.
            type: bool
      preferred_apic:
        description: APIC (the interrupt controller), if the VM does not set it.
        type: dict
        aliases: [preferredApic]
        suboptions:
          enabled:
            description: Whether the feature is on. Default is true if the feature is set.
            type: bool
          end_of_interrupt:
            description: Whether the guest is notified of the end of interrupts. Default is false.
            type: bool
            aliases: [endOfInterrupt]
      preferred_hyperv:
        description: Hyper-V features, which make Windows faster. Each applies if the VM does not set the same feature.
        type: dict
        aliases: [preferredHyperv]
        suboptions:
          relaxed:
            description: Makes the guest tolerate late timers.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          vapic:
            description: Faster handling of interrupts.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          spinlocks:
            description: A vCPU that waits for a lock yields after a number of attempts.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
              spinlocks:
                description: Number of attempts before the vCPU yields. Default and minimum are 4096.
                type: int
          vpindex:
            description: Indexes of the vCPUs, which other features require.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          runtime:
            description: Shows the guest the run time of each vCPU.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          synic:
            description: Synthetic interrupt controller. Requires vpindex.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          synictimer:
            description: Synthetic timers, which use less CPU time. Requires synic.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
              direct:
                description: Delivers the timers as interrupts instead of messages.
                type: dict
                suboptions:
                  enabled:
                    description: Whether the feature is on. Default is true if the feature is set.
                    type: bool
          reset:
            description: The guest reboots through the hypervisor. Requires synic.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          vendorid:
            description: Name of the hypervisor that the guest sees.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
              vendorid:
                description: The name, up to 12 characters.
                type: str
          frequencies:
            description: Shows the guest the frequencies of its clocks.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          reenlightenment:
            description: Notifies the guest when the frequency of its clock changes, for example by a migration.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          tlbflush:
            description: The hypervisor flushes the address cache, which is faster on busy nodes. Requires vpindex.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
              direct:
                description:
                  - Allows direct flushes by a nested guest.
                  - Needs KubeVirt 1.8 or later; earlier releases drop it without a word.
                type: dict
                suboptions:
                  enabled:
                    description: Whether the feature is on. Default is true if the feature is set.
                    type: bool
              extended:
                description:
                  - Allows partial flushes by the guest.
                  - Needs KubeVirt 1.8 or later; earlier releases drop it without a word.
                type: dict
                suboptions:
                  enabled:
                    description: Whether the feature is on. Default is true if the feature is set.
                    type: bool
          ipi:
            description: The hypervisor sends interrupts between vCPUs, which is faster on busy nodes. Requires vpindex.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
          evmcs:
            description: Faster nested virtualization on Intel CPUs, but without some other features. Requires vapic.
            type: dict
            suboptions:
              enabled:
                description: Whether the feature is on. Default is true if the feature is set.
                type: bool
      preferred_kvm:
        description: KVM features, if the VM does not set them.
        type: dict
        aliases: [preferredKvm]
        suboptions:
          hidden:
            description: Whether to hide KVM from the guest. Default is false.
            type: bool
      preferred_pvspinlock:
        description: Paravirtual spinlocks, if the VM does not set them.
        type: dict
        aliases: [preferredPvspinlock]
        suboptions:
          enabled:
            description: Whether the feature is on. Default is true if the feature is set.
            type: bool
      preferred_smm:
        description: System management mode, if the VM does not set it. Required for secure boot.
        type: dict
        aliases: [preferredSmm]
        suboptions:
          enabled:
            description: Whether the feature is on. Default is true if the feature is set.
            type: bool
  firmware: &id005
    description: BIOS or EFI. The choice of the VM overrides the preference.
    type: dict
    suboptions:
      preferred_use_bios:
        description: Whether to boot with BIOS. Overrides EFI if both are preferred.
        type: bool
        aliases: [preferredUseBios]
      preferred_use_bios_serial:
        description: Whether the BIOS writes to the serial console. Applies only with BIOS.
        type: bool
        aliases: [preferredUseBiosSerial]
      preferred_use_efi:
        description:
          - Whether to boot with EFI. Ignored if O(firmware.preferred_efi) takes effect.
          - Deprecated by KubeVirt. Use O(firmware.preferred_efi).
        type: bool
        aliases: [preferredUseEfi]
      preferred_use_secure_boot:
        description:
          - Whether EFI boots only signed code, if a VM with EFI does not set it. Ignored if O(firmware.preferred_efi)
            takes effect.
          - Deprecated by KubeVirt. Use O(firmware.preferred_efi.secure_boot).
        type: bool
        aliases: [preferredUseSecureBoot]
      preferred_efi:
        description: Boots with EFI, with these settings.
        type: dict
        aliases: [preferredEfi]
        suboptions:
          secure_boot:
            description: Whether only signed code boots. Default is true; requires system management mode.
            type: bool
            aliases: [secureBoot]
          persistent:
            description: Whether the variables of the firmware survive a stop of the VM. Default is false.
            type: bool
  machine: &id006
    description: The emulated machine.
    type: dict
    suboptions:
      preferred_machine_type:
        description: Machine type, such as C(q35), C(pc-q35-rhel9.4.0), C(virt) or C(s390-ccw-virtio), if the VM does
          not set it.
        type: str
        aliases: [preferredMachineType]
  volumes: &id007
    description: Storage of the VM.
    type: dict
    suboptions:
      preferred_storage_class_name:
        description: Storage class of the VM's data volume templates without a storage class. Applied when the VM is
          created.
        type: str
        aliases: [preferredStorageClassName]
  preferred_subdomain: &id008
    description: Subdomain of the VM's host name, if the VM does not set one.
    type: str
    aliases: [preferredSubdomain]
  preferred_termination_grace_period_seconds: &id009
    description: Seconds for the guest to shut down before KubeVirt kills it, if the VM does not set them.
    type: int
    aliases: [preferredTerminationGracePeriodSeconds]
  requirements: &id010
    description: Minimum requirements for a VM with this preference. KubeVirt rejects a VM that does not meet them.
    type: dict
    suboptions:
      cpu:
        description: Required vCPUs.
        type: dict
        suboptions:
          guest:
            description: Minimum number of vCPUs. Without an instancetype, only the vCPUs in the preferred topology
              count (sockets by default).
            type: int
            required: true
      memory:
        description: Required memory.
        type: dict
        suboptions:
          guest:
            description: Minimum memory of the guest, as a quantity such as C(2Gi).
            type: str
            required: true
      architecture:
        description:
          - Required architecture of the VM.
          - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
        type: str
        choices: [amd64, arm64, s390x]
  vm_annotations: &id011
    description: Annotations of the VM instance, if neither the VM nor the instancetype sets the same key.
    type: dict
  prefer_spread_socket_to_core_ratio: &id012
    description: Ratio of the topology C(spread), if O(cpu.spread_options.ratio) is not set. Default is 2.
    type: int
    aliases: [preferSpreadSocketToCoreRatio]
  preferred_architecture: &id013
    description:
      - CPU architecture of the VM, if the VM does not set it. Applied when the VM is created.
      - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
    type: str
    choices: [amd64, arm64, s390x]
    aliases: [preferredArchitecture]
  preferred_launch_security: &id014
    description:
      - Confidential computing, if neither the VM nor the instancetype sets it. Set one field to choose the technology.
      - Needs KubeVirt 1.9 or later; earlier releases drop it without a word.
    type: dict
    aliases: [preferredLaunchSecurity]
    suboptions:
      sev:
        description: AMD Secure Encrypted Virtualization.
        type: dict
        suboptions:
          policy:
            description: Requirements of the guest for the platform.
            type: dict
            suboptions:
              encrypted_state:
                description: Whether to encrypt the CPU registers too (SEV-ES). Default is false.
                type: bool
                aliases: [encryptedState]
          attestation:
            description: Starts the VM only after its owner has attested the platform. Has no fields; write C({}).
            type: dict
          session:
            description: Session blob of the owner, base64-encoded.
            type: str
          dh_cert:
            description: Diffie-Hellman certificate of the owner, base64-encoded.
            type: str
            aliases: [dhCert]
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
  name:
    description: Name of the preference. Either O(name) or O(preferences) is required.
    type: str
  namespace: &id015
    description: Namespace of the preference. Without a namespace the preference is cluster-wide.
    type: str
  kind: &id016
    description: Kind of the object. The default depends on O(namespace).
    type: str
    choices: [VirtualMachinePreference, VirtualMachineClusterPreference]
  state:
    description:
      - Whether the object must exist as declared, or must not exist.
      - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
        entries of a task are rendered, or none.
    type: str
    default: present
    choices: [present, absent, rendered]
  labels: &id017
    description: Labels of the preference.
    type: dict
  annotations: &id018
    description: Annotations of the preference. O(vm_annotations) sets annotations of its VMs.
    type: dict
  deprecated: &id019
    description:
      - Declares the object deprecated, for example with V({}). A VM that is created with it, or changed to it, causes a
        warning that names the replacement. The filter P(virtshape.instancetypes.fitting#filter), and the option
        C(workload) of a VM, do not choose it.
      - Without O(deprecated) and O(obsolete) the object is active.
    type: dict
    suboptions:
      replacement:
        description: Name of the object to use instead, of the same kind and namespace.
        type: str
      obsolete_from:
        description: Day on which the object is to become obsolete, such as V(2027-03-31), for messages and reports. On
          that day the object stays as it is; declare it O(obsolete).
        type: str
  obsolete: &id020
    description: Declares the object obsolete, for example with V({}). The VMs that have it keep it. The preflight of
      M(virtshape.instancetypes.virtual_machine) refuses other VMs.
    type: dict
    suboptions:
      replacement:
        description: Name of the object to use instead, of the same kind and namespace.
        type: str
  spec: &id021
    description: The spec in the API's form, for fields without an option. Merged with the other options; different
      values for the same field are an error.
    type: dict
  accept_unknown_fields: &id022
    description:
      - Whether to send fields that this collection does not know. By default an unknown field fails the task before
        anything is sent, and the message suggests the closest known field.
      - Use this option for fields of a KubeVirt release that is newer than the collection. If KubeVirt does not know
        the field either, it rejects the object.
    type: bool
  preferences:
    description: A list of preferences. An entry takes the same options as the task does for one preference. An option
      that an entry leaves out has the value that the task gives, and an option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      clock: *id001
      cpu: *id002
      devices: *id003
      features: *id004
      firmware: *id005
      machine: *id006
      volumes: *id007
      preferred_subdomain: *id008
      preferred_termination_grace_period_seconds: *id009
      requirements: *id010
      vm_annotations: *id011
      prefer_spread_socket_to_core_ratio: *id012
      preferred_architecture: *id013
      preferred_launch_security: *id014
      name:
        description: Name of the preference.
        type: str
        required: true
      namespace: *id015
      kind: *id016
      state:
        description:
          - Whether the object must exist as declared, or must not exist.
          - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
            entries of a task are rendered, or none.
        type: str
        choices: [present, absent, rendered]
      labels: *id017
      annotations: *id018
      deprecated: *id019
      obsolete: *id020
      spec: *id021
      accept_unknown_fields: *id022
"""
