# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: conflicts
short_description: Find fields of a VM that conflict with its instancetype
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - KubeVirt rejects a VM that sets a field that its instancetype controls, such as vCPUs, memory, GPUs or host devices.
    The filter returns these conflicts with KubeVirt's messages, in KubeVirt's order.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
"""

EXAMPLES = r"""
- name: Stop before sending what would be refused
  ansible.builtin.assert:
    that: vm | virtshape.instancetypes.conflicts(instancetype=u1_medium) | length == 0
  vars:
    u1_medium: {cpu: {guest: 1}, memory: {guest: 4Gi}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}}}}}
"""

RETURN = r"""
_value:
  description:
    - A list of conflicts for each VM, with C(path), the field, and C(message), KubeVirt's message. Empty without
      conflicts.
  type: list
  elements: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted, vm_filter


class FilterModule:
    def filters(self) -> dict:
        return netted({"conflicts": vm_filter("conflicts", questions.conflicts)})
