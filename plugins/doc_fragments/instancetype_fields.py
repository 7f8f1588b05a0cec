# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from plugins/module_utils/_resolver/api/fields and tools/descriptions; do not edit.

"""The options for the fields of an instancetype."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  node_selector:
    description:
      - Labels that a node must have to run the VM. A VM with a node selector of its own conflicts,
        even if both are equal.
      - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
    type: dict
    aliases:
      - nodeSelector
  scheduler_name:
    description:
      - Scheduler that places the VM's pod. A VM that names a scheduler itself conflicts.
      - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
    type: str
    aliases:
      - schedulerName
  cpu:
    description:
      - The vCPUs. Every instancetype needs it. A VM that sets sockets, cores, threads, or CPU
        requests or limits itself conflicts.
    type: dict
    suboptions:
      guest:
        description:
          - Number of vCPUs of the guest. How they appear, as sockets, cores or threads, is
            the preference's choice; without one they are sockets.
        type: int
        required: true
      model:
        description:
          - 'CPU model: a name that libvirt knows, C(host-model) (the named model closest to
            the node''s CPU) or C(host-passthrough) (exactly the node''s CPU). Unset leaves
            it to the VM and then to the cluster. A VM with a model of its own conflicts if
            this is set.'
        type: str
      dedicated_cpu_placement:
        description:
          - Whether every vCPU is pinned to a physical CPU that nothing else uses. Needs nodes
            with the static CPU manager policy. A VM that sets it to true conflicts if this
            is set, even to the same value.
        type: bool
        aliases:
          - dedicatedCPUPlacement
      numa:
        description:
          - NUMA topology of the guest. A VM with one of its own conflicts.
        type: dict
        suboptions:
          guest_mapping_passthrough:
            description:
              - Gives the guest a NUMA topology that follows the physical CPUs it is pinned
                to. Needs dedicated CPUs and huge pages. Has no fields; write C({}).
            type: dict
            aliases:
              - guestMappingPassthrough
      isolate_emulator_thread:
        description:
          - Whether the emulator gets a physical CPU of its own, besides those of the vCPUs.
            Needs O(cpu.dedicated_cpu_placement). A VM that sets it to true conflicts if this
            is set.
        type: bool
        aliases:
          - isolateEmulatorThread
      realtime:
        description:
          - Tunes the VM for low latency. Needs dedicated CPUs and huge pages. A VM that sets
            it itself conflicts.
        type: dict
        suboptions:
          mask:
            description:
              - Which vCPUs run real-time work, such as C(0-3,^1) for 0, 2 and 3. Unset means
                all.
            type: str
      max_sockets:
        description:
          - Largest number of sockets that the VM can be grown to while it runs. It replaces
            the VM's own value and never conflicts.
          - Needs KubeVirt 1.3 or later; earlier releases drop it without a word.
        type: int
        aliases:
          - maxSockets
  memory:
    description:
      - The memory. Every instancetype needs it. A VM that sets guest memory, or memory requests
        or limits itself conflicts.
    type: dict
    suboptions:
      guest:
        description:
          - Memory that the guest sees, as a quantity such as C(4Gi).
        type: str
        required: true
      hugepages:
        description:
          - Backs the guest's memory with huge pages. A VM that asks for huge pages itself conflicts.
        type: dict
        suboptions:
          page_size:
            description:
              - 'Size of the pages: C(2Mi) or C(1Gi) on amd64, other sizes elsewhere. Spelled
                as the nodes name the resource (C(hugepages-2Mi)).'
            type: str
            aliases:
              - pageSize
      overcommit_percent:
        description:
          - By how many percent the pod's memory request is lower than O(memory.guest), 0 to
            100. More VMs fit on a node, but they may be killed when its memory runs out.
        type: int
        aliases:
          - overcommitPercent
      max_guest:
        description:
          - Largest memory that the VM can be grown to while it runs, as a quantity. A VM that
            sets it itself conflicts.
          - Needs KubeVirt 1.3 or later; earlier releases drop it without a word.
        type: str
        aliases:
          - maxGuest
  gpus:
    description:
      - GPUs to pass through. A VM that lists GPUs itself conflicts.
    type: list
    elements: dict
    suboptions:
      name:
        description:
          - Name of the device inside the VM.
        type: str
        required: true
      device_name:
        description:
          - Resource name under which nodes offer the device, such as C(nvidia.com/GA102GL_A10).
        type: str
        aliases:
          - deviceName
      claim_name:
        description:
          - 'Dynamic resource allocation: name of the VM''s resource claim that the device comes
            from.'
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases:
          - claimName
      request_name:
        description:
          - 'Dynamic resource allocation: name of the request in that claim.'
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases:
          - requestName
      virtual_gpu_options:
        description:
          - Settings of a virtual GPU.
        type: dict
        aliases:
          - virtualGPUOptions
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
      tag:
        description:
          - Tag that the guest finds beside the device's address in its config drive.
        type: str
  host_devices:
    description:
      - Host devices to pass through. A VM that lists host devices itself conflicts.
    type: list
    elements: dict
    aliases:
      - hostDevices
    suboptions:
      name:
        description:
          - Name of the device inside the VM.
        type: str
        required: true
      device_name:
        description:
          - Resource name under which nodes offer the device, such as C(intel.com/qat).
        type: str
        aliases:
          - deviceName
      claim_name:
        description:
          - 'Dynamic resource allocation: name of the VM''s resource claim that the device comes
            from.'
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases:
          - claimName
      request_name:
        description:
          - 'Dynamic resource allocation: name of the request in that claim.'
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases:
          - requestName
      tag:
        description:
          - Tag that the guest finds beside the device's address in its config drive.
        type: str
  io_threads_policy:
    description:
      - Which threads do the disk I/O. With V(shared) all disks use one thread, with V(auto)
        KubeVirt spreads them over several, with V(supplementalPool) all use a pool, sized by
        O(io_threads). Unset leaves the I/O to the emulator's main thread. A VM with a policy
        of its own conflicts.
    type: str
    choices:
      - auto
      - shared
      - supplementalPool
    aliases:
      - ioThreadsPolicy
  io_threads:
    description:
      - Settings of the I/O threads.
      - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
    type: dict
    aliases:
      - ioThreads
    suboptions:
      supplemental_pool_thread_count:
        description:
          - Number of threads of the I/O threads policy C(supplementalPool). A VM that sets
            it itself conflicts with an instancetype that does.
        type: int
        aliases:
          - supplementalPoolThreadCount
  launch_security:
    description:
      - Confidential computing. One of its fields chooses the technology. A VM with launch security
        of its own conflicts, and a preference's is not used.
      - Deprecated by KubeVirt. Since 1.9, use preferredLaunchSecurity of a preference.
    type: dict
    aliases:
      - launchSecurity
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
  vm_annotations:
    description:
      - Annotations that every VM instance of this type gets. They win over those of a preference.
        A VM whose template has the same key with another value conflicts.
      - Needs KubeVirt 1.1 or later; earlier releases drop it without a word.
    type: dict
"""
