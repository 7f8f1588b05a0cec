# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the module's own documentation; do not edit.

"""The option for a list of instancetypes, with the options of its entries."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  instancetypes:
    description:
      - A list of instancetypes. An entry takes the same options as the task does for one instancetype.
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
      cpu:
        description:
          - See O(cpu).
        type: dict
        suboptions:
          guest:
            description:
              - See O(cpu.guest).
            type: int
            required: true
          model:
            description:
              - See O(cpu.model).
            type: str
          dedicated_cpu_placement:
            description:
              - See O(cpu.dedicated_cpu_placement).
            type: bool
            aliases:
              - dedicatedCPUPlacement
          numa:
            description:
              - See O(cpu.numa).
            type: dict
            suboptions:
              guest_mapping_passthrough:
                description:
                  - See O(cpu.numa.guest_mapping_passthrough).
                type: dict
                aliases:
                  - guestMappingPassthrough
          isolate_emulator_thread:
            description:
              - See O(cpu.isolate_emulator_thread).
            type: bool
            aliases:
              - isolateEmulatorThread
          realtime:
            description:
              - See O(cpu.realtime).
            type: dict
            suboptions:
              mask:
                description:
                  - See O(cpu.realtime.mask).
                type: str
          max_sockets:
            description:
              - See O(cpu.max_sockets).
            type: int
            aliases:
              - maxSockets
      gpus:
        description:
          - See O(gpus).
        type: list
        elements: dict
        suboptions:
          name:
            description:
              - See O(gpus[].name).
            type: str
            required: true
          device_name:
            description:
              - See O(gpus[].device_name).
            type: str
            aliases:
              - deviceName
          claim_name:
            description:
              - See O(gpus[].claim_name).
            type: str
            aliases:
              - claimName
          request_name:
            description:
              - See O(gpus[].request_name).
            type: str
            aliases:
              - requestName
          virtual_gpu_options:
            description:
              - See O(gpus[].virtual_gpu_options).
            type: dict
            aliases:
              - virtualGPUOptions
            suboptions:
              display:
                description:
                  - See O(gpus[].virtual_gpu_options.display).
                type: dict
                suboptions:
                  enabled:
                    description:
                      - See O(gpus[].virtual_gpu_options.display.enabled).
                    type: bool
                  ram_fb:
                    description:
                      - See O(gpus[].virtual_gpu_options.display.ram_fb).
                    type: dict
                    aliases:
                      - ramFB
                    suboptions:
                      enabled:
                        description:
                          - See O(gpus[].virtual_gpu_options.display.ram_fb.enabled).
                        type: bool
          tag:
            description:
              - See O(gpus[].tag).
            type: str
      host_devices:
        description:
          - See O(host_devices).
        type: list
        elements: dict
        aliases:
          - hostDevices
        suboptions:
          name:
            description:
              - See O(host_devices[].name).
            type: str
            required: true
          device_name:
            description:
              - See O(host_devices[].device_name).
            type: str
            aliases:
              - deviceName
          claim_name:
            description:
              - See O(host_devices[].claim_name).
            type: str
            aliases:
              - claimName
          request_name:
            description:
              - See O(host_devices[].request_name).
            type: str
            aliases:
              - requestName
          tag:
            description:
              - See O(host_devices[].tag).
            type: str
      io_threads:
        description:
          - See O(io_threads).
        type: dict
        aliases:
          - ioThreads
        suboptions:
          supplemental_pool_thread_count:
            description:
              - See O(io_threads.supplemental_pool_thread_count).
            type: int
            aliases:
              - supplementalPoolThreadCount
      io_threads_policy:
        description:
          - See O(io_threads_policy).
        type: str
        choices:
          - auto
          - shared
          - supplementalPool
        aliases:
          - ioThreadsPolicy
      kind:
        description:
          - See O(kind).
        type: str
        choices:
          - VirtualMachineInstancetype
          - VirtualMachineClusterInstancetype
      labels:
        description:
          - See O(labels).
        type: dict
      launch_security:
        description:
          - See O(launch_security).
        type: dict
        aliases:
          - launchSecurity
        suboptions:
          sev:
            description:
              - See O(launch_security.sev).
            type: dict
            suboptions:
              policy:
                description:
                  - See O(launch_security.sev.policy).
                type: dict
                suboptions:
                  encrypted_state:
                    description:
                      - See O(launch_security.sev.policy.encrypted_state).
                    type: bool
                    aliases:
                      - encryptedState
              attestation:
                description:
                  - See O(launch_security.sev.attestation).
                type: dict
              session:
                description:
                  - See O(launch_security.sev.session).
                type: str
              dh_cert:
                description:
                  - See O(launch_security.sev.dh_cert).
                type: str
                aliases:
                  - dhCert
          snp:
            description:
              - See O(launch_security.snp).
            type: dict
          tdx:
            description:
              - See O(launch_security.tdx).
            type: dict
      memory:
        description:
          - See O(memory).
        type: dict
        suboptions:
          guest:
            description:
              - See O(memory.guest).
            type: str
            required: true
          hugepages:
            description:
              - See O(memory.hugepages).
            type: dict
            suboptions:
              page_size:
                description:
                  - See O(memory.hugepages.page_size).
                type: str
                aliases:
                  - pageSize
          overcommit_percent:
            description:
              - See O(memory.overcommit_percent).
            type: int
            aliases:
              - overcommitPercent
          max_guest:
            description:
              - See O(memory.max_guest).
            type: str
            aliases:
              - maxGuest
      name:
        description:
          - Name of the instancetype.
        type: str
        required: true
      namespace:
        description:
          - See O(namespace).
        type: str
      node_selector:
        description:
          - See O(node_selector).
        type: dict
        aliases:
          - nodeSelector
      scheduler_name:
        description:
          - See O(scheduler_name).
        type: str
        aliases:
          - schedulerName
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
"""
