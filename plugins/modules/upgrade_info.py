#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: upgrade_info
short_description: Rehearse an upgrade of KubeVirt or of a catalog
version_added: 1.0.0
description:
  - Computes what the VMs, instancetypes and preferences of a cluster become under another release of KubeVirt, another
    catalog, or both, and what to do before and after the upgrade. Changes nothing.
  - For each VM, compares the VMI and the pod of the next start before and after the upgrade, with all defaults, and
    reports what the new KubeVirt does to the running guest.
  - Does the same for the VMs that VirtualMachineTemplates make, and reports whether quotas and LimitRanges admit the
    new pods.
author: virtshape.instancetypes contributors (@virtshape)
options:
  kubevirt_version:
    description: Release of KubeVirt after the upgrade, such as V(1.9.0). Default is that of the cluster, and it cannot
      be older. V(v1.10) means its sources of 22 August 2026.
    type: str
  kubevirt_configuration:
    description: C(spec.configuration) of the KubeVirt object after the upgrade. Default is the current configuration.
    type: dict
  catalog:
    description: Manifests of the instancetypes and preferences of the new catalog, for example from the filter
      P(virtshape.instancetypes.catalog_objects#filter). Other objects of the cluster stay, except for objects with the
      label of the same catalog.
    type: list
    elements: dict
    default: []
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.attributes
notes:
  - VMs keep their captured revisions, so a new catalog alone changes no VM. RV(virtual_machines[].refresh) shows the
    guest after a refresh.
  - RV(templates) is for VMs with the default values of the parameters. A parameter without one counts as the text
    C(parameter-NAME).
  - For RV(quotas) and RV(virtual_machines[].quota_after), each running VM restarts, one after the other, then each
    halted VM starts. For migrations, see M(virtshape.instancetypes.capacity_info).
  - Does not cover nodes. Check VMs with another RV(virtual_machines[].pod_after) by
    M(virtshape.instancetypes.capacity_info).
seealso:
  - module: virtshape.instancetypes.catalog
  - module: virtshape.instancetypes.controller_revision
  - module: virtshape.instancetypes.virtual_machine_info
"""

EXAMPLES = r"""
- name: What changes with KubeVirt 1.9?
  virtshape.instancetypes.upgrade_info:
    kubevirt_version: 1.9.0
  register: upgrade

- name: What to do, in order
  ansible.builtin.debug:
    msg: "{{ item.when }}: {{ item.text }} {{ item.virtual_machines }}"
  loop: "{{ upgrade.steps }}"
  loop_control:
    label: "{{ item.when }}"

- name: Which guests get another size?
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.guest_before.vcpus }} to {{ item.guest_after.vcpus }} vCPUs"
  loop: "{{ upgrade.virtual_machines | selectattr('affected') }}"
  when: item.guest_before != item.guest_after and item.guest_after
  loop_control:
    label: "{{ item.name }}"

- name: What would a catalog of our own change?
  virtshape.instancetypes.upgrade_info:
    namespace: shop
    catalog: "{{ definitions | virtshape.instancetypes.catalog_objects }}"
  vars:
    definitions:
      series:
        web:
          sizes:
            small: {cpu: 1, memory: 2Gi}
"""

RETURN = r"""
kubevirt:
  description: The releases, C(before) and C(after).
  type: dict
  returned: always
  sample: {before: 1.4.1, after: 1.9.0}
settings:
  description: What changes for all VMs, with C(setting), C(before) and C(after). The settings are C(live_updates)
    (whether changes of VMs reach running guests), C(captured_revisions) (where KubeVirt names them, V(spec) or
    V(status)), C(reads_alpha_revisions) (of KubeVirt before 1.0) and C(required_gates) (feature gates that other
    releases do not need).
  type: list
  elements: dict
  returned: always
steps:
  description: What to do, in order.
  type: list
  elements: dict
  returned: always
  contains:
    when: {description: V(before) or V(after) the upgrade., type: str, returned: always}
    text: {description: What to do., type: str, returned: always}
    virtual_machines:
      description: The VMs concerned as NAMESPACE/NAME. Empty for a step that is for the cluster or for templates.
      type: list
      elements: str
      returned: always
    templates: {description: The templates concerned as NAMESPACE/NAME., type: list, elements: str, returned: always}
