#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_adopt
short_description: Give VMs that have CPU, memory and devices of their own an instancetype and a preference
version_added: 1.0.0
description:
  - Finds for a VM without instancetype the instancetype and the preference with which its VMI comes out as it does
    without them, and rewrites its manifest, without the fields that these then give it. All other fields stay.
  - The proof is that both are expanded, with all defaults, to the same VMI. The annotations that name the instancetype
    and the preference are all that is new.
  - In check mode the module reports what each VM can be adopted with, and a VM for which nothing fits does not fail.
    In a run such a VM fails.
  - The module leaves a VM alone that has an instancetype. The guest of a running VM goes on as it is.
  - Where nothing fits, what comes nearest is told with every field in which the VMI would differ.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description:
      - Namespace of the VMs; all namespaces when it is not given.
    type: str
  names:
    description:
      - Names of the VMs, for which O(namespace) is needed. All of them when it is not given.
    type: list
    elements: str
    aliases: [name]
  label_selectors:
    description:
      - Label selectors that the VMs must match, all of them.
    type: list
    elements: str
    default: []
  instancetypes:
    description:
      - Names of the instancetypes to choose from, shell patterns such as V(u1.*). All of them when it is not given,
        cluster-wide ones and those of the VM's namespace.
    type: list
    elements: str
  preferences:
    description:
      - Names of the preferences to choose from, likewise; V([]) for none. A VM that has a preference keeps it.
      - Of those that fit the one is taken that gives the VM most of what its manifest has, and none if none gives it
        anything.
    type: list
    elements: str
  accept:
    description:
      - Fields of the VMI that may come out otherwise, with all that is in them, such as V(annotations) or
        V(domain.devices.rng). They are told in RV(results[].proof).
      - A VM that says how many cores it has, but not how many sockets, cannot have CPUs plugged in. With an
        instancetype it can, as V(domain.cpu.sockets) is always set, which one has to accept.
      - vCPUs and memory of the guest are the same in any case.
    type: list
    elements: str
    default: []
  concurrency:
    description:
      - Number of requests that may be under way at the same time, 1 to 256.
    type: int
    default: 16
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.on_failure
  - virtshape.instancetypes.dry_run
  - virtshape.instancetypes.attributes
notes:
  - A VM whose spec somebody changes at the same time is not written, and fails.
  - Fields that are taken out belong to nobody any more. A playbook or manifest that still declares them conflicts with
    the instancetype, and is refused; put RV(results[].manifest), or what differs in it, in its place.
  - On a cluster whose reference policy is C(expand) or C(expandAll) KubeVirt puts the fields back, and takes the
    instancetype out.
seealso:
  - module: virtshape.instancetypes.virtual_machine
  - module: virtshape.instancetypes.expand_info
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
results:
  description: The VMs in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Its namespace.
      type: str
      returned: always
    changed:
      description: Whether it was adopted, or would be.
      type: bool
      returned: always
    failed:
      description: Whether it could not be adopted although it was to be.
      type: bool
      returned: always
    fits:
      description: Whether it has an instancetype, or there is one for it.
      type: bool
      returned: always
    msg:
      description: Why it cannot be adopted, or was not.
      type: str
      returned: when it cannot, or was not
    instancetype:
      description: The instancetype that it has or can have.
      type: dict
      returned: when there is one
      sample: {kind: VirtualMachineClusterInstancetype, name: u1.medium}
    preference:
      description: The preference, likewise.
      type: dict
      returned: when there is one
      sample: {kind: VirtualMachineClusterPreference, name: fedora}
    proof:
      description:
        - All differences between the VMI as it comes out of the VM as it is and of the rewritten one, with C(field),
          C(before) and C(after).
        - Empty unless O(accept) allows some.
      type: list
      elements: dict
      returned: when it can be adopted
    removed:
      description: Fields of the VM's template that the instancetype or the preference gives from then on.
      type: list
      elements: str
      returned: when it can be adopted
      sample: [domain.cpu.sockets, domain.memory.guest, "domain.devices.disks[0].disk.bus"]
    manifest:
      description: The rewritten manifest, without status and without what is secret in it, such as cloud-init data.
      type: dict
      returned: when it can be adopted
    needs:
      description:
        - What it takes for a running guest to have the rewritten VM - V(nothing), V(live_update), V(restart) or
          V(unknown).
        - KubeVirt compares how VMs are written, so that it may ask for a restart which changes nothing.
      type: str
      returned: when it can be adopted
    restart_reason:
      description: Why KubeVirt asks for a restart, in its words.
      type: str
      returned: when it does
    nearest:
      description: The pairs that come nearest, the nearest one first.
      type: list
      elements: dict
      returned: when nothing fits
      contains:
        instancetype:
          description: The instancetype.
          type: dict
          returned: always
        preference:
          description: The preference.
          type: dict
          returned: when there is one
        differences:
          description: Every field in which the VMI would differ, with C(field), C(before) and C(after).
          type: list
          elements: dict
          returned: always
        refusal:
          description: Why KubeVirt would not take it, in its words.
          type: str
          returned: when it would not
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.virtual_machine_adopt import (
    run_adopt,
)


def main() -> None:
    run_adopt()


if __name__ == "__main__":
    main()
