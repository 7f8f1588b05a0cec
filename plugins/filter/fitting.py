# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fitting
short_description: Which instancetypes fit, best first
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Chooses among instancetypes those with which a preference is content, and that have what is asked for.
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
seealso:
  - plugin: virtshape.instancetypes.smallest
    plugin_type: filter
    description: The first of them.
"""

EXAMPLES = r"""
- name: Which instancetypes does Windows run on?
  ansible.builtin.debug:
    msg: "{{ catalog | virtshape.instancetypes.fitting(windows) | map(attribute='metadata.name') }}"
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
  description: The manifests of the instancetypes that fit, best first. Empty if there are none.
  type: list
  elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._fitting import fitting


class FilterModule:
    def filters(self) -> dict:
        return netted({"fitting": fitting})
