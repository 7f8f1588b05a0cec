# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: quota
short_description: Check VMs against given quotas and limit ranges
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Computes the virt-launcher pod of each VM, like the filter P(virtshape.instancetypes.resources#filter), and checks
    like the API server whether the given ResourceQuotas and LimitRanges of its namespace admit the pod.
  - Counts the VMs in the order given, as if they started. For a VM that is not in O(virtual_machines), counts also the
    VM itself, its revisions, its data volumes and their claims.
  - Does the same as M(virtshape.instancetypes.capacity_info), which says what it counts, without a cluster. An object
    without a namespace is in that of VMs without a namespace.
  - Works offline.
options:
  _input:
    description: Manifests of VirtualMachines, or one manifest. May be empty.
    type: raw
    required: true
  quotas:
    description:
      - The ResourceQuotas. Their C(status.used) counts as used.
    type: list
    elements: dict
    default: []
  limit_ranges:
    description: The LimitRanges.
    type: list
    elements: dict
    default: []
  application_quotas:
    description: The ApplicationAwareResourceQuotas.
    type: list
    elements: dict
    default: []
  cluster_quotas:
    description: The ApplicationAwareClusterResourceQuotas, or their copies in namespaces.
    type: list
    elements: dict
    default: []
  aaq:
    description: The AAQ object. It says how AAQ counts VMs, and in which namespaces.
    type: dict
  namespaces:
    description: The Namespaces. Their labels affect automatic limits and the quotas of AAQ.
    type: list
    elements: dict
    default: []
  networks:
    description: The NetworkAttachmentDefinitions that the VMs use, for their devices.
    type: list
    elements: dict
  pods:
    description:
      - The Pods of the VMs' namespaces. A VM with a virt-launcher pod in this list is running.
    type: list
    elements: dict
    default: []
  guests:
    description: The VirtualMachineInstances. AAQ counts running VMs by them.
    type: list
    elements: dict
    default: []
  virtual_machines:
    description: The VirtualMachines that exist, so that quotas already count them.
    type: list
    elements: dict
    default: []
  storage_class:
    description: The storage class of data volumes that name none.
    type: str
    default: ''
  running:
    description:
      - What to assume for running VMs - V(keep), V(restart) or V(migrate), as in the module.
    type: str
    choices: [keep, restart, migrate]
    default: keep
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
  accept_unknown_fields:
    description: Whether to accept and ignore fields that this collection does not know.
    type: bool
    default: false
seealso:
  - module: virtshape.instancetypes.capacity_info
    description: The same for the quotas of a cluster.
  - plugin: virtshape.instancetypes.placement
    plugin_type: filter
    description: The nodes with room for the VMs.
"""

EXAMPLES = r"""
- name: Do both VMs fit into the quota of their namespace?
  ansible.builtin.debug:
    msg: "{{ found.virtual_machines | map(attribute='problem', default='it fits') }}"
  vars:
    found: "{{ [web, web] | virtshape.instancetypes.quota(quotas=[team]) }}"
    team:
      metadata: {name: team, namespace: shop}
      spec: {hard: {requests.memory: 12Gi}}
    web:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web, namespace: shop}
      spec:
        template: {spec: {domain: {devices: {}, memory: {guest: 8Gi}}}}
"""

RETURN = r"""
_value:
  description: What quotas and limit ranges say of the VMs.
  type: dict
  contains:
    virtual_machines:
      description: One entry for each VM, in the order given.
      type: list
      elements: dict
      contains:
        name: {description: Name of the VM., type: str}
        namespace: {description: Its namespace., type: str}
        runs: {description: Whether the VM has a pod., type: bool}
        evaluated:
          description: Whether there is a pod to evaluate. Without one, RV(_value.virtual_machines[].problem) says why.
          type: bool
        fits:
          description: Whether quotas have room for the VM in addition to the VMs before it that fit.
          type: bool
        depends_on_order:
          description: Whether the API server admits the pod in some orders of the LimitRanges only.
          type: bool
        problem:
          description: The exceeded quota with the missing amount, the violated LimitRange, or the reason why the VM has
            no pod.
          type: str
          sample: ResourceQuota team lacks 2.25Gi of requests.memory (4.25Gi wanted, 2Gi left)
    quotas:
      description: The quotas of the VMs' namespaces.
      type: list
      elements: dict
      contains:
        kind: {description: Its kind., type: str}
        name: {description: Its name., type: str}
        namespace: {description: "Its namespace, unless it is for several.", type: str}
        fits: {description: Whether it has room for all VMs together., type: bool}
        resources:
          description: By resource name, the quantities V(hard), V(used), V(wanted), V(left) and, if exceeded, V(lacks).
          type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("quota", "pods")
