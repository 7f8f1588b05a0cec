#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_template
short_description: Declare VirtualMachineTemplates of KubeVirt
version_added: 1.0.0
description:
  - A VirtualMachineTemplate is a VM with parameters. M(virtshape.instancetypes.virtual_machine) makes VMs of it.
  - Takes one object at the top level, or many in O(virtual_machine_templates). An object that is already as declared
    costs no further request.
  - Before sending anything, the task refuses a template that makes no VM or whose VM has fields that KubeVirt lacks. It
    warns of parameters that nothing uses, and of what KubeVirt would say to a VM with the parameters' defaults, such as
    an instancetype that does not exist or that does not meet the requirements of the preference.
  - The task declares objects by server-side apply with the field manager C(virtshape). Fields that
    are no longer declared are removed. Fields that others own are left alone.
  - Requires KubeVirt 1.9.
author: virtshape.instancetypes contributors (@virtshape)
options:
  name:
    description: Name of the template.
    type: str
  namespace: &namespace
    description: Namespace of the template.
    type: str
  state:
    description:
      - Whether the template exists. VMs of a template that is deleted stay.
      - With V(rendered), the task connects to nothing and returns the manifest as RV(rendered).
    type: str
    choices: [present, absent, rendered]
    default: present
  labels: &labels
    description: Labels of the template.
    type: dict
  annotations: &annotations
    description: Annotations of the template.
    type: dict
  virtual_machine: &virtual_machine
    description:
      - Manifest of the VM, with C(metadata) and C(spec). C(${NAME}) in a text is the value of the parameter C(NAME);
        C(${{NAME}}) as a whole text is its value as JSON, such as a number.
      - Where the guest is to read C(${...}), write C(${DOLLAR}{...}) with a parameter C(DOLLAR) of the value C($).
    type: dict
    aliases: [virtualMachine]
  parameters: &parameters
    description: Parameters of the template. The task hides values of parameters whose names contain such words as
      C(password).
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the parameter, of letters, digits and C(_).
        type: str
        required: true
      display_name:
        description: Name for users.
        type: str
        aliases: [displayName]
      description:
        description: What the parameter is for.
        type: str
      value:
        description: Default of the parameter.
        type: str
      generate:
        description: V(expression) to generate a value of O(parameters[].from) where there is none.
        type: str
      from:
        description: Expression of generated values, such as V(vm-[a-z0-9]{5}).
        type: str
      required:
        description: Whether there must be a value.
        type: bool
  instructions: &instructions
    description: What users of a VM of the template need to know, the C(message) of the API. It may contain C(${NAME}).
    type: str
  spec: &spec
    description: Spec of the template, such as that of P(virtshape.instancetypes.template_convert#filter). It is merged
      with the options; lists are concatenated.
    type: dict
  accept_unknown_fields: &accept_unknown_fields
    description: Whether to accept fields that this collection does not know, for a KubeVirt newer than this collection.
    type: bool
  virtual_machine_templates:
    description: A list of templates. An entry takes the same options as the task does for one template. An option that
      an entry leaves out has the value that the task gives, and an option with the value V(null) has none.
    type: list
    elements: dict
    suboptions:
      name:
        description: Name of the template.
        type: str
        required: true
      namespace: *namespace
      state:
        description: See O(state).
        type: str
        choices: [present, absent, rendered]
      labels: *labels
      annotations: *annotations
      virtual_machine: *virtual_machine
      parameters: *parameters
      instructions: *instructions
      spec: *spec
      accept_unknown_fields: *accept_unknown_fields
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.declare.ownership
  - virtshape.instancetypes.rendered
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: A template with the size as a parameter
  virtshape.instancetypes.virtual_machine_template:
    name: fedora
    namespace: shop
    instructions: Log in to ${NAME} as fedora.
    parameters:
      - name: NAME
        required: true
      - name: INSTANCETYPE
        value: u1.small
    virtual_machine:
      metadata:
        name: ${NAME}
      spec:
        runStrategy: Always
        instancetype:
          name: ${INSTANCETYPE}
        preference: {name: fedora}
        template:
          spec:
            domain:
              devices: {}
            volumes:
              - name: root
                containerDisk: {image: quay.io/containerdisks/fedora:latest}

- name: Remove one
  virtshape.instancetypes.virtual_machine_template:
    name: fedora-39
    namespace: shop
    state: absent
"""

RETURN = r"""
msg:
  description: Number of objects that were created, changed, deleted and unchanged; on failure the failed objects with
    their reasons.
  returned: always
  type: str
  sample: "3 virtual machine templates: 1 created, 2 unchanged"
cluster:
  description: Address of the API server.
  returned: unless O(state=rendered)
  type: str
  sample: https://api.example.com:6443
results:
  description: One entry for each object, in the order given, with the keys of
    RV(virtshape.instancetypes.instancetype#module:results).
  returned: always
  type: list
  elements: dict
rendered:
  description: The manifests that the task would send for new objects, in the order given, without managed fields.
    Values that may be secret are hidden.
  returned: with O(state=rendered)
  type: list
  elements: dict
files:
  description: Paths of the files with the manifests, changed or not.
  returned: with O(state=rendered) and O(dest)
  type: list
  elements: str
result:
  description: The only entry of RV(results).
  returned: when O(name) is set
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._boot_sources.unusable_sources import (
    boot_source_findings,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.rendered_state import RENDERED
from ansible_collections.virtshape.instancetypes.plugins.module_utils._templates.cluster.module import module

MODULE = module((boot_source_findings,), (RENDERED,))


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
