# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: requirements
short_description: What a preference requires that a VM does not have
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - A preference may require vCPUs, memory and an architecture, and KubeVirt refuses a VM that has less. The filter
    tells what is missing, with KubeVirt's words. It also tells when vCPUs cannot be spread over sockets, cores and
    threads as the preference wants.
  - What the VM does not say, such as its architecture, has the defaults of a cluster without settings of its own.
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
    - A list for each VM with the first unmet requirement, C(message), what KubeVirt says, and C(paths), the fields that
      provide too little. Empty where all is met.
  type: list
  elements: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted, vm_filter


class FilterModule:
    def filters(self) -> dict:
        return netted({"requirements": vm_filter("requirements", questions.requirements)})
