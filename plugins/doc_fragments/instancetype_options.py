# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Written by tools/generate_docs.py from the options and their descriptions; do not edit.

"""The options of instancetypes, of one and of a list."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  node_selector: &id001
    description: Labels of the nodes that can run the VM. Conflicts with a VM that has a node selector, even if both are
      equal.
    type: dict
    aliases: [nodeSelector]
  scheduler_name: &id002
    description: Scheduler of the VM's pod. Conflicts with a VM that names a scheduler.
    type: str
    aliases: [schedulerName]
  cpu: &id003
    description: The vCPUs. Required in every instancetype. Conflicts with a VM that sets sockets, cores, threads, or
      CPU requests or limits.
    type: dict
    suboptions:
      guest:
        description: Number of vCPUs of the guest. The preference decides whether the vCPUs are sockets (the default),
          cores or threads.
        type: int
        required: true
      model:
        description: 'CPU model: a model of libvirt, C(host-model) (the libvirt model closest to the node''s CPU) or
          C(host-passthrough) (exactly the node''s CPU). By default the model of the VM or of the cluster. Conflicts
          with a VM that sets a model.'
        type: str
      dedicated_cpu_placement:
        description: Whether to pin every vCPU to a dedicated physical CPU. Requires nodes with the static CPU manager
          policy. Conflicts with a VM that sets it to true, even if both are equal.
        type: bool
        aliases: [dedicatedCPUPlacement]
      numa:
        description: NUMA topology of the guest. Conflicts with a VM that sets a NUMA topology.
        type: dict
        suboptions:
          guest_mapping_passthrough:
            description: Gives the guest a NUMA topology that follows the physical CPUs of its vCPUs. Requires dedicated
              CPUs and huge pages. Has no fields; write C({}).
            type: dict
            aliases: [guestMappingPassthrough]
      isolate_emulator_thread:
        description: Whether the emulator gets a dedicated physical CPU, in addition to the CPUs of the vCPUs. Requires
          O(cpu.dedicated_cpu_placement). Conflicts with a VM that sets it to true.
        type: bool
        aliases: [isolateEmulatorThread]
      realtime:
        description: Tunes the VM for low latency. Requires dedicated CPUs and huge pages. Conflicts with a VM that sets
          it.
        type: dict
        suboptions:
          mask:
            description: The vCPUs that run real-time work, such as C(0-3,^1) for 0, 2 and 3. Default is all vCPUs.
            type: str
      max_sockets:
        description: Maximum number of sockets to which the running VM can grow. Replaces the value of the VM and never
          conflicts.
        type: int
        aliases: [maxSockets]
  memory: &id004
    description: The memory. Required in every instancetype. Conflicts with a VM that sets guest memory, or memory
      requests or limits.
    type: dict
    suboptions:
      guest:
        description: Memory of the guest, as a quantity such as C(4Gi).
        type: str
        required: true
      hugepages:
        description: Uses huge pages for the guest's memory. Conflicts with a VM that requests huge pages.
        type: dict
        suboptions:
          page_size:
            description: 'Size of the pages: C(2Mi) or C(1Gi) on amd64, other sizes on other architectures. Spelled as
              in the resource name of the node (C(hugepages-2Mi)).'
            type: str
            aliases: [pageSize]
      overcommit_percent:
        description: Percent by which the pod's memory request is lower than O(memory.guest), 0 to 100. More VMs fit on
          a node, but the kernel may kill them when its memory runs out.
        type: int
        aliases: [overcommitPercent]
      max_guest:
        description: Maximum memory to which the running VM can grow, as a quantity. Conflicts with a VM that sets it.
        type: str
        aliases: [maxGuest]
  gpus: &id005
    description: GPUs to pass through. Conflicts with a VM that lists GPUs.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the device inside the VM.
        type: str
        required: true
      device_name:
        description: Resource name of the device on the nodes, such as C(nvidia.com/GA102GL_A10).
        type: str
        aliases: [deviceName]
      claim_name:
        description:
          - Name of the VM's resource claim for the device (dynamic resource allocation).
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases: [claimName]
      request_name:
        description:
          - Name of the request in that claim (dynamic resource allocation).
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases: [requestName]
      virtual_gpu_options:
        description: Settings of a virtual GPU.
        type: dict
        aliases: [virtualGPUOptions]
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
      tag:
        description: Tag of the device in the guest's config drive, next to its address.
        type: str
  host_devices: &id006
    description: Host devices to pass through. Conflicts with a VM that lists host devices.
    type: list
    elements: dict
    aliases: [hostDevices]
    suboptions:
      name:
        description: Name of the device inside the VM.
        type: str
        required: true
      device_name:
        description: Resource name of the device on the nodes, such as C(intel.com/qat).
        type: str
        aliases: [deviceName]
      claim_name:
        description:
          - Name of the VM's resource claim for the device (dynamic resource allocation).
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases: [claimName]
      request_name:
        description:
          - Name of the request in that claim (dynamic resource allocation).
          - Needs KubeVirt 1.6 or later; earlier releases drop it without a word.
        type: str
        aliases: [requestName]
      tag:
        description: Tag of the device in the guest's config drive, next to its address.
        type: str
  io_threads_policy: &id007
    description: 'How QEMU does the disk I/O: with V(shared) all disks use one thread; with V(auto) KubeVirt distributes
      the disks over several threads; with V(supplementalPool) all disks use a pool, whose size O(io_threads) sets. By
      default the emulator''s main thread does the I/O. Conflicts with a VM that sets a policy.'
    type: str
    choices: [auto, shared, supplementalPool]
    aliases: [ioThreadsPolicy]
  io_threads: &id008
    description:
      - Settings of the I/O threads.
      - Needs KubeVirt 1.7 or later; earlier releases drop it without a word.
    type: dict
    aliases: [ioThreads]
    suboptions:
      supplemental_pool_thread_count:
        description: Number of threads of the I/O threads policy C(supplementalPool). Conflicts with a VM that sets this
          field.
        type: int
        aliases: [supplementalPoolThreadCount]
  launch_security: &id009
    description:
      - Confidential computing. Set one field to choose the technology. Conflicts with a VM that sets launch security,
        and overrides that of a preference.
      - Deprecated by KubeVirt. Since 1.9, use preferredLaunchSecurity of a preference.
    type: dict
    aliases: [launchSecurity]
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
  vm_annotations: &id010
    description: Annotations of every VM instance of this type. They override the annotations of a preference. Conflicts
      with a VM whose template has the same key with another value.
    type: dict
  name:
    description: Name of the instancetype. Either O(name) or O(instancetypes) is required.
    type: str
  namespace: &id011
    description: Namespace of the instancetype. Without a namespace the instancetype is cluster-wide.
    type: str
  kind: &id012
    description: Kind of the object. The default depends on O(namespace).
    type: str
    choices: [VirtualMachineInstancetype, VirtualMachineClusterInstancetype]
  state:
    description:
      - Whether the object must exist as declared, or must not exist.
      - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
        entries of a task are rendered, or none.
    type: str
    default: present
    choices: [present, absent, rendered]
  labels: &id013
    description: Labels of the instancetype.
    type: dict
  annotations: &id014
    description: Annotations of the instancetype. O(vm_annotations) sets annotations of its VMs.
    type: dict
  deprecated: &id015
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
  obsolete: &id016
    description: Declares the object obsolete, for example with V({}). The VMs that have it keep it. The preflight of
      M(virtshape.instancetypes.virtual_machine) refuses other VMs.
    type: dict
    suboptions:
      replacement:
        description: Name of the object to use instead, of the same kind and namespace.
        type: str
  spec: &id017
    description: The spec in the API's form, for fields without an option. Merged with the other options; different
      values for the same field are an error.
    type: dict
  accept_unknown_fields: &id018
    description:
      - Whether to send fields that this collection does not know. By default an unknown field fails the task before
        anything is sent, and the message suggests the closest known field.
      - Use this option for fields of a KubeVirt release that is newer than the collection. If KubeVirt does not know
        the field either, it rejects the object.
    type: bool
  instancetypes:
    description: A list of instancetypes. An entry takes the same options as the task does for one instancetype. An
      option that an entry leaves out has the value that the task gives, and an option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      node_selector: *id001
      scheduler_name: *id002
      cpu: *id003
      memory: *id004
      gpus: *id005
      host_devices: *id006
      io_threads_policy: *id007
      io_threads: *id008
      launch_security: *id009
      vm_annotations: *id010
      name:
        description: Name of the instancetype.
        type: str
        required: true
      namespace: *id011
      kind: *id012
      state:
        description:
          - Whether the object must exist as declared, or must not exist.
          - With V(rendered), the task connects to nothing and returns the manifests of new objects as RV(rendered). All
            entries of a task are rendered, or none.
        type: str
        choices: [present, absent, rendered]
      labels: *id013
      annotations: *id014
      deprecated: *id015
      obsolete: *id016
      spec: *id017
      accept_unknown_fields: *id018
"""
