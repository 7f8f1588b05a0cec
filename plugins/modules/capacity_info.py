#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: capacity_info
short_description: Tell whether VMs will run - whether quotas admit them, and nodes have room
version_added: 1.0.0
description:
  - Computes the virt-launcher pod of each VM for the cluster's KubeVirt. Checks like the API server whether the
    ResourceQuotas and LimitRanges of the namespace admit the pod, and which nodes pass the filters of kube-scheduler
    for it, in addition to the running pods.
  - Checks VMs in order, as if the stopped ones started one after the other.
  - Quotas include ApplicationAwareResourceQuotas and ApplicationAwareClusterResourceQuotas, with the counting method of
    the AAQ object. A pod without room in such a quota is created and waits. The namespaces of a cluster quota share it.
    If the cluster quotas cannot be read, the module reads their copies in the namespaces of the VMs.
  - For a VM that does not exist, quotas also count the VM itself, its revisions, its data volumes and their claims. A
    claim counts with the size of its data volume. Ignores CDI's overhead for file systems, its temporary claims and
    pods, and sizes that a data volume takes from its source.
  - If LimitRanges of a namespace have different defaults for a resource, the API server chooses the order in which it
    applies them at random for each pod. A VM fits if the API server admits its pod in all orders, and counts with the
    largest amounts.
  - On nodes, checks resources and number of pods, taints, node selectors and node affinity, required affinity and
    anti-affinity between pods, topology spread, and volumes that only some nodes reach. Ignores limits of volumes per
    node, local volumes that are not bound yet, and preemption.
  - Does not evaluate a VM with resource claims (dynamic resource allocation) that fits otherwise, since only
    kube-scheduler can choose its devices.
  - Places each VM on the node with the most free resources. kube-scheduler may choose other nodes.
author: virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description: Namespace of the VMs. Default is all namespaces. With O(manifests), the namespace of manifests without
      a namespace.
    type: str
  checks:
    description: What to check - V(quota) for quotas and limit ranges, V(placement) for the nodes. Only what is checked
      is read.
    type: list
    elements: str
    choices: [quota, placement]
    default: [quota, placement]
  manifests:
    description: Manifests of VMs to check instead of the VMs of the cluster. The VMs need not exist.
    type: list
    elements: dict
  refreshed:
    description: Judges the VMs as after a refresh. They take the current state of their instancetype, preference or
      both, instead of the revision that they captured or name.
    type: str
    choices: [both, instancetype, preference]
  running:
    description:
      - What to assume for running VMs. With V(keep) they keep running; quotas and nodes already count them.
        RV(virtual_machines[].placement) says whether a migration would find room.
      - With V(migrate), a pod of the VM's next size runs in addition to the present pod, as a live update or a drain
        needs it. Each VM is checked separately, because guests do not have to migrate at the same time. AAQ counts only
        the growth of the guest.
      - With V(restart), such a pod replaces the present pod. All pods are removed before the first VM is placed.
    type: str
    choices: [keep, restart, migrate]
    default: keep
  drain:
    description: Names of nodes to drain in the computation, for the check V(placement). The module places their guests
      on other nodes before it places the VMs. It drains no node.
    type: list
    elements: str
    default: []
  instancetypes:
    description: Names of cluster-wide instancetypes, or V(*) for all. The module computes which nodes could run a VM
      with only this instancetype, and how many such VMs fit in addition, for the check V(placement).
    type: list
    elements: str
    default: []
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.attributes
seealso:
  - plugin: virtshape.instancetypes.quota
    plugin_type: filter
    description: The first check without a cluster, for given quotas.
  - plugin: virtshape.instancetypes.placement
    plugin_type: filter
    description: The second check without a cluster, for given nodes.
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: The resources of a VM's pod.
"""

EXAMPLES = r"""
- name: Will the VMs of a namespace run, and could the running ones move to another node?
  virtshape.instancetypes.capacity_info:
    namespace: shop
  register: found

- name: What is exceeded or missing
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.problem }}"
  loop: "{{ found.virtual_machines | rejectattr('fits') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Would the quotas let in a VM, and what would be left?
  virtshape.instancetypes.capacity_info:
    namespace: shop
    checks: [quota]
    manifests:
      - apiVersion: kubevirt.io/v1
        kind: VirtualMachine
        metadata: {name: web}
        spec:
          template: {spec: {domain: {devices: {}, memory: {guest: 2Gi}}}}
