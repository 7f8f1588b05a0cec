#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: quota_info
short_description: Check VMs against quotas and limit ranges
version_added: 1.0.0
description:
  - Computes the virt-launcher pod of each VM for the cluster's KubeVirt, and checks like the API server whether the
    ResourceQuotas and LimitRanges of the namespace admit the pod.
  - Includes ApplicationAwareResourceQuotas and ApplicationAwareClusterResourceQuotas, with the counting method of the
    AAQ object. A pod without room in such a quota is created and waits. The namespaces of a cluster quota share it. If
    the cluster quotas cannot be read, the module reads their copies in the namespaces of the VMs.
  - Counts stopped VMs as if they started in order. For a VM that does not exist, counts also the VM itself, its
    revisions, its data volumes and their claims.
  - If LimitRanges of a namespace have different defaults for a resource, the API server chooses the order in which it
    applies them at random for each pod. A VM fits if the API server admits its pod in all orders, and counts with the
    largest amounts.
  - Counts a claim with the size of its data volume. Ignores CDI's overhead for file systems, its temporary claims and
    pods, and sizes that a data volume takes from its source.
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
      - What to assume for running VMs. With V(keep) they keep running; the quotas already count them.
      - With V(restart), a pod of the VM's next size replaces the present pod.
      - With V(migrate), such a pod runs in addition to the present pod, as a live update or a drain needs it. Each VM
        is checked separately, because guests need not migrate at once. AAQ counts only the growth of the guest.
    type: str
    choices: [keep, restart, migrate]
    default: keep
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
seealso:
  - module: virtshape.instancetypes.placement_info
  - plugin: virtshape.instancetypes.quota
    plugin_type: filter
    description: The same without a cluster, for given quotas.
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: The resources of a VM's pod.
"""

EXAMPLES = r"""
- name: Do the quotas of a namespace let all its VMs run, and restart?
  virtshape.instancetypes.quota_info:
    namespace: shop
    running: restart
  register: found

- name: What is exceeded
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.problem }}"
  loop: "{{ found.virtual_machines | rejectattr('fits') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Would a VM be let in, and what would be left?
  virtshape.instancetypes.quota_info:
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
  description: Whether quotas and limit ranges admit all VMs.
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
    runs:
      description: Whether the VM has a pod.
      type: bool
      returned: always
    judged:
      description: Whether there is a pod to judge. Without a pod, RV(virtual_machines[].problem) says why.
      type: bool
      returned: always
    fits:
      description: Whether quotas have room for the VM in addition to the VMs before it that fit.
      type: bool
      returned: always
    depends_on_order:
      description: Whether the API server admits the pod in some orders of the LimitRanges only. It chooses the order at
        random for each pod, so that another attempt of KubeVirt may succeed.
      type: bool
      returned: when it is so
    problem:
      description: The exceeded quota with the missing amount, the violated LimitRange, or the reason why the VM has no
        pod.
      type: str
      returned: when the VM does not fit
      sample: ResourceQuota team lacks 2.25Gi of requests.memory (4.25Gi wanted, 2Gi left)
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
    name:
      description: Name of the quota.
      type: str
      returned: always
    namespace:
      description: Namespace of the quota.
      type: str
      returned: when it is for one namespace
    fits:
      description: Whether the quota has room for all VMs together.
      type: bool
      returned: always
    resources:
      description:
        - By resource name, the quantities V(hard) (the limit), V(used), V(wanted) (the sum of all VMs, also of VMs that
          do not fit), V(left) and, if exceeded, V(lacks). With O(running=migrate), the sums do not include migrations.
      type: dict
      returned: always
      sample: {requests.memory: {hard: 8Gi, used: 6Gi, wanted: 4352Mi, left: "0", lacks: 2304Mi}}
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.quota_info import (
    run_quota_info,
)


def main() -> None:
    run_quota_info()


if __name__ == "__main__":
    main()
