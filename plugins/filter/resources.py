# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: resources
short_description: Compute the resources of a VM's guest and of its pod
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Expands a VM and computes the resources of its guest (vCPUs and their topology, memory, GPUs and host devices) and
    its virt-launcher pod like virt-controller (requests and limits of every container, memory overhead, devices, QoS
    class and node constraints).
  - Without O(kubevirt), O(namespace) and O(quotas) the filter assumes a cluster and a namespace with KubeVirt's
    defaults. Additions of the API server, such as the defaults of a LimitRange, are not included.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
options:
  kubevirt:
    description:
      - The cluster's KubeVirt object. The filter uses its configuration (overcommit, CPU allocation ratio, feature
        gates, support containers, node selectors and more) and, without O(kubevirt_version), its release.
    type: dict
  namespace:
    description:
      - The Namespace of the VM. Its labels may enable automatic limits.
    type: dict
  quotas:
    description:
      - The ResourceQuotas of the namespace. A quota with C(limits.cpu) or C(limits.memory) makes KubeVirt set limits.
    type: list
    elements: dict
    default: []
  networks:
    description:
      - The NetworkAttachmentDefinitions that the VM uses, for their devices. Without this option the filter assumes
        that no network requires a device. From KubeVirt 1.9 on, a webhook adds these devices unless the feature gate
        C(ExternalNetResourceInjection) is disabled.
    type: list
    elements: dict
  migrates_from:
    description:
      - The source Node of a migration. The filter then computes the target pod.
    type: dict
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
  description: The resources of the VM, or a list if the input is a list. Keys without a value are left out.
  type: raw
  contains:
    guest:
      description:
        - Resources of the guest - C(vcpus), C(sockets), C(cores), C(threads), C(memory) (a quantity), C(memory_bytes),
          C(max_sockets) and C(max_memory) (the limits of hot-plugging), C(gpus), C(host_devices), C(io_threads_policy)
          and C(io_threads) (the threads of the supplemental pool).
      type: dict
    pod:
      description: Resources and constraints of the pod.
      type: dict
      contains:
        cpu:
          description: CPU request of the whole pod, as a quantity.
          type: str
        memory:
          description: Memory request of the whole pod with the overhead and without huge pages, as a quantity.
          type: str
        memory_bytes:
          description: The same in bytes.
          type: int
        overhead:
          description: The memory overhead, a quantity. The request of the container C(compute) contains it.
          type: str
        overhead_bytes:
          description: The same in bytes.
          type: int
        overcommit_percent:
          description: Percent by which the request for the guest is lower than the guest's memory.
          type: float
        dedicated_cpus:
          description: Number of dedicated CPUs of the guest.
          type: int
        requests:
          description: Requests of the whole pod, as counted by scheduler and quota. Quantities by resource name.
          type: dict
        limits:
          description: The sum of the limits. Quantities by resource name.
          type: dict
        qos_class:
          description: The QoS class.
          type: str
          sample: Burstable
        devices:
          description: Number of devices by resource name, including the devices of KubeVirt itself.
          type: dict
          sample: {devices.kubevirt.io/kvm: 1, nvidia.com/A30: 1}
        hugepages:
          description: The huge pages. Quantities by page size.
          type: dict
        claims:
          description: Requests of resource claims (dynamic resource allocation), with C(claim) and C(request).
          type: list
          elements: dict
        resource_claims:
          description: Resource claims of the pod, as in its C(resourceClaims).
          type: list
          elements: dict
        containers:
          description: The containers in the order of the pod, with C(name), C(requests), C(limits) and C(claims).
          type: list
          elements: dict
        init_containers:
          description: The init containers, in the same form. Init containers with C(restartPolicy=Always) keep running.
          type: list
          elements: dict
        node_selector:
          description: The labels that the node must have.
          type: dict
        affinity:
          description: The affinity of the pod.
          type: dict
        tolerations:
          description: The tolerations of the pod.
          type: list
          elements: dict
        topology_spread_constraints:
          description: The topology spread constraints of the pod.
          type: list
          elements: dict
        scheduler:
          description: The scheduler that the VM names.
          type: str
        priority_class:
          description: The priority class that the VM names.
          type: str
        runtime_class:
          description: The cluster's default runtime class.
          type: str
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("resources", "pods")
