# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: resources
short_description: What a VM's guest gets and what its pod asks for
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Expands a VM and sums up what comes out. For the guest that is vCPUs and their topology, memory, GPUs and host
    devices; for the pod it is what the node has to have free.
  - The pod's figures are those of KubeVirt's newest release on a cluster without memory overcommit or automatic limits
    of its own.
  - Not included are the memory overhead of the launcher pod, which KubeVirt adds to RV(_value.pod.memory) and which
    depends on node and devices, and the devices that every VM asks for, such as kvm and tun.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
options:
  cpu_allocation_ratio:
    description:
      - How many vCPUs share a CPU of the node, where they are not dedicated.
      - It is C(developerConfiguration.cpuAllocationRatio) of the cluster's KubeVirt object.
    type: int
    default: 10
"""

EXAMPLES = r"""
- name: Will the VMs fit on the node?
  ansible.builtin.debug:
    msg: "{{ needed | int | human_readable }} of memory"
  vars:
    needed: >-
      {{ [web, web] | virtshape.instancetypes.resources(instancetype=o1_large)
         | map(attribute='pod.memory_bytes') | sum }}
    o1_large: {cpu: {guest: 2}, memory: {guest: 8Gi, overcommitPercent: 50}}
    web:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}}}}}
"""

RETURN = r"""
_value:
  description: The figures of the VM, or a list of them where a list was given. What a VM has not is left out.
  type: raw
  contains:
    guest:
      description:
        - What the guest gets, C(vcpus), C(sockets), C(cores), C(threads), C(memory) (a quantity), C(memory_bytes),
          C(max_sockets) and C(max_memory) (the limits of hot-plugging), C(gpus), C(host_devices), C(io_threads_policy)
          and C(io_threads) (the threads of the supplemental pool).
      type: dict
    pod:
      description:
        - What the pod asks for, C(cpu) (a quantity), C(dedicated_cpus) (their number), C(memory) (a quantity, without
          overhead), C(memory_bytes), C(overcommit_percent) (by how much the request is less than the guest's memory),
          C(hugepages) (quantities by page size), C(devices) (numbers by resource name) and C(claims) (of dynamic
          resource allocation, with C(claim) and C(request)).
      type: dict
      contains:
        memory:
          description: The memory, a quantity. Of a VM with huge pages only what it asks for besides them.
          type: str
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted, vm_filter, whole_number


class FilterModule:
    def filters(self) -> dict:
        return netted({"resources": vm_filter("resources", questions.resources, cpu_allocation_ratio=whole_number)})
