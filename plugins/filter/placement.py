# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: placement
short_description: Find nodes with room for VMs
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Computes the virt-launcher pod of each VM, like the filter P(virtshape.instancetypes.resources#filter), and the
    nodes that pass the filters of kube-scheduler for this pod - resources and number of pods, taints, node selectors
    and node affinity, required affinity and anti-affinity between pods, and topology spread.
  - Places the VMs in the order given, each on the node with the most free resources. kube-scheduler may choose other
    nodes, so VMs that only just fit may not fit in another order.
  - Counts the devices of ResourceSlices for claims of dynamic resource allocation. Without CEL, the filter evaluates
    selectors that compare C(device.driver) and attributes of devices for equality; a VM whose devices have other
    selectors, constraints or alternatives may be not evaluated.
  - Ignores volumes and preemption.
  - Works offline.
options:
  _input:
    description: Manifests of VirtualMachines, or one manifest. May be empty.
    type: raw
    required: true
  nodes:
    description: The Nodes of the cluster.
    type: list
    elements: dict
    required: true
  pods:
    description:
      - The Pods of all namespaces. A VM with a virt-launcher pod in this list is running; for such a VM the filter
        computes whether a migration to the VM's next size finds room.
    type: list
    elements: dict
    default: []
  namespaces:
    description: The Namespaces. Their labels affect automatic limits and affinity.
    type: list
    elements: dict
    default: []
  quotas:
    description: The ResourceQuotas. A quota with C(limits.cpu) or C(limits.memory) makes KubeVirt set limits.
    type: list
    elements: dict
    default: []
  networks:
    description: The NetworkAttachmentDefinitions that the VMs use, for their devices.
    type: list
    elements: dict
  device_classes:
    description:
      - The DeviceClasses. Without O(device_classes), O(resource_slices), O(resource_claims) and
        O(resource_claim_templates), VMs with claims are not evaluated.
    type: list
    elements: dict
  resource_slices:
    description: The ResourceSlices.
    type: list
    elements: dict
  resource_claims:
    description: The ResourceClaims of all namespaces. Their devices are in use.
    type: list
    elements: dict
  resource_claim_templates:
    description: The ResourceClaimTemplates that the VMs name.
    type: list
    elements: dict
  running:
    description:
      - What to assume for running VMs - V(migrate) or V(restart), as in M(virtshape.instancetypes.capacity_info).
    type: str
    choices: [migrate, restart]
    default: migrate
  kubevirt:
    description:
      - The cluster's KubeVirt object. The filter uses its configuration and, without O(kubevirt_version), its release.
    type: dict
  kubevirt_version:
    description:
      - The release of KubeVirt, such as V(1.6) or V(v1.5.2). Default is the newest release that this collection knows.
    type: str
  objects:
    description:
      - Manifests of the instancetypes, preferences and ControllerRevisions that the VMs name.
    type: list
    elements: dict
    default: []
  drain:
    description:
      - Names of nodes to drain. The filter places their guests on other nodes before it places the VMs.
    type: list
    elements: str
    default: []
  instancetypes:
    description:
      - Manifests of instancetypes. The filter computes how many VMs with only this instancetype fit in addition.
    type: list
    elements: dict
    default: []
  accept_unknown_fields:
    description: Whether to accept and ignore fields that this collection does not know.
    type: bool
    default: false
seealso:
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: The resources of a VM's pod.
"""

EXAMPLES = r"""
- name: Does the VM find room, and how many more like it would?
  ansible.builtin.debug:
    msg: "{{ found.virtual_machines | map(attribute='problem', default='it fits') }},
      {{ found.instancetypes[0].additional_vms }}"
  vars:
    found: "{{ [web] | virtshape.instancetypes.placement(nodes=[node], objects=[large], instancetypes=[large]) }}"
    node:
      metadata: {name: node-1, labels: {kubevirt.io/schedulable: "true", kubernetes.io/arch: amd64}}
      status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
    large:
      kind: VirtualMachineClusterInstancetype
      metadata: {name: large}
      spec: {cpu: {guest: 4}, memory: {guest: 8Gi}}
    web:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web, namespace: shop}
      spec:
        instancetype: {name: large}
        template: {spec: {domain: {devices: {}}}}
"""

RETURN = r"""
_value:
  description: The placement of the VMs.
  type: dict
  contains:
    virtual_machines:
      description: One entry for each VM, in the order given.
      type: list
      elements: dict
      contains:
        name: {description: Name of the VM., type: str}
        namespace: {description: Its namespace., type: str}
        evaluated:
          description: Whether it is known if the VM fits. Without a pod, or with devices that the filter cannot
            evaluate, RV(_value.virtual_machines[].problem) says why it is not.
          type: bool
        fits:
          description: Whether the VM finds room in addition to the VMs before it. True for a running VM.
          type: bool
        node_count:
          description: Number of nodes with room. For a running VM, see RV(_value.virtual_machines[].migration).
          type: int
        nodes:
          description: The first twenty of these nodes.
          type: list
          elements: str
        node:
          description: The node of the VM, chosen by the filter or where the VM runs.
          type: str
        problem:
          description: Missing resources if the VM does not fit, or the reason why it has no pod, such as an unknown
            instancetype.
          type: str
          sample: 1 of 4 nodes has nvidia.com/A100; node-3 lacks 2Gi of memory
        migration:
          description: Whether a migration of a running VM finds room, with C(fits), C(node_count), C(nodes) and
            C(problem).
          type: dict
    drained:
      description: One entry for each guest on the drained nodes.
      type: list
      elements: dict
      contains:
        name: {description: Name of the VM., type: str}
        namespace: {description: Its namespace., type: str}
        node: {description: The drained node., type: str}
        fits: {description: Whether the guest finds room on other nodes., type: bool}
        node_count: {description: Number of nodes with room., type: int}
        nodes: {description: The first twenty of these nodes., type: list, elements: str}
        target: {description: The new node., type: str}
        problem: {description: "Missing resources, if the guest does not fit.", type: str}
    instancetypes:
      description: One entry for each instancetype.
      type: list
      elements: dict
      contains:
        name: {description: Name of the instancetype., type: str}
        fits:
          description: Whether a node could run a VM with only this instancetype if nothing else ran there.
          type: bool
        node_count: {description: Number of nodes that could run such a VM., type: int}
        nodes_total: {description: Number of nodes., type: int}
        additional_vms: {description: Number of additional VMs that fit now., type: int}
        problem: {description: "Missing resources, if no node could run such a VM.", type: str}
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("placement", "pods")
