#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: virtual_machine_export
short_description: Export VMs with their captured revisions as manifests
version_added: 1.0.0
description:
  - Returns manifests that give a VM the same guest on another cluster or in another namespace, whatever its
    instancetype and preference contain there, and also if they do not exist there.
  - Each VM comes with the ControllerRevisions that it uses. The VM names them in C(spec.instancetype.revisionName) and
    C(spec.preference.revisionName).
  - Leaves out what the cluster adds - status, owner references, UIDs, managed fields and finalizers.
  - Revisions that KubeVirt before 1.0 wrote are converted, because KubeVirt 1.7 and later do not read them.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  target_namespace:
    description:
      - Namespace of the manifests. Default is the namespace of the VM.
    type: str
  run_strategy:
    description:
      - Run strategy of the exported VMs, such as V(Halted) until their volumes are there. Default is the run strategy
        of the VM.
    type: str
    choices: [Always, Halted, Manual, Once, RerunOnFailure]
  dest:
    description:
      - File for the manifests as YAML, on the host of the task. A new file is readable by its owner only.
    type: path
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.selection
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.on_failure
  - virtshape.instancetypes.attributes
notes:
  - Apply the manifests in their order, because KubeVirt up to 1.5 rejects a VM whose revisions do not exist.
  - The manifests include cloud-init data with its passwords. They do not include volumes, Secrets and ConfigMaps.
  - The revisions have no owner. Once no VM refers to them, delete them with
    M(virtshape.instancetypes.controller_revision) and C(state=pruned).
seealso:
  - module: virtshape.instancetypes.controller_revision
  - module: virtshape.instancetypes.virtual_machine_info
"""

EXAMPLES = r"""
- name: Export the VMs of a namespace
  virtshape.instancetypes.virtual_machine_export:
    namespace: shop
    run_strategy: Halted
    dest: "{{ playbook_dir }}/shop.yml"

- name: Export a VM for another namespace
  virtshape.instancetypes.virtual_machine_export:
    namespace: shop
    name: database
    target_namespace: archive
  register: export

- name: Which revisions does the VM use?
  ansible.builtin.debug:
    var: export.results[0].revisions
"""

RETURN = r"""
msg:
  description: Number of exported VMs and of their manifests; on failure the failed VMs with their reasons.
  returned: always
  type: str
  sample: 2 virtual machines in 6 manifests
manifests:
  description: The revisions, then the VMs, to be applied in this order. Empty if a VM fails.
  type: list
  elements: dict
  returned: always
results:
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
      description: Namespace of the VM.
      type: str
      returned: always
    revisions:
      description: Names of the exported revisions by C(instancetype) and C(preference).
      type: dict
      returned: always
    failed:
      description: Whether the VM cannot be exported.
      type: bool
      returned: always
    msg:
      description: Why the VM cannot be exported, such as a deleted revision.
      type: str
      returned: when it failed
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.virtual_machine_export import (
    MODULE,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
