#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_adopt
short_description: Give an instancetype and a preference to VMs with explicit CPU and memory
version_added: 1.0.0
description:
  - Finds, for a VM without an instancetype, an instancetype and a preference that result in the same VMI, and rewrites
    the VM to use them. The fields that they provide leave the VM, all other fields stay.
  - As proof, the module expands both versions of the VM with all defaults and compares the VMIs. The only new fields
    are the annotations that name instancetype and preference.
  - In check mode the module reports the instancetype and preference for each VM. A VM without a match fails, but not in
    check mode.
  - The module leaves VMs alone that already have an instancetype. It restarts no guest, and warns once of those that
    need it.
  - If nothing fits, the result lists the matches nearest in size with every field in which the VMI would differ, and
    the message says what to accept; in check mode, a warning does. A match that makes the guest smaller, or adds or
    removes dedicated CPUs, huge pages, devices or other demands on the node, is not listed.
author: virtshape.instancetypes contributors (@virtshape)
options:
  instancetypes:
    description: Names of the instancetypes to choose from, as names or shell patterns such as V(u1.*). The default is
      all cluster-wide instancetypes and those in the namespace of the VM.
    type: list
    elements: str
  preferences:
    description:
      - Names of the preferences to choose from, as names or shell patterns. V([]) means no preference. A VM that has a
        preference keeps it.
      - The module chooses the preference that provides most fields of the VM, or no preference if none provides any
        field.
    type: list
    elements: str
  accept:
    description:
      - Fields of the VMI that may differ, including everything below them, such as V(annotations) or
        V(domain.devices.rng). RV(results[].differences) lists the differences.
      - By default an instancetype gives its vCPUs as sockets. For a VM that only sets cores, accept V(domain.cpu), and
        the guest gets sockets instead. To keep the cores, use a preference with the topology V(cores) and accept
        V(domain.cpu.sockets), which an instancetype always sets. A running guest needs a restart to get sockets instead
        of cores. If it keeps its cores, it needs none, but CPUs can be plugged in only after its next start.
      - vCPUs and memory of the guest never differ.
    type: list
    elements: str
    default: []
  force_conflicts:
    description: Adopt VMs that Argo CD or a tool like it declares too. Its next sync is rejected until its source has
      the instancetype, see RV(results[].manifest).
    type: bool
    default: false
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.attributes
notes:
  - If another client changes a VM at the same time, the module does not write the VM, and the VM fails.
  - The removed fields no longer have an owner. A playbook or manifest that still declares them conflicts with the
    instancetype, and KubeVirt rejects it. Replace it by RV(results[].manifest).
  - On a cluster with the reference policy C(expand) or C(expandAll), KubeVirt restores the fields and removes the
    instancetype.
seealso:
  - module: virtshape.instancetypes.virtual_machine
  - module: virtshape.instancetypes.virtual_machine_info
  - plugin: virtshape.instancetypes.fitting
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Which VMs could have an instancetype, and which one?
  virtshape.instancetypes.virtual_machine_adopt:
    namespace: shop
  check_mode: true
  register: found

- name: What is in the way of the others
  ansible.builtin.debug:
    msg: "{{ item.msg }}"
  loop: "{{ found.results | rejectattr('fits') }}"
  loop_control:
    label: "{{ item.name }}"

- name: Adopt VMs, with a general-purpose instancetype and without looking at annotations
  virtshape.instancetypes.virtual_machine_adopt:
    namespace: shop
    label_selectors: [tier=web]
    instancetypes: ["u1.*"]
    accept: [annotations]

- name: What the playbook of a VM has to say from now on
  ansible.builtin.debug:
    var: (found.results | selectattr('name', 'eq', 'web') | first).manifest
"""

RETURN = r"""
msg:
  description: Number of VMs that were adopted, or would be; on failure the failed VMs with their reasons.
  returned: always
  type: str
  sample: "4 virtual machines: 2 were adopted, 2 already have an instancetype"
cluster:
  description: Address of the API server.
  returned: always
  type: str
  sample: https://api.example.com:6443
results:
  description: The VMs in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the VM., type: str, returned: always}
    namespace: {description: Namespace of the object., type: str, returned: always}
    uid: {description: UID of the VM., type: str, returned: when it exists}
    changed: {description: "Whether the VM was adopted, or would be in check mode.", type: bool, returned: always}
    failed: {description: Whether adopting the VM failed., type: bool, returned: always}
    fits: {description: "Whether the VM has an instancetype, or an instancetype fits.", type: bool, returned: always}
    msg:
      description: Why the VM cannot be adopted, or was not.
      type: str
      returned: when it cannot be adopted, or was not
    instancetype:
      description: The instancetype that the VM has or gets.
      type: dict
      returned: when there is one
      sample: {kind: VirtualMachineClusterInstancetype, name: u1.medium}
    preference:
      description: The preference that the VM has or gets.
      type: dict
      returned: when there is one
      sample: {kind: VirtualMachineClusterPreference, name: fedora}
    differences:
      description:
        - All differences between the VMI of the current VM and the VMI of the rewritten VM, with C(field), C(before)
          and C(after).
        - Empty unless O(accept) allows differences.
      type: list
      elements: dict
      returned: when it can be adopted
    removed:
      description: Fields of the VM's template that the instancetype or the preference now provides.
      type: list
      elements: str
      returned: when it can be adopted
      sample: [domain.cpu.sockets, domain.memory.guest, "domain.devices.disks[0].disk.bus"]
    manifest:
      description:
        - The rewritten manifest, without status, for Git.
        - In the place of a secret such as cloud-init data, or of the login in a URL, it has a text that begins with
          C((hidden). Write the value there; M(virtshape.instancetypes.virtual_machine) and the playbook C(check) refuse
          cloud-init data with that text.
      type: dict
      returned: when it can be adopted
    needs:
      description:
        - What the change needs to reach the running guest - V(nothing), V(live_update), V(restart) or V(unknown). A VM
          without a guest needs V(nothing). A guest that waits for a node counts, because KubeVirt asks for its restart.
        - KubeVirt compares the text of VMs, so it may ask for a restart that changes nothing.
      type: str
      returned: when it can be adopted
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words if it asks for one.
      type: str
      returned: when it needs one
    nearest:
      description: The nearest pairs of instancetype and preference, best first.
      type: list
      elements: dict
      returned: when nothing fits
      contains:
        instancetype: {description: The instancetype., type: dict, returned: always}
        preference: {description: The preference., type: dict, returned: when there is one}
        differences:
          description: Every field in which the VMI would differ, with C(field), C(before) and C(after).
          type: list
          elements: dict
          returned: always
        refusal:
          description: Why KubeVirt would reject the VM, in KubeVirt's words.
          type: str
          returned: when it would reject it
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._adoption.cluster.virtual_machine_adopt import (
    MODULE,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