"""

RETURN = r"""
fits:
  description: Whether all VMs and all guests of drained nodes fit.
  type: bool
  returned: always
virtual_machines:
  description: The VMs of the cluster in order of namespace and name, or O(manifests) in their order.
  type: list
  elements: dict
  returned: always
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the VM., type: str, returned: always}
    evaluated:
      description: Whether it is known if the VM fits. Without a pod, or with resource claims,
        RV(virtual_machines[].problem) says why it is not.
      type: bool
      returned: always
    fits:
      description: Whether all checks permit the VM in addition to the VMs before it.
      type: bool
      returned: always
    problem:
      description: The exceeded quota with the missing amount, the violated LimitRange, what nodes lack, or the reason
        why the VM has no pod, such as an unknown instancetype. Empty if the VM fits.
      type: str
      returned: always
      sample: ResourceQuota team lacks 2.25Gi of requests.memory (4.25Gi wanted, 2Gi left); node-3 lacks 2Gi of memory
    quota:
      description: The answer of quotas and limit ranges, with C(evaluated), C(fits) and, if it does not fit,
        C(problem).
      type: dict
      returned: with the check V(quota)
      contains:
        has_pod: {description: Whether the VM has a pod., type: bool, returned: always}
        depends_on_order:
          description: Whether the API server admits the pod in some orders of the LimitRanges only. It chooses the
            order at random for each pod, so that another attempt of KubeVirt may succeed.
          type: bool
          returned: when it is so
    placement:
      description: The answer of the nodes, with C(evaluated), C(fits) and, if it does not fit, C(problem). A VM that
        keeps running fits.
      type: dict
      returned: with the check V(placement)
      contains:
        node_count: {description: Number of nodes with room., type: int, returned: unless it keeps running}
        nodes:
          description: The first twenty of these nodes.
          type: list
          elements: str
          returned: unless it keeps running
        node:
          description: The node of the VM, chosen by the module or where the VM runs.
          type: str
          returned: when it fits
        migration:
          description: Whether a migration finds room, with C(fits), C(node_count), C(nodes) and C(problem).
          type: dict
          returned: when it keeps running
quotas:
  description: The quotas of the VMs' namespaces.
  type: list
  elements: dict
  returned: always
  contains:
    kind:
      description: ResourceQuota, ApplicationAwareResourceQuota or ApplicationAwareClusterResourceQuota.
      type: str
      returned: always
    name: {description: Name of the quota., type: str, returned: always}
    namespace: {description: Namespace of the quota., type: str, returned: when it is for one namespace}
    fits: {description: Whether the quota has room for all VMs together., type: bool, returned: always}
    resources:
      description: By resource name, the quantities V(hard) (the limit), V(used), V(wanted) (the sum of all VMs, also of
        VMs that do not fit), V(left) and, if exceeded, V(lacks). With O(running=migrate), the sums do not include
        migrations.
      type: dict
      returned: always
      sample: {requests.memory: {hard: 8Gi, used: 6Gi, wanted: 4352Mi, left: "0", lacks: 2304Mi}}
drained:
  description: The guests on the drained nodes.
  type: list
  elements: dict
  returned: always
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the VM., type: str, returned: always}
    node: {description: The drained node., type: str, returned: always}
    fits: {description: Whether the guest finds room on other nodes., type: bool, returned: always}
    node_count: {description: Number of nodes with room., type: int, returned: always}
    nodes: {description: The first twenty of these nodes., type: list, elements: str, returned: always}
    target: {description: The new node., type: str, returned: when it fits}
    problem: {description: "Missing resources, if the guest does not fit.", type: str, returned: when it does not fit}
instancetypes:
  description: The instancetypes that the option names, in its order; with V(*), in order of their names.
  type: list
  elements: dict
  returned: always
  contains:
    name: {description: Name of the instancetype., type: str, returned: always}
    fits:
      description: Whether a node could run a VM with only this instancetype if nothing else ran there.
      type: bool
      returned: always
    node_count: {description: Number of nodes that could run such a VM., type: int, returned: always}
    cluster_node_count: {description: Number of nodes of the cluster., type: int, returned: always}
    additional_vms: {description: Number of additional VMs that fit now., type: int, returned: always}
    problem:
      description: Missing resources, if no node could run such a VM.
      type: str
      returned: when it does not fit
      sample: 0 of 4 nodes have nvidia.com/A100
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._capacity.cluster.capacity_info import MODULE
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
