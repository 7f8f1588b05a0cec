# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: template_process
short_description: Make a VM of a VirtualMachineTemplate
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Gives parameters their values and puts these into the VM of a VirtualMachineTemplate (C(template.kubevirt.io)), like
    the API server and C(virtctl template process --local). Instancetype and preference stay.
  - Works offline, so it needs no right on the subresource C(process), which no role of KubeVirt 1.9.0 grants.
  - What KubeVirt refuses is an error, such as a reference to an undefined parameter or a value of a wrong type.
notes:
  - Ansible computes a variable each time it is used. Keep a result with generated values by
    M(ansible.builtin.set_fact), or set O(seed).
positional: parameters
options:
  _input:
    description: Manifest of a VirtualMachineTemplate.
    type: dict
    required: true
  parameters:
    description:
      - Values of parameters by name. A value for C(${{NAME}}) is JSON text.
      - A parameter without a value has the template's default, else it is generated.
    type: dict
    default: {}
  seed:
    description:
      - Text from which values are generated. The same seed gives the same values.
      - Whoever knows the seed knows the values. For a password, take a secret one.
      - By default the values are random.
    type: str
  accept_unknown_fields:
    description:
      - Whether to accept fields of the VM that this collection does not know. By default such a field is an error that
        suggests the closest known field. Below C(spec.template.spec), KubeVirt drops such a field without a word.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Make a VM of a template
  ansible.builtin.set_fact:
    web: "{{ template | virtshape.instancetypes.template_process({'NAME': 'web1', 'INSTANCETYPE': 'u1.large'}) }}"
  vars:
    template:
      apiVersion: template.kubevirt.io/v1beta1
      kind: VirtualMachineTemplate
      metadata: {name: rhel9}
      spec:
        parameters:
          - {name: NAME, required: true}
          - {name: INSTANCETYPE, value: u1.medium}
          - {name: PASSWORD, generate: expression, from: '[\w]{16}'}
        message: The password of ${NAME} is ${PASSWORD}.
        virtualMachine:
          apiVersion: kubevirt.io/v1
          kind: VirtualMachine
          metadata: {name: '${NAME}'}
          spec:
            runStrategy: Always
            instancetype: {name: '${INSTANCETYPE}'}
            template:
              spec:
                domain: {devices: {}}
                volumes:
                  - name: root
                    containerDisk: {image: 'quay.io/containerdisks/centos-stream:9'}
                  - name: init
                    cloudInitNoCloud:
                      userData: |
                        #cloud-config
                        password: ${PASSWORD}
  no_log: true

- name: Tell what it will be
  ansible.builtin.debug:
    msg: "{{ web.virtual_machine.metadata.name }} is of {{ web.virtual_machine.spec.instancetype.name }}"
"""

RETURN = r"""
_value:
  description:
    - C(virtual_machine) is the manifest, C(message) the template's message with the values.
    - C(generated) has the generated values by parameter, C(warnings) those of KubeVirt, such as for a parameter that
      nothing refers to.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("template_process", "templates")