virtual_machines:
  description: The VMs in order of namespace and name.
  type: list
  elements: dict
  returned: always
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the VM., type: str, returned: always}
    quota_after:
      description: Why quotas or LimitRanges reject the pod of the next start after the upgrade.
      type: str
      returned: when they reject it
      sample: ResourceQuota team lacks 28Mi of requests.memory (1.29Gi wanted, 1.27Gi left)
    quota_before:
      description: Why quotas or LimitRanges reject the pod of the next start already now.
      type: str
      returned: when they reject it
    affected:
      description: Whether the upgrade makes a difference to the VM, its guest or its pod. A refresh does not count.
      type: bool
      returned: always
    changes:
      description: Fields of the VMI's spec at the next start that differ, with C(field), C(before) and C(after). Values
        that may be secret are hidden.
      type: list
      elements: dict
      returned: always
    guest_before:
      description: Guest of the next start before the upgrade, empty if KubeVirt cannot start the VM.
      type: dict
      returned: always
    guest_after:
      description: Guest of the next start after the upgrade, empty if KubeVirt cannot start the VM.
      type: dict
      returned: always
    pod_before:
      description: Requests and limits of the pod before the upgrade, C(requests) and C(limits), by resource.
      type: dict
      returned: always
    pod_after:
      description: Requests and limits of the pod after the upgrade, C(requests) and C(limits), by resource.
      type: dict
      returned: always
    lost:
      description: Fields of the VM that the new release does not know and drops.
      type: list
      elements: str
      returned: always
    needs:
      description:
        - What the upgrade takes for the running guest to match the VM - V(nothing), V(live_update), V(restart), or
          V(unknown) if the new KubeVirt cannot start the VM. What the guest lacks before the upgrade as well does not
          count. Another maximum of sockets or memory, and other requests of the pod, need no restart.
        - V(live_update) means that the new KubeVirt changes the guest immediately, because changes waited for a
          restart.
      type: str
      returned: always
    restart_required:
      description: Whether the new KubeVirt asks for a restart of the guest, and the present one does not.
      type: bool
      returned: always
    restart_reason:
      description: Why the new KubeVirt asks for a restart, in its own words.
      type: str
      returned: when it asks for a restart
    pinned:
      description: Whether the VM is pinned after the upgrade, because KubeVirt up to 1.4 names captured revisions in
        the spec.
      type: bool
      returned: always
    drifted: {description: Whether the VM has drifted after the upgrade., type: bool, returned: always}
    refresh:
      description: What a refresh after the upgrade makes of the VM - C(guest_after), C(needs), and C(refusal) in
        KubeVirt's words, otherwise empty.
      type: dict
      returned: always
    refusal:
      description: Why KubeVirt rejects any change of the VM after the upgrade.
      type: str
      returned: when it rejects the VM
    refusal_before:
      description: Why KubeVirt rejects any change of the VM already now.
      type: str
      returned: when it rejects the VM
    problem:
      description: Why KubeVirt cannot start the VM after the upgrade.
      type: str
      returned: when it cannot start it
    problem_before: {description: Why KubeVirt cannot start the VM now., type: str, returned: when it cannot start it}
quotas:
  description: The quotas to which the upgrade makes a difference, with the sums of the running VMs.
  type: list
  elements: dict
  returned: always
  contains:
    kind: {description: Kind of the quota., type: str, returned: always}
    name: {description: Name of the quota., type: str, returned: always}
    namespace: {description: Namespace of the quota., type: str, returned: unless the quota is for several}
    fits:
      description: Whether the quota has room for the new pods of all running VMs instead of the present ones.
      type: bool
      returned: always
    fits_before:
      description: Whether the quota has room for new pods of all running VMs without the upgrade.
      type: bool
      returned: always
    resources:
      description: By resource name, the quantities C(hard), C(used), C(wanted), C(left) and, if exceeded, C(lacks).
      type: dict
      returned: always
templates:
  description: The VirtualMachineTemplates, with RV(virtual_machines[].changes), RV(virtual_machines[].guest_before),
    RV(virtual_machines[].guest_after), RV(virtual_machines[].pod_before), RV(virtual_machines[].pod_after),
    RV(virtual_machines[].lost), RV(virtual_machines[].problem) and RV(virtual_machines[].problem_before) of the VMs
    that they make.
  type: list
  elements: dict
  returned: always
  contains:
    name: {description: Name of the template., type: str, returned: always}
    namespace: {description: Namespace of the template., type: str, returned: always}
    affected:
      description: Whether the upgrade makes a difference to the VMs of the template.
      type: bool
      returned: always
    refusal:
      description: Why KubeVirt rejects new VMs of the template after the upgrade.
      type: str
      returned: when it rejects them
    refusal_before:
      description: Why KubeVirt rejects new VMs of the template already now.
      type: str
      returned: when it rejects them
objects:
  description: The instancetypes and preferences to which the upgrade makes a difference.
  type: list
  elements: dict
  returned: always
  contains:
    kind: {description: Kind of the object., type: str, returned: always}
    namespace: {description: "Namespace of the object, empty for cluster-wide kinds.", type: str, returned: always}
    name: {description: Name of the object., type: str, returned: always}
    status:
      description: What the new catalog makes of the object - V(unchanged), V(new), V(changed) or V(gone).
      type: str
      returned: always
    changes:
      description: Fields of the spec that the new catalog changes, with C(field), C(before) and C(after).
      type: list
      elements: dict
      returned: always
    lost:
      description: Fields of the spec that the new release does not know and drops.
      type: list
      elements: str
      returned: always
    effects:
      description: What differs in the VMI of a plain VM with this object, because the releases read the object
        differently, with C(field), C(before) and C(after).
      type: list
      elements: dict
      returned: always
    used_by:
      description: The selected VMs that name the object, as NAMESPACE/NAME.
      type: list
      elements: str
      returned: always
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._upgrade.cluster.upgrade_info import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
