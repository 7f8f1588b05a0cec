# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: explain
short_description: Show where each field of an expanded VM comes from
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Returns for every field of the expanded VM's template whether its value comes from the VM, the instancetype, the
    preference or a default, and which value it overrides.
  - The filter expands the VM again without each source and compares the results. The topology of an instancetype's
    vCPUs counts as a value of the preference.
  - Like KubeVirt's expand-spec, the filter adds no defaults to a VM without instancetype and preference.
  - A VM that conflicts with its instancetype is an error with KubeVirt's message.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
options:
  format:
    description: V(rows) for dictionaries, V(table) for lines of text with aligned columns.
    type: str
    choices:
      - rows
      - table
    default: rows
"""

EXAMPLES = r"""
- name: Who decides what?
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.explain(instancetype=large, preference=linux, format='table') }}"
  vars:
    large: {cpu: {guest: 4}, memory: {guest: 8Gi}}
    linux: {cpu: {preferredCPUTopology: spread}, devices: {preferredDiskBus: virtio}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec:
        template:
          spec:
            domain: {devices: {disks: [{name: root, disk: {bus: sata}}]}}
            volumes: [{name: root, containerDisk: {image: "example.com/web:1"}}]

- name: Which settings of the VM keep the preference from having its way?
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.explain(preference=linux) | selectattr('source', 'eq', 'VM')
             | selectattr('instead_of') | map(attribute='field') }}"
  vars:
    linux: {machine: {preferredMachineType: pc-q35-rhel9.6.0}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}, machine: {type: q35}}}}}
"""

RETURN = r"""
_value:
  description: A list of fields for each VM, in order; with O(format=table) a list of lines of text.
  type: list
  elements: raw
  contains:
    field:
      description: Path from the template, such as V(spec.domain.cpu.sockets).
      type: str
    value:
      description: The field's value; null for a field of the VM that the source removed.
      type: raw
    source:
      description: V(VM), V(instancetype), V(preference) or V(default).
      type: str
    instead_of:
      description:
        - The fields without this source, as a list with C(field), C(value) and C(source). Usually the same field with
          another value; for the BIOS of a VM the preferred EFI.
      type: list
      elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import choice, netted, vm_filter


class FilterModule:
    def filters(self) -> dict:
        return netted({"explain": vm_filter("explain", questions.explain, format=choice("rows", "table"))})
