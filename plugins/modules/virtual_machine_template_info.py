#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_template_info
short_description: Read VirtualMachineTemplates, and what is wrong with them
version_added: 1.0.0
description: Reads VirtualMachineTemplates with their parameters, with one list request. Secrets are hidden.
author: virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description: Namespace of the templates. Default is all namespaces.
    type: str
  names:
    description: Names of the templates. Default is all.
    type: list
    elements: str
    aliases: [name]
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
seealso:
  - module: virtshape.instancetypes.virtual_machine_template
"""

EXAMPLES = r"""
- name: What can VMs of this namespace be made of?
  virtshape.instancetypes.virtual_machine_template_info:
    namespace: golden-images
"""

RETURN = r"""
msg:
  description: Number of templates.
  returned: always
  type: str
  sample: 12 virtual machine templates
virtual_machine_templates:
  description: The templates in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: {description: Name of the template., type: str, returned: always}
    namespace: {description: Namespace of the template., type: str, returned: always}
    labels: {description: Labels of the template., type: dict, returned: always}
    parameters:
      description: Its parameters, as in the API.
      type: list
      elements: dict
      returned: always
      sample:
        - {name: NAME, required: true}
        - {name: INSTANCETYPE, value: u1.small}
    message: {description: Its message., type: str, returned: always}
    virtual_machine: {description: Manifest of its VM., type: dict, returned: always}
    findings:
      description: Why the template makes no VM, or what else is wrong with it, without looking at other objects.
      type: list
      elements: str
      returned: always
      sample: ["spec.parameters[1].name: SIZE is defined but never referenced"]
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._templates.cluster.info_module import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
