# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: template_convert
short_description: Convert an OpenShift Template to a VirtualMachineTemplate
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Converts a Template (C(template.openshift.io)) of one VM to a VirtualMachineTemplate (C(template.kubevirt.io)), like
    C(virtctl template convert), and checks it like KubeVirt when the template is created.
  - The V(labels) that OpenShift gives to all objects of a Template go to the VM; C(virtctl) loses them.
  - Works offline.
options:
  _input:
    description: Manifest of a Template. It must have one object, the VM.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Show what a Template becomes
  ansible.builtin.debug:
    msg: "{{ template | virtshape.instancetypes.template_convert }}"
  vars:
    template:
      apiVersion: template.openshift.io/v1
      kind: Template
      metadata: {name: rhel9-server-small}
      labels: {app: '${NAME}'}
      parameters:
        - {name: NAME, generate: expression, from: 'rhel9-[a-z0-9]{8}'}
      objects:
        - apiVersion: kubevirt.io/v1
          kind: VirtualMachine
          metadata: {name: '${NAME}'}
          spec:
            runStrategy: Halted
            template:
              spec:
                domain:
                  cpu: {cores: 1}
                  memory: {guest: 2Gi}
                  devices: {}
"""

RETURN = r"""
_value:
  description: Manifest of the VirtualMachineTemplate, with the name, namespace, labels and annotations of the Template.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("template_convert", "templates")
