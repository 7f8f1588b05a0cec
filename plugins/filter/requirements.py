# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: requirements
short_description: Find requirements of a preference that a VM does not meet
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - KubeVirt rejects a VM that does not meet the requirements of its preference for vCPUs, memory and architecture. The
    filter returns the unmet requirement with KubeVirt's message, also for vCPUs that are not divisible over sockets,
    cores and threads as the preference requires.
  - Values that the VM does not set, such as its architecture, have the defaults of a cluster without custom settings.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
"""

EXAMPLES = r"""
- name: Is u1.nano enough for Fedora?
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.requirements(instancetype=u1_nano, preference=fedora) }}"
  vars:
    u1_nano: {cpu: {guest: 1}, memory: {guest: 512Mi}}
    fedora: {requirements: {cpu: {guest: 1}, memory: {guest: 2Gi}}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}}}}}
"""

RETURN = r"""
_value:
  description:
    - A list for each VM with the first unmet requirement - C(message), KubeVirt's message, and C(paths), the fields
      with insufficient values. Empty if the VM meets all requirements.
  type: list
  elements: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted, vm_filter


class FilterModule:
    def filters(self) -> dict:
        return netted({"requirements": vm_filter("requirements", questions.requirements)})
