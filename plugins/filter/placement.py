# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: placement
short_description: Whether VMs find room on nodes
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Computes the virt-launcher pod of each VM, as the filter P(virtshape.instancetypes.resources#filter) does, and the
    nodes that it fits on, as the filters of kube-scheduler do. These are resources and the number of pods, taints,
    node selectors and node affinity, required affinity and anti-affinity between pods, and topology spread.
  - The VMs are placed one after the other, each on the node that is left with the most free. kube-scheduler may choose
    other nodes, so that VMs which only just fit may not in another order.
  - Not judged are volumes that are bound to some nodes, claims of dynamic resource allocation, host ports, and
    preemption. A VM with claims is judged by all else.
  - Nothing is asked of a cluster.
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
      - The Pods of all namespaces, which take up room. A VM that has a virt-launcher pod among them runs; for it the
        filter says whether a migration finds room, with the size that the VM is to have.
    type: list
    elements: dict
    default: []
  namespaces:
    description: The Namespaces, whose labels matter for automatic limits and for affinity.
    type: list
    elements: dict
    default: []
  quotas:
    description: ResourceQuotas. One with C(limits.cpu) or C(limits.memory) makes KubeVirt set limits.
    type: list
    elements: dict
    default: []
  networks:
    description: The NetworkAttachmentDefinitions that the VMs use, for the devices behind them.
    type: list
    elements: dict
  kubevirt:
    description:
      - The cluster's KubeVirt object. Its release counts unless O(kubevirt_version) names another.
    type: dict
  kubevirt_version:
    description:
      - The release of KubeVirt, such as V(1.6) or V(v1.5.2). The newest one that is known is the default.
    type: str
  objects:
    description:
      - Manifests among which the instancetypes, preferences and ControllerRevisions that the VMs name are looked up.
    type: list
    elements: dict
    default: []
  drain:
    description:
      - Names of nodes to drain. They take no more pods, and their guests are placed on others before the VMs are.
    type: list
    elements: str
    default: []
  instancetypes:
    description:
      - Manifests of instancetypes. The filter says how many VMs with nothing but the instancetype fit beside all the
        others.
    type: list
    elements: dict
    default: []
  accept_unknown_fields:
    description: Whether VMs may have fields that this collection does not know. They count for nothing.
    type: bool
    default: false
seealso:
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: What the pod of a VM asks for.
"""

EXAMPLES = r"""
- name: Does the VM find room, and how many more like it would?
  ansible.builtin.debug:
    msg: "{{ found.virtual_machines | map(attribute='problem', default='it fits') }}, {{ found.more }}"
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
  description: What becomes of the VMs.
  type: dict
  contains:
    virtual_machines:
      description: One entry for each VM, in the order given.
      type: list
      elements: dict
      contains:
        name: {description: Name of the VM., type: str}
        namespace: {description: Its namespace., type: str}
        fits:
          description: Whether the VM finds room beside all those before it. True for one that runs.
          type: bool
        node_count:
          description: On how many nodes it fits. Of one that runs, see RV(_value.virtual_machines[].migration).
          type: int
        nodes:
          description: The first twenty of these nodes.
          type: list
          elements: str
        node:
          description: The node that it is placed on, or where it runs.
          type: str
        problem:
          description: What is missing if it does not fit, or why it has no pod, such as an unknown instancetype.
          type: str
          sample: 1 of 4 nodes has nvidia.com/A100; node-3 lacks 2Gi of memory
        migration:
          description: Of a VM that runs, whether a migration finds room, with C(fits), C(node_count), C(nodes) and
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
        fits: {description: Whether it finds room elsewhere., type: bool}
        node_count: {description: On how many nodes it fits., type: int}
        nodes: {description: The first twenty of these nodes., type: list, elements: str}
        target: {description: The node that it is placed on., type: str}
        problem: {description: "What is missing, if it finds no room.", type: str}
    more:
      description: How many more VMs fit, by the name of the instancetype.
      type: dict
      sample: {u1.small: 112, u1.large: 27}
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.cluster import (
    version_of,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.placement.question import Cluster
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import (
    answering,
    checked,
    gated,
    manifests,
    netted,
    one_manifest,
    truth,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._pods import placement
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._questions import Unanswerable


def _placement(
    vms: Any,
    nodes: Any = (),
    pods: Any = (),
    namespaces: Any = (),
    quotas: Any = (),
    networks: Any = None,
    kubevirt: Any = None,
    kubevirt_version: Any = None,
    objects: Any = (),
    drain: Any = (),
    instancetypes: Any = (),
    accept_unknown_fields: Any = False,
) -> dict[str, Any]:
    name = "placement"
    if isinstance(drain, (str, Mapping)) or not isinstance(drain, Iterable):
        raise AnsibleFilterError(f"{name}: drain: expected a list of names, found {drain!r}")
    found = checked(name, "kubevirt", kubevirt, one_manifest) if kubevirt is not None else None
    cluster = Cluster(
        manifests(name, "nodes", nodes),
        manifests(name, "pods", pods),
        manifests(name, "namespaces", namespaces),
        manifests(name, "quotas", quotas),
        None if networks is None else manifests(name, "networks", networks),
        list(drain),
        manifests(name, "instancetypes", instancetypes),
    )
    known = manifests(name, "objects", objects)
    accept = truth("accept_unknown_fields", name, accept_unknown_fields)
    release = answering(name, kubevirt_version or version_of(found or {}) or None)
    try:
        given = [gated(vm, accept) for vm in manifests(name, "VirtualMachines", vms)]
        return placement(given, cluster, known, found, release)
    except (FieldError, Unanswerable) as error:
        raise AnsibleFilterError(f"{name}: {' '.join(str(error).split())}") from error


class FilterModule:
    def filters(self) -> dict:
        return netted({"placement": _placement})
