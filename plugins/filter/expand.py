# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: expand
short_description: Expand a VM with its instancetype and preference
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Returns the VM as KubeVirt's expand-spec does, without matchers and with the vCPUs, memory, devices and firmware
    from its instancetype, its preference and the cluster's defaults.
  - A VM that conflicts with its instancetype is an error with KubeVirt's message. Like KubeVirt, the filter does not
    check the requirements of the preference. Use the filter P(virtshape.instancetypes.explain#filter) for that.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
"""

EXAMPLES = r"""
- name: How much memory will the guest have?
  ansible.builtin.debug:
    msg: "{{ (vm | virtshape.instancetypes.expand(objects=catalog)).spec.template.spec.domain.memory.guest }}"
  vars:
    catalog: "{{ lookup('ansible.builtin.file', 'catalog.yml') | from_yaml_all | list }}"
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web, namespace: shop}
      spec:
        instancetype: {name: u1.medium}
        template: {spec: {domain: {devices: {}}}}
"""

RETURN = r"""
_value:
  description: The expanded manifest, or a list if the input is a list.
  type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("expand", "vm")
