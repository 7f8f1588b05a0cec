#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: controller_revision_info
short_description: Read the captured revisions of VMs and their drift
version_added: 1.0.0
description:
  - A VM keeps copies of its instancetype and preference in ControllerRevisions. When an instancetype or preference
    changes later, the VM drifts from it.
  - Returns for each VM the captured revisions, their differences from the current objects, and the effect of a refresh
    on the guest. Sends one list request each for VMs, VMIs, revisions, instancetypes and preferences.
author:
  - virtshape.instancetypes contributors (@virtshape)
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: Which VMs drifted?
  virtshape.instancetypes.controller_revision_info:
    namespace: shop
  register: revisions

- name: Say so
  ansible.builtin.debug:
    msg: "{{ item.name }}: {{ item.guest_before.memory }} now, {{ item.guest_after.memory }} after a refresh"
  loop: "{{ revisions.virtual_machines | selectattr('drifted') }}"
  loop_control:
    label: "{{ item.name }}"
"""

RETURN = r"""
virtual_machines:
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
      description: Namespace of the object.
      type: str
      returned: always
    drifted:
      description: Whether the captured revisions differ from the current instancetype or preference.
      type: bool
      returned: always
    guest_before:
      description:
        - vCPUs, memory and devices of the guest before the change, as C(vcpus), C(sockets), C(cores), C(threads),
          C(memory), C(gpus) and C(host_devices).
      type: dict
      returned: always
      sample: {vcpus: 1, sockets: 1, cores: 1, threads: 1, memory: 4Gi}
    guest_after:
      description: vCPUs, memory and devices of the guest after a refresh.
      type: dict
      returned: always
    changes:
      description: Every field of the VMI's spec that a refresh changes, with C(field), C(before) and C(after).
      type: list
      elements: dict
      returned: always
    needs:
      description:
        - What the change needs to reach a running guest - V(nothing), V(live_update) or V(restart).
      type: str
      returned: always
    refusal:
      description: Why KubeVirt would reject the VM after a refresh, in KubeVirt's words.
      type: str
      returned: when it would reject it
    restart_required:
      description:
        - Whether the guest needs a restart to match the VM. A guest that already matches the VM needs none, even if
          KubeVirt still asks for a restart. If the user may not list VMIs, whether KubeVirt asks for one.
      type: bool
      returned: always
    restart_reason:
      description: Why the guest needs a restart, in KubeVirt's words.
      type: str
      returned: when there is a reason
      sample: a non-live-updatable field was changed in the template spec
    guest_current:
      description:
        - Whether the running guest matches the VM, so that a restart would change nothing. The module compares the VM
          with the VMI that the guest was started with, because KubeVirt may keep the condition RestartRequired.
      type: bool
      returned: when the VM runs and VMIs may be read
    outstanding:
      description: The fields of the VMI's spec that the next start of the guest changes.
      type: list
      elements: str
      returned: when the VM runs and VMIs may be read
      sample: [domain.cpu.maxSockets, domain.devices.disks.root.disk.bus]
    status:
      description: Printable status of the VM.
      type: str
      returned: always
      sample: Running
    instancetype:
      description:
        - The revision of the instancetype, with C(state) (V(current), V(drifted), V(gone), V(revision_lost),
          V(not_captured) or V(unknown)), C(kind), C(name), C(revision), C(pinned), C(generation),
          C(current_generation), C(recreated), C(changes) of its spec, C(captured_at), C(changed_at), the time of the
          last change of the object, and C(problem), why the state is V(unknown), otherwise empty.
      type: dict
      returned: when the VM has one
    preference:
      description: The revision of the preference, with the same keys as for the instancetype.
      type: dict
      returned: when the VM has one
unreferenced:
  description:
    - Revisions that no VM refers to, in namespaces with VMs, with C(namespace), C(name), C(virtual_machine), the name
      of their VM or empty, and C(captured_at). Only for namespaces of which the task selects all VMs.
  returned: always
  type: list
  elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.controller_revision_info import (
    run_info,
)


def main() -> None:
    run_info()


if __name__ == "__main__":
    main()
