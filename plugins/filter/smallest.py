# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: smallest
short_description: The smallest instancetype that fits
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - The first of the instancetypes that the filter P(virtshape.instancetypes.fitting#filter) finds. None that fits is an
    error.
  - First come those of the wanted O(series), if one is given; then those with the fewest vCPUs, with the least memory,
    with the fewest demands on the node and with the least overcommit; then it goes by name.
  - Demands are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge pages, launch
    security, a node selector and a scheduler.
  - The architecture that a preference requires is left out of account, as no instancetype has a say in it.
  - Works offline.
positional: preference
options:
  _input:
    description:
      - Manifests, of which the instancetypes of either kind are looked at, or one manifest.
    type: raw
    required: true
  preference:
    description:
      - Manifest of a preference, or its bare spec, or the name of a preference among the manifests.
      - Its requirements are met, and the vCPUs can be spread as it wants.
    type: raw
  cpu:
    description: The least number of vCPUs.
    type: int
  memory:
    description: The least guest memory, a quantity such as V(4Gi).
    type: str
  class:
    description:
      - Value of the label C(instancetype.kubevirt.io/class), by which the published catalogs tell their classes, such
        as V(general.purpose) or V(memory.intensive).
    type: str
  labels:
    description: Labels that the instancetype has.
    type: dict
    default: {}
  series:
    description:
      - Instancetypes of this series come first, but others fit too. The series is what comes before the last dot of the
        name.
    type: str
    default: ""
  kubevirt_version:
    description:
      - The release of KubeVirt that answers, such as V(1.6) or V(v1.5.2), where it would answer otherwise than the
        newest one that is known.
    type: str
"""

EXAMPLES = r"""
- name: Declare a VM that is just large enough
  ansible.builtin.debug:
    msg: "{{ (catalog | virtshape.instancetypes.smallest(windows, cpu=3)).metadata.name }}"
  vars:
    catalog: "{{ definition | virtshape.instancetypes.catalog_objects }}"
    definition:
      series:
        web:
          sizes:
            small: {cpu: 1, memory: 2Gi}
            large: {cpu: 4, memory: 8Gi}
            huge: {cpu: 16, memory: 64Gi}
    windows: {requirements: {cpu: {guest: 2}, memory: {guest: 4Gi}}}
"""

RETURN = r"""
_value:
  description: Manifest of the instancetype.
  type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._fitting import smallest


class FilterModule:
    def filters(self) -> dict:
        return netted({"smallest": smallest})
