# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the module's own documentation; do not edit.

"""The option for a list of preferences, with the options of its entries."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  preferences:
    description:
      - A list of preferences. An entry takes the same options as the task does for one preference.
        An option that an entry leaves out has the value that the task gives, and an option
        with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      accept_unknown_fields:
        description:
          - See O(accept_unknown_fields).
        type: bool
      annotations:
        description:
          - See O(annotations).
        type: dict
      clock:
        description:
          - See O(clock).
        type: dict
        suboptions:
          preferred_clock_offset:
            description:
              - See O(clock.preferred_clock_offset).
            type: dict
            aliases:
              - preferredClockOffset
            suboptions:
              utc:
                description:
                  - See O(clock.preferred_clock_offset.utc).
                type: dict
                suboptions:
                  offset_seconds:
                    description:
                      - See O(clock.preferred_clock_offset.utc.offset_seconds).
                    type: int
                    aliases:
                      - offsetSeconds
              timezone:
                description:
                  - See O(clock.preferred_clock_offset.timezone).
                type: str
          preferred_timer:
            description:
              - See O(clock.preferred_timer).
            type: dict
            aliases:
              - preferredTimer
            suboptions:
              hpet:
                description:
                  - See O(clock.preferred_timer.hpet).
                type: dict
                suboptions:
                  tick_policy:
                    description:
                      - See O(clock.preferred_timer.hpet.tick_policy).
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
                      - See O(clock.preferred_timer.hpet.present).
                    type: bool
              kvm:
                description:
                  - See O(clock.preferred_timer.kvm).
                type: dict
                suboptions:
                  present:
                    description:
                      - See O(clock.preferred_timer.kvm.present).
                    type: bool
              pit:
                description:
                  - See O(clock.preferred_timer.pit).
                type: dict
                suboptions:
                  tick_policy:
                    description:
                      - See O(clock.preferred_timer.pit.tick_policy).
                    type: str
                    choices:
                      - delay
                      - catchup
                      - discard
                    aliases:
                      - tickPolicy
                  present:
                    description:
                      - See O(clock.preferred_timer.pit.present).
                    type: bool
              rtc:
                description:
                  - See O(clock.preferred_timer.rtc).
                type: dict
                suboptions:
                  tick_policy:
                    description:
                      - See O(clock.preferred_timer.rtc.tick_policy).
                    type: str
                    choices:
                      - delay
                      - catchup
                    aliases:
                      - tickPolicy
                  present:
                    description:
                      - See O(clock.preferred_timer.rtc.present).
                    type: bool
                  track:
                    description:
                      - See O(clock.preferred_timer.rtc.track).
                    type: str
                    choices:
                      - guest
                      - wall
                      - realtime
              hyperv:
                description:
                  - See O(clock.preferred_timer.hyperv).
                type: dict
                suboptions:
                  present:
                    description:
                      - See O(clock.preferred_timer.hyperv.present).
                    type: bool
      cpu:
        description:
          - See O(cpu).
        type: dict
        suboptions:
          preferred_cpu_topology:
            description:
              - See O(cpu.preferred_cpu_topology).
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
              - See O(cpu.spread_options).
            type: dict
            aliases:
              - spreadOptions
            suboptions:
              across:
                description:
                  - See O(cpu.spread_options.across).
                type: str
                choices:
                  - SocketsCores
                  - CoresThreads
                  - SocketsCoresThreads
              ratio:
                description:
                  - See O(cpu.spread_options.ratio).
                type: int
          preferred_cpu_features:
            description:
              - See O(cpu.preferred_cpu_features).
            type: list
            elements: dict
            aliases:
              - preferredCPUFeatures
            suboptions:
              name:
                description:
                  - See O(cpu.preferred_cpu_features[].name).
                type: str
                required: true
              policy:
                description:
                  - See O(cpu.preferred_cpu_features[].policy).
                type: str
                choices:
                  - force
                  - require
                  - optional
                  - disable
                  - forbid
      devices:
        description:
          - See O(devices).
        type: dict
        suboptions:
          preferred_autoattach_graphics_device:
            description:
              - See O(devices.preferred_autoattach_graphics_device).
            type: bool
            aliases:
              - preferredAutoattachGraphicsDevice
          preferred_autoattach_mem_balloon:
            description:
              - See O(devices.preferred_autoattach_mem_balloon).
            type: bool
            aliases:
              - preferredAutoattachMemBalloon
          preferred_autoattach_pod_interface:
            description:
              - See O(devices.preferred_autoattach_pod_interface).
            type: bool
            aliases:
              - preferredAutoattachPodInterface
          preferred_autoattach_serial_console:
            description:
              - See O(devices.preferred_autoattach_serial_console).
            type: bool
            aliases:
              - preferredAutoattachSerialConsole
          preferred_autoattach_input_device:
            description:
              - See O(devices.preferred_autoattach_input_device).
            type: bool
            aliases:
              - preferredAutoattachInputDevice
          preferred_disable_hotplug:
            description:
              - See O(devices.preferred_disable_hotplug).
            type: bool
            aliases:
              - preferredDisableHotplug
          preferred_virtual_gpu_options:
            description:
              - See O(devices.preferred_virtual_gpu_options).
            type: dict
            aliases:
              - preferredVirtualGPUOptions
            suboptions:
              display:
                description:
                  - See O(devices.preferred_virtual_gpu_options.display).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(devices.preferred_virtual_gpu_options.display.enabled).
                    type: bool
                  ram_fb:
                    description:
                      - See O(devices.preferred_virtual_gpu_options.display.ram_fb).
                    type: dict
                    aliases:
                      - ramFB
                    suboptions:
                      enabled:
                        description:
                          - See O(devices.preferred_virtual_gpu_options.display.ram_fb.enabled).
                        type: bool
          preferred_sound_model:
            description:
              - See O(devices.preferred_sound_model).
            type: str
            choices:
              - ich9
              - ac97
            aliases:
              - preferredSoundModel
          preferred_use_virtio_transitional:
            description:
              - See O(devices.preferred_use_virtio_transitional).
            type: bool
            aliases:
              - preferredUseVirtioTransitional
          preferred_input_bus:
            description:
              - See O(devices.preferred_input_bus).
            type: str
            choices:
              - virtio
              - usb
            aliases:
              - preferredInputBus
          preferred_input_type:
            description:
              - See O(devices.preferred_input_type).
            type: str
            choices:
              - tablet
              - keyboard
            aliases:
              - preferredInputType
          preferred_disk_bus:
            description:
              - See O(devices.preferred_disk_bus).
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
              - See O(devices.preferred_lun_bus).
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
              - See O(devices.preferred_cdrom_bus).
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
              - See O(devices.preferred_disk_dedicated_io_thread).
            type: bool
            aliases:
              - preferredDiskDedicatedIoThread
          preferred_disk_cache:
            description:
              - See O(devices.preferred_disk_cache).
            type: str
            choices:
              - none
              - writethrough
              - writeback
            aliases:
              - preferredDiskCache
          preferred_disk_io:
            description:
              - See O(devices.preferred_disk_io).
            type: str
            choices:
              - native
              - threads
            aliases:
              - preferredDiskIO
          preferred_disk_block_size:
            description:
              - See O(devices.preferred_disk_block_size).
            type: dict
            aliases:
              - preferredDiskBlockSize
            suboptions:
              custom:
                description:
                  - See O(devices.preferred_disk_block_size.custom).
                type: dict
                suboptions:
                  logical:
                    description:
                      - See O(devices.preferred_disk_block_size.custom.logical).
                    type: int
                  physical:
                    description:
                      - See O(devices.preferred_disk_block_size.custom.physical).
                    type: int
                  discard_granularity:
                    description:
                      - See O(devices.preferred_disk_block_size.custom.discard_granularity).
                    type: int
                    aliases:
                      - discardGranularity
              match_volume:
                description:
                  - See O(devices.preferred_disk_block_size.match_volume).
                type: dict
                aliases:
                  - matchVolume
                suboptions:
                  enabled:
                    description:
                      - See O(devices.preferred_disk_block_size.match_volume.enabled).
                    type: bool
          preferred_interface_model:
            description:
              - See O(devices.preferred_interface_model).
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
              - See O(devices.preferred_rng).
            type: dict
            aliases:
              - preferredRng
          preferred_block_multi_queue:
            description:
              - See O(devices.preferred_block_multi_queue).
            type: bool
            aliases:
              - preferredBlockMultiQueue
          preferred_network_interface_multi_queue:
            description:
              - See O(devices.preferred_network_interface_multi_queue).
            type: bool
            aliases:
              - preferredNetworkInterfaceMultiQueue
          preferred_tpm:
            description:
              - See O(devices.preferred_tpm).
            type: dict
            aliases:
              - preferredTPM
            suboptions:
              enabled:
                description:
                  - See O(devices.preferred_tpm.enabled).
                type: bool
              persistent:
                description:
                  - See O(devices.preferred_tpm.persistent).
                type: bool
          preferred_interface_masquerade:
            description:
              - See O(devices.preferred_interface_masquerade).
            type: dict
            aliases:
              - preferredInterfaceMasquerade
          preferred_panic_device_model:
            description:
              - See O(devices.preferred_panic_device_model).
            type: str
            choices:
              - hyperv
              - isa
              - pvpanic
            aliases:
              - preferredPanicDeviceModel
          preferred_video_type:
            description:
              - See O(devices.preferred_video_type).
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
          - See O(features).
        type: dict
        suboptions:
          preferred_acpi:
            description:
              - See O(features.preferred_acpi).
            type: dict
            aliases:
              - preferredAcpi
            suboptions:
              enabled:
                description:
                  - See O(features.preferred_acpi.enabled).
                type: bool
          preferred_apic:
            description:
              - See O(features.preferred_apic).
            type: dict
            aliases:
              - preferredApic
            suboptions:
              enabled:
                description:
                  - See O(features.preferred_apic.enabled).
                type: bool
              end_of_interrupt:
                description:
                  - See O(features.preferred_apic.end_of_interrupt).
                type: bool
                aliases:
                  - endOfInterrupt
          preferred_hyperv:
            description:
              - See O(features.preferred_hyperv).
            type: dict
            aliases:
              - preferredHyperv
            suboptions:
              relaxed:
                description:
                  - See O(features.preferred_hyperv.relaxed).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.relaxed.enabled).
                    type: bool
              vapic:
                description:
                  - See O(features.preferred_hyperv.vapic).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.vapic.enabled).
                    type: bool
              spinlocks:
                description:
                  - See O(features.preferred_hyperv.spinlocks).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.spinlocks.enabled).
                    type: bool
                  spinlocks:
                    description:
                      - See O(features.preferred_hyperv.spinlocks.spinlocks).
                    type: int
              vpindex:
                description:
                  - See O(features.preferred_hyperv.vpindex).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.vpindex.enabled).
                    type: bool
              runtime:
                description:
                  - See O(features.preferred_hyperv.runtime).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.runtime.enabled).
                    type: bool
              synic:
                description:
                  - See O(features.preferred_hyperv.synic).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.synic.enabled).
                    type: bool
              synictimer:
                description:
                  - See O(features.preferred_hyperv.synictimer).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.synictimer.enabled).
                    type: bool
                  direct:
                    description:
                      - See O(features.preferred_hyperv.synictimer.direct).
                    type: dict
                    suboptions:
                      enabled:
                        description:
                          - See O(features.preferred_hyperv.synictimer.direct.enabled).
                        type: bool
              reset:
                description:
                  - See O(features.preferred_hyperv.reset).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.reset.enabled).
                    type: bool
              vendorid:
                description:
                  - See O(features.preferred_hyperv.vendorid).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.vendorid.enabled).
                    type: bool
                  vendorid:
                    description:
                      - See O(features.preferred_hyperv.vendorid.vendorid).
                    type: str
              frequencies:
                description:
                  - See O(features.preferred_hyperv.frequencies).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.frequencies.enabled).
                    type: bool
              reenlightenment:
                description:
                  - See O(features.preferred_hyperv.reenlightenment).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.reenlightenment.enabled).
                    type: bool
              tlbflush:
                description:
                  - See O(features.preferred_hyperv.tlbflush).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.tlbflush.enabled).
                    type: bool
                  direct:
                    description:
                      - See O(features.preferred_hyperv.tlbflush.direct).
                    type: dict
                    suboptions:
                      enabled:
                        description:
                          - See O(features.preferred_hyperv.tlbflush.direct.enabled).
                        type: bool
                  extended:
                    description:
                      - See O(features.preferred_hyperv.tlbflush.extended).
                    type: dict
                    suboptions:
                      enabled:
                        description:
                          - See O(features.preferred_hyperv.tlbflush.extended.enabled).
                        type: bool
              ipi:
                description:
                  - See O(features.preferred_hyperv.ipi).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.ipi.enabled).
                    type: bool
              evmcs:
                description:
                  - See O(features.preferred_hyperv.evmcs).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(features.preferred_hyperv.evmcs.enabled).
                    type: bool
          preferred_kvm:
            description:
              - See O(features.preferred_kvm).
            type: dict
            aliases:
              - preferredKvm
            suboptions:
              hidden:
                description:
                  - See O(features.preferred_kvm.hidden).
                type: bool
          preferred_pvspinlock:
            description:
              - See O(features.preferred_pvspinlock).
            type: dict
            aliases:
              - preferredPvspinlock
            suboptions:
              enabled:
                description:
                  - See O(features.preferred_pvspinlock.enabled).
                type: bool
          preferred_smm:
            description:
              - See O(features.preferred_smm).
            type: dict
            aliases:
              - preferredSmm
            suboptions:
              enabled:
                description:
                  - See O(features.preferred_smm.enabled).
                type: bool
      firmware:
        description:
          - See O(firmware).
        type: dict
        suboptions:
          preferred_use_bios:
            description:
              - See O(firmware.preferred_use_bios).
            type: bool
            aliases:
              - preferredUseBios
          preferred_use_bios_serial:
            description:
              - See O(firmware.preferred_use_bios_serial).
            type: bool
            aliases:
              - preferredUseBiosSerial
          preferred_use_efi:
            description:
              - See O(firmware.preferred_use_efi).
            type: bool
            aliases:
              - preferredUseEfi
          preferred_use_secure_boot:
            description:
              - See O(firmware.preferred_use_secure_boot).
            type: bool
            aliases:
              - preferredUseSecureBoot
          preferred_efi:
            description:
              - See O(firmware.preferred_efi).
            type: dict
            aliases:
              - preferredEfi
            suboptions:
              secure_boot:
                description:
                  - See O(firmware.preferred_efi.secure_boot).
                type: bool
                aliases:
                  - secureBoot
              persistent:
                description:
                  - See O(firmware.preferred_efi.persistent).
                type: bool
      kind:
        description:
          - See O(kind).
        type: str
        choices:
          - VirtualMachinePreference
          - VirtualMachineClusterPreference
      labels:
        description:
          - See O(labels).
        type: dict
      machine:
        description:
          - See O(machine).
        type: dict
        suboptions:
          preferred_machine_type:
            description:
              - See O(machine.preferred_machine_type).
            type: str
            aliases:
              - preferredMachineType
      name:
        description:
          - Name of the preference.
        type: str
        required: true
      namespace:
        description:
          - See O(namespace).
        type: str
      prefer_spread_socket_to_core_ratio:
        description:
          - See O(prefer_spread_socket_to_core_ratio).
        type: int
        aliases:
          - preferSpreadSocketToCoreRatio
      preferred_architecture:
        description:
          - See O(preferred_architecture).
        type: str
        choices:
          - amd64
          - arm64
          - s390x
        aliases:
          - preferredArchitecture
      preferred_launch_security:
        description:
          - See O(preferred_launch_security).
        type: dict
        aliases:
          - preferredLaunchSecurity
        suboptions:
          sev:
            description:
              - See O(preferred_launch_security.sev).
            type: dict
            suboptions:
              policy:
                description:
                  - See O(preferred_launch_security.sev.policy).
                type: dict
                suboptions:
                  encrypted_state:
                    description:
                      - See O(preferred_launch_security.sev.policy.encrypted_state).
                    type: bool
                    aliases:
                      - encryptedState
              attestation:
                description:
                  - See O(preferred_launch_security.sev.attestation).
                type: dict
              session:
                description:
                  - See O(preferred_launch_security.sev.session).
                type: str
              dh_cert:
                description:
                  - See O(preferred_launch_security.sev.dh_cert).
                type: str
                aliases:
                  - dhCert
          snp:
            description:
              - See O(preferred_launch_security.snp).
            type: dict
          tdx:
            description:
              - See O(preferred_launch_security.tdx).
            type: dict
      preferred_subdomain:
        description:
          - See O(preferred_subdomain).
        type: str
        aliases:
          - preferredSubdomain
      preferred_termination_grace_period_seconds:
        description:
          - See O(preferred_termination_grace_period_seconds).
        type: int
        aliases:
          - preferredTerminationGracePeriodSeconds
      requirements:
        description:
          - See O(requirements).
        type: dict
        suboptions:
          cpu:
            description:
              - See O(requirements.cpu).
            type: dict
            suboptions:
              guest:
                description:
                  - See O(requirements.cpu.guest).
                type: int
                required: true
          memory:
            description:
              - See O(requirements.memory).
            type: dict
            suboptions:
              guest:
                description:
                  - See O(requirements.memory.guest).
                type: str
                required: true
          architecture:
            description:
              - See O(requirements.architecture).
            type: str
            choices:
              - amd64
              - arm64
              - s390x
      spec:
        description:
          - See O(spec).
        type: dict
      state:
        description:
          - See O(state).
        type: str
        choices:
          - present
          - absent
      vm_annotations:
        description:
          - See O(vm_annotations).
        type: dict
      volumes:
        description:
          - See O(volumes).
        type: dict
        suboptions:
          preferred_storage_class_name:
            description:
              - See O(volumes.preferred_storage_class_name).
            type: str
            aliases:
              - preferredStorageClassName
"""
