#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: expand_info
short_description: Compare the expansion of VMs by the cluster and by this collection
version_added: 1.0.0
description:
  - The expansion of a VM replaces its instancetype and preference by their values. KubeVirt expands on request
    (C(expand-spec)), and this collection without a cluster. This module returns both for VMs of the cluster, with every
    field that differs.
  - Usually nothing differs. A difference means that this collection computes something else than the cluster's
    KubeVirt, which also affects its checks, filters and drift.
  - Neither expansion checks the requirements of the preference.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  concurrency:
    description:
      - Maximum number of concurrent requests, from 1 to 256.
    type: int
    default: 16
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
notes:
  - KubeVirt answers with 500 if a VM cannot be expanded. The module does not retry this answer.
  - Values that may be secret, such as cloud-init data, are hidden.
seealso:
  - plugin: virtshape.instancetypes.expand
    plugin_type: filter
  - module: virtshape.instancetypes.virtual_machine_info
"""

EXAMPLES = r"""
- name: Expand a VM
  virtshape.instancetypes.expand_info:
    name: web
    namespace: shop
  register: web

- name: What the server makes of its CPU
  ansible.builtin.debug:
    var: web.expansions[0].server.template.spec.domain.cpu

- name: Does this collection know how this cluster expands VMs?
  virtshape.instancetypes.expand_info:
  register: all_vms
  failed_when: not all_vms.equal
"""

RETURN = r"""
equal:
  description: Whether the expansions of all VMs are equal.
  type: bool
  returned: always
expansions:
  description: The VMs in order of namespace and name.
  type: list
  elements: dict
  returned: always
  contains:
    name:
      description: Name of the VM.
      type: str
      returned: always
    namespace:
      description: Namespace of the object.
      type: str
      returned: always
    equal:
      description: Whether both expansions are equal, or fail for the same reason.
      type: bool
      returned: always
    server:
      description: Spec of the VM expanded by the cluster, in canonical form.
      type: dict
      returned: when the cluster can expand it
    server_error:
      description: Error message of the cluster if it cannot expand the VM.
      type: str
      returned: when it cannot
      sample: 'Internal error occurred: virtualmachineclusterinstancetypes.instancetype.kubevirt.io "nope" not found'
    resolver:
      description: Spec of the VM expanded by this collection, in canonical form.
      type: dict
      returned: when the collection can expand it
    resolver_error:
      description: KubeVirt's error message if this collection cannot expand the VM.
      type: str
      returned: when it cannot
    differences:
      description: Fields of the spec that differ, in order of their paths.
      type: list
      elements: dict
      returned: always
      contains:
        field:
          description: Path of the field in the spec.
          type: str
          returned: always
          sample: template.spec.domain.cpu.sockets
        server:
          description: Value of the cluster, null if not set.
          type: raw
          returned: always
        resolver:
          description: Value of this collection, null if not set.
          type: raw
          returned: always
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.expand_info import run_expand_info


def main() -> None:
    run_expand_info()


if __name__ == "__main__":
    main()
