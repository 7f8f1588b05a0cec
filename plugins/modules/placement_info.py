#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: placement_info
short_description: Find nodes of the cluster with room for VMs
version_added: 1.0.0
description:
  - Computes the virt-launcher pod of each VM for the cluster's KubeVirt, and the nodes that pass the filters of
    kube-scheduler for this pod, in addition to the running pods.
  - Checks resources and number of pods, taints, node selectors and node affinity, required affinity and anti-affinity
    between pods, topology spread, and volumes that only some nodes reach. Ignores limits of volumes per node, local
    volumes that are not bound yet, and preemption.
  - Counts the devices of ResourceSlices for claims of dynamic resource allocation. Without CEL, the module evaluates
    selectors that compare C(device.driver) and attributes of devices for equality; a VM whose devices have other
    selectors, constraints or alternatives may be not judged.
  - Places stopped VMs in order, each on the node with the most free resources. kube-scheduler may choose other nodes.
    For a running VM, computes whether a migration to the VM's next size finds room, or with O(running=restart) a
    restart.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description:
      - Namespace of the VMs. Default is all namespaces. With O(manifests), the namespace of manifests without a
        namespace.
    type: str
  manifests:
    description:
      - Manifests of VMs to check instead of the VMs of the cluster. The VMs need not exist.
    type: list
    elements: dict
  refreshed:
    description:
      - Judges the VMs as after a refresh. They take the current state of their instancetype, preference or both,
        instead of the revision that they captured or name.
    type: str
    choices: [both, instancetype, preference]
  running:
    description:
      - What to assume for running VMs. With V(migrate), a pod of the VM's next size runs in addition to the present
        pod, as a live update or a drain needs it. Each VM is checked separately.
      - With V(restart), such a pod replaces the present pod. All pods are removed before the first VM is placed.
    type: str
    choices: [migrate, restart]
    default: migrate
  drain:
    description:
      - Names of nodes to drain in the computation. The module places their guests on other nodes before it places the
        VMs. It drains no node.
    type: list
    elements: str
    default: []
  instancetypes:
    description:
      - Names of cluster-wide instancetypes, or V(*) for all. The module computes which nodes could run a VM with only
        this instancetype, and how many such VMs fit in addition.
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
seealso:
  - plugin: virtshape.instancetypes.placement
    plugin_type: filter
    description: The same without a cluster, for given nodes.
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: The resources of a VM's pod.
"""

EXAMPLES = r"""
- name: Do the VMs of a namespace find room, and could the running ones move to another node?
  virtshape.instancetypes.placement_info:
    namespace: shop
  register: found

- name: What is missing
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.problem }}"
  loop: "{{ found.virtual_machines | rejectattr('fits') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Would a VM find room?
  virtshape.instancetypes.placement_info:
    namespace: shop
    manifests:
      - apiVersion: kubevirt.io/v1
        kind: VirtualMachine
        metadata: {name: web}
        spec:
          template: {spec: {domain: {devices: {}, memory: {guest: 2Gi}}}}
"""

RETURN = r"""
fits:
  description: Whether all VMs and all guests of drained nodes find room.
  type: bool
  returned: always
virtual_machines:
  description: The VMs of the cluster in order of namespace and name, or O(manifests) in their order.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Namespace of the VM.
      type: str
      returned: always
    judged:
      description: Whether it is known if the VM fits. Without a pod, or with devices that the module cannot judge,
        RV(virtual_machines[].problem) says why it is not.
      type: bool
      returned: always
    fits:
      description: Whether the VM finds room in addition to the VMs before it. True for a VM that keeps running.
      type: bool
      returned: always
    node_count:
      description: Number of nodes with room.
      type: int
      returned: unless it keeps running
    nodes:
      description: The first twenty of these nodes.
      type: list
      elements: str
      returned: unless it keeps running
    node:
      description: The node of the VM, chosen by the module or where the VM runs.
      type: str
      returned: when it fits
    problem:
      description: Missing resources, or the reason why the VM has no pod, such as an unknown instancetype.
      type: str
      returned: when it does not fit
      sample: 1 of 4 nodes has nvidia.com/A100; node-3 lacks 2Gi of memory
    migration:
      description: Whether a migration finds room, with C(fits), C(node_count), C(nodes) and C(problem).
      type: dict
      returned: when it keeps running
drained:
  description: The guests on the drained nodes.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Namespace of the VM.
      type: str
      returned: always
    node:
      description: The drained node.
      type: str
      returned: always
    fits:
      description: Whether the guest finds room on other nodes.
      type: bool
      returned: always
    node_count:
      description: Number of nodes with room.
      type: int
      returned: always
    nodes:
      description: The first twenty of these nodes.
      type: list
      elements: str
      returned: always
    target:
      description: The new node.
      type: str
      returned: when it fits
    problem:
      description: Missing resources, if the guest does not fit.
      type: str
      returned: when it does not fit
instancetypes:
  description: The instancetypes that the option names, in its order; with V(*), in order of their names.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the instancetype.
      type: str
      returned: always
    fits:
      description: Whether a node could run a VM with only this instancetype if nothing else ran there.
      type: bool
      returned: always
    node_count:
      description: Number of nodes that could run such a VM.
      type: int
      returned: always
    nodes_in_all:
      description: Number of nodes of the cluster.
      type: int
      returned: always
    more:
      description: Number of additional VMs that fit now.
      type: int
      returned: always
    problem:
      description: Missing resources, if no node could run such a VM.
      type: str
      returned: when it does not fit
      sample: 0 of 4 nodes have nvidia.com/A100
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.placement_info import (
    run_placement_info,
)


def main() -> None:
    run_placement_info()


if __name__ == "__main__":
    main()
