#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preference
short_description: Declare preferences of KubeVirt
version_added: 1.0.0
description:
  - A preference defines how a workload wants its VM - buses, firmware, topology and minimum requirements. It applies to
    fields that the VM does not set.
  - Takes one object at the top level, or many in O(preferences). One process handles all objects with one list request
    per kind and namespace. An object that is already as declared costs no further request.
  - The task declares objects by server-side apply with the field manager C(virtshape). Fields that
    are no longer declared are removed. Fields that others own are left alone.
author: virtshape.instancetypes contributors (@virtshape)
extends_documentation_fragment:
  - virtshape.instancetypes.preference_options
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.writes
  - virtshape.instancetypes.writes.existing
  - virtshape.instancetypes.writes.dry_run
  - virtshape.instancetypes.declare
  - virtshape.instancetypes.declare.concurrency
  - virtshape.instancetypes.declare.fail_fast
  - virtshape.instancetypes.declare.ownership
  - virtshape.instancetypes.rendered
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: How our Linux images like to run
  virtshape.instancetypes.preference:
    name: company.linux
    devices:
      preferred_disk_bus: virtio
      preferred_interface_model: virtio
      preferred_rng: {}
    requirements:
      cpu: {guest: 1}
      memory: {guest: 2Gi}

- name: Two preferences for one namespace
  virtshape.instancetypes.preference:
    namespace: desktops
    preferences:
      - name: windows
        cpu: {preferred_cpu_topology: sockets}
        firmware:
          preferred_efi: {secure_boot: true}
        features:
          preferred_smm: {}
      - name: kiosk
        spec:
          machine: {preferredMachineType: q35}
"""

RETURN = r"""
msg:
  description: Number of objects that were created, changed, deleted and unchanged; on failure the failed objects with
    their reasons.
  returned: always
  type: str
  sample: "3 preferences: 1 created, 2 unchanged"
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
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.preference import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._conversion.deprecated import deprecated_fields
from ansible_collections.virtshape.instancetypes.plugins.module_utils._git.cluster.rendered_state import RENDERED

MODULE = module((RENDERED,), (deprecated_fields,))


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
