# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: template_from_vm
short_description: Make a VirtualMachineTemplate of a VM
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Makes a VirtualMachineTemplate (C(template.kubevirt.io)) that keeps instancetype and preference as the parameters
    V(INSTANCETYPE) and V(PREFERENCE). A VirtualMachineTemplateRequest (C(virtctl template create)) writes CPU, memory
    and devices in their place.
  - Labels and annotations of the VM, MAC addresses and the firmware's UUID and serial number are left out. The
    parameter V(NAME) is the VM's name, and its hostname and labels of the guest if they were the same.
  - Each VM of the template gets volumes of its own. DataVolumeTemplates keep their sources; other DataVolumes and
    PersistentVolumeClaims are cloned as they are when the VM is created.
  - Text such as C(${HOME}) in cloud-init stays as it is, by a parameter V(DOLLAR).
  - Works offline.
notes:
  - The template has the VM's cloud-init data with all passwords.
options:
  _input:
    description: Manifest of a VirtualMachine.
    type: dict
    required: true
  accept_unknown_fields:
    description:
      - Whether to accept fields that this collection does not know. By default such a field is an error that suggests
        the closest known field.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Show the template of a VM
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.template_from_vm | combine({'metadata': {'name': 'web'}}) }}"
  vars:
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web1, namespace: shop}
      spec:
        runStrategy: Always
        instancetype: {name: u1.medium}
        preference: {name: centos.stream9}
        dataVolumeTemplates:
          - metadata: {name: web1-root}
            spec:
              sourceRef: {kind: DataSource, name: centos-stream9, namespace: golden}
              storage: {resources: {requests: {storage: 30Gi}}}
        template:
          spec:
            domain: {devices: {}}
            volumes:
              - {name: root, dataVolume: {name: web1-root}}
"""

RETURN = r"""
_value:
  description: Manifest of the VirtualMachineTemplate, with the name and namespace of the VM.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("template_from_vm", "templates")
