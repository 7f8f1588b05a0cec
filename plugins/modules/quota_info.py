#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: quota_info
short_description: Show whether quotas and limit ranges let VMs run
version_added: 1.0.0
description:
  - Computes the virt-launcher pod of each VM as the cluster's KubeVirt would write it, and whether the API server would
    take it, by the ResourceQuotas and LimitRanges of the namespace, as their admission does.
  - ApplicationAwareResourceQuotas count, too, by the way of counting that the AAQ object names. A pod that one of them
    has no room for is created and waits.
  - VMs that do not run are counted as if they started, one after the other. For a VM that does not exist, the VM
    itself, its revisions, its data volumes and their claims count, too.
  - A claim is counted with the size of its data volume. What CDI adds for a file system, its temporary claims and pods
    and sizes that a data volume leaves to its source are not known. ApplicationAwareClusterResourceQuotas are not
    judged.
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
  running:
    description:
      - What becomes of VMs that run. With V(keep), nothing; what they use is counted already.
      - With V(restart), a new pod takes the place of the present one, with the size that the VM gets at its next start.
      - With V(migrate), such a pod runs beside the present one, as a live update or a drain needs it. Each VM is judged
        by itself, since guests need not migrate at once. AAQ counts only what the guest grows by.
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
  - plugin: virtshape.instancetypes.resources
    plugin_type: filter
    description: What the pod of a VM asks for.
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
  description: Whether quotas and limit ranges let all VMs run.
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
    runs:
      description: Whether the VM has a pod.
      type: bool
      returned: always
    judged:
      description: Whether there is a pod to judge. Without a pod, RV(virtual_machines[].problem) says why.
      type: bool
      returned: always
    fits:
      description: Whether quotas have room for it beside all those before it that fit.
      type: bool
      returned: always
    problem:
      description: What is exceeded by how much, what a LimitRange refuses, or why the VM has no pod.
      type: str
      returned: when it does not fit
      sample: ResourceQuota team lacks 2.25Gi of requests.memory (4.25Gi wanted, 2Gi left)
quotas:
  description: The quotas of the VMs' namespaces.
  type: list
  elements: dict
  returned: always
  contains:
    kind:
      description: ResourceQuota or ApplicationAwareResourceQuota.
      type: str
      returned: always
    name:
      description: Name of the quota.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    fits:
      description: Whether it has room for all VMs together.
      type: bool
      returned: always
    resources:
      description:
        - By the name of a resource, the quantities V(hard) (what there may be), V(used) (what there is), V(wanted)
          (what the VMs take together, those that do not fit included) and V(left), and V(lacks) where they exceed it.
          With O(running=migrate), migrations are not part of the sums.
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
