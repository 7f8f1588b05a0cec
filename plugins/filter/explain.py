# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: explain
short_description: Show where each field of a VM comes from, and what KubeVirt rejects
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Returns for every field of the expanded VM's template whether its value comes from the VM, the instancetype, the
    preference or a default, and which value it overrides.
  - The filter expands the VM again without each source and compares the results. The topology of an instancetype's
    vCPUs counts as a value of the preference.
  - Like KubeVirt's expand-spec, the filter adds no defaults to a VM without instancetype and preference.
  - KubeVirt rejects a VM that sets a field that its instancetype controls, such as vCPUs, memory, GPUs or host devices,
    or that does not meet the requirements of its preference for vCPUs, memory and architecture. The filter returns
    these conflicts and requirements with KubeVirt's messages.
  - For a VM that M(virtshape.instancetypes.virtual_machine) created for a workload, the filter also returns the reasons
    for the choice, and the alternatives at that time.
  - Values that the VM does not set, such as its architecture, have the defaults of a cluster without custom settings.
positional: instancetype, preference
extends_documentation_fragment:
  - virtshape.instancetypes.vm_filter
options:
  form:
    description:
      - V(data) for a dictionary, V(table) for lines of text, which are the messages of conflicts and unmet
        requirements, the reasons for the choice of a workload, and the fields in aligned columns.
    type: str
    choices:
      - data
      - table
    default: data
"""

EXAMPLES = r"""
- name: Who decides what?
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.explain(instancetype=large, preference=linux, form='table') }}"
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
    msg: "{{ (vm | virtshape.instancetypes.explain(preference=linux)).fields | selectattr('source', 'eq', 'VM')
             | selectattr('instead_of') | map(attribute='field') }}"
  vars:
    linux: {machine: {preferredMachineType: pc-q35-rhel9.6.0}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}, machine: {type: q35}}}}}

- name: Stop before sending what would be refused
  ansible.builtin.assert:
    that: not (explained.conflicts + explained.requirements)
    fail_msg: "{{ (explained.conflicts + explained.requirements) | map(attribute='message') | join('; ') }}"
  vars:
    explained: "{{ vm | virtshape.instancetypes.explain(instancetype=small, preference=fedora) }}"
    small: {cpu: {guest: 1}, memory: {guest: 4Gi}}
    fedora: {requirements: {cpu: {guest: 1}, memory: {guest: 2Gi}}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web}
      spec: {template: {spec: {domain: {devices: {}}}}}
"""

RETURN = r"""
_value:
  description: A dictionary for each VM; with O(form=table) a list of lines of text.
  type: raw
  contains:
    conflicts:
      description:
        - The fields of the VM that conflict with its instancetype, in KubeVirt's order, with C(path) and C(message).
      type: list
      elements: dict
    requirements:
      description:
        - The first requirement of the preference that the VM does not meet, with C(message) and C(paths), the fields
          with insufficient values; also for vCPUs that are not divisible over sockets, cores and threads as preferred.
          Empty if the VM meets all requirements.
      type: list
      elements: dict
    workload:
      description:
        - The C(workload) and C(size) of a VM that was created with them, what was chosen (C(boot), C(preference),
          C(instancetype)), the C(reasons), and up to ten C(others) of each that would also have done, best first.
      returned: for such a VM
      type: dict
    fields:
      description: The fields of the expanded VM, in order. Empty for a VM with conflicts.
      type: list
      elements: dict
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
            - The fields without this source, as a list with C(field), C(value) and C(source). Usually the same field
              with another value; for the BIOS of a VM the preferred EFI.
          type: list
          elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("explain", "vm")
