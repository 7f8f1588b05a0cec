#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: placement_info
short_description: Show whether VMs find room on the nodes of the cluster
version_added: 1.0.0
description:
  - Computes the virt-launcher pod of each VM as the cluster's KubeVirt would write it, and the nodes that it fits on
    beside the pods that run, as kube-scheduler's filters do.
  - Judged are resources and the number of pods, taints, node selectors and node affinity, required affinity and
    anti-affinity between pods, and topology spread. Not judged are volumes that are bound to some nodes, claims of
    dynamic resource allocation, host ports, and preemption.
  - VMs that do not run are placed one after the other, each on the node that is left with the most free.
    kube-scheduler may choose other nodes. For a VM that runs, the module says whether a migration finds room, with the
    size that the VM gets at its next start.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description:
      - Namespace of the VMs; all namespaces when it is not given. With O(manifests), the namespace of those that name
        none.
    type: str
  manifests:
    description:
      - Manifests of VMs to judge in place of those of the cluster. They need not exist.
    type: list
    elements: dict
  drain:
    description:
      - Names of nodes to drain. They take no more pods, and their guests are placed on others before the VMs are.
        Nothing is drained.
    type: list
    elements: str
    default: []
  instancetypes:
    description:
      - Names of cluster-wide instancetypes. The module says how many VMs with nothing but the instancetype fit beside
        all the others.
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
    description: The same without a cluster, on given nodes.
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: What the pod of a VM asks for.
"""

EXAMPLES = r"""
- name: Do the VMs of a namespace find room, and those that run on another node?
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
  description: The VMs, those of the cluster in order of namespace and name, O(manifests) in their order.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    judged:
      description: Whether there is a pod to judge. Without a pod, RV(virtual_machines[].problem) says why.
      type: bool
      returned: always
    fits:
      description: Whether the VM finds room beside all those before it. True for one that runs.
      type: bool
      returned: always
    node_count:
      description: On how many nodes it fits.
      type: int
      returned: when it does not run
    nodes:
      description: The first twenty of these nodes.
      type: list
      elements: str
      returned: when it does not run
    node:
      description: The node that it is placed on, or where it runs.
      type: str
      returned: when it fits
    problem:
      description: What is missing, or why it has no pod, such as an unknown instancetype.
      type: str
      returned: when it does not fit
      sample: 1 of 4 nodes has nvidia.com/A100; node-3 lacks 2Gi of memory
    migration:
      description: Whether a migration finds room, with C(fits), C(node_count), C(nodes) and C(problem).
      type: dict
      returned: when it runs
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
      description: Its namespace.
      type: str
      returned: always
    node:
      description: The drained node.
      type: str
      returned: always
    fits:
      description: Whether it finds room elsewhere.
      type: bool
      returned: always
    node_count:
      description: On how many nodes it fits.
      type: int
      returned: always
    nodes:
      description: The first twenty of these nodes.
      type: list
      elements: str
      returned: always
    target:
      description: The node that it is placed on.
      type: str
      returned: when it fits
    problem:
      description: What is missing.
      type: str
      returned: when it does not fit
more:
  description: How many more VMs fit, by the name of the instancetype.
  type: dict
  returned: always
  sample: {u1.small: 112, u1.large: 27}
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.placement_info import (
    run_placement_info,
)


def main() -> None:
    run_placement_info()


if __name__ == "__main__":
    main()
