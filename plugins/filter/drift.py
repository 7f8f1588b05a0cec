# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: drift
short_description: Compare captured revisions with the current objects
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - A VM keeps copies of its instancetype and preference in ControllerRevisions. The filter compares these copies with
    the current objects, field by field, and returns the effect of a refresh on the VM.
  - Instead of a VM, the input may be a ControllerRevision, an instancetype or a preference. The filter compares it with
    the object of the same kind, namespace and name in O(current).
  - Works offline, on one object or on a list.
positional: current
options:
  _input:
    description:
      - Manifest of a VirtualMachine, ControllerRevision, instancetype or preference, or a list of manifests.
    type: raw
    required: true
  current:
    description:
      - Manifests of the current instancetypes and preferences and, for VMs, of their ControllerRevisions; or a single
        manifest.
    type: list
    elements: dict
    required: true
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
seealso:
  - module: virtshape.instancetypes.virtual_machine_info
    description: The same for the VMs of a cluster.
"""

EXAMPLES = r"""
- name: What has changed in the instancetype since this backup?
  ansible.builtin.debug:
    msg: "{{ (backup | virtshape.instancetypes.drift(current)).changes }}"
  vars:
    backup:
      apiVersion: instancetype.kubevirt.io/v1beta1
      kind: VirtualMachineClusterInstancetype
      metadata: {name: web}
      spec: {cpu: {guest: 2}, memory: {guest: 4Gi}}
    current:
      apiVersion: instancetype.kubevirt.io/v1beta1
      kind: VirtualMachineClusterInstancetype
      metadata: {name: web}
      spec: {cpu: {guest: 4}, memory: {guest: 4096Mi}}
"""

RETURN = r"""
_value:
  description: The drift of the object, or a list if the input is a list.
  type: raw
  contains:
    drifted:
      description:
        - Whether the captured object differs from the current object. Other spellings of a quantity do not count.
      type: bool
    changes:
      description:
        - The fields that differ, with C(field), C(before) and C(after). For a VM, the fields of the VMI's spec that a
          refresh would change; otherwise fields of the object's spec.
      type: list
      elements: dict
    guest_before:
      description: vCPUs, memory and devices of the guest before the refresh.
      type: dict
      returned: for a VM
    guest_after:
      description: vCPUs, memory and devices of the guest after the refresh.
      type: dict
      returned: for a VM
    needs:
      description:
        - What the change needs to reach a running guest - V(nothing), V(live_update) or V(restart).
      type: str
      returned: for a VM
    refusal:
      description: KubeVirt's message if it would reject the VM after a refresh.
      type: str
      returned: for a VM that KubeVirt would reject
    instancetype:
      description:
        - The revision of the instancetype, with C(state), C(kind), C(name), C(revision), C(pinned), C(generation),
          C(current_generation), C(recreated), C(changes) of its spec, C(captured_at), C(changed_at), the time of the
          last change of the object, C(problem), why the state is V(unknown), otherwise empty, and C(object_state),
          C(replacement) and C(obsolete_from) of the object itself.
      type: dict
      returned: for a VM with a matcher
    preference:
      description: The revision of the preference, likewise.
      type: dict
      returned: for a VM with a matcher
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("drift", "vm")
