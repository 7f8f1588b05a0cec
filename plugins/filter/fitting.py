# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: fitting
short_description: List the instancetypes that fit, best first
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Selects the instancetypes that meet the requirements of a preference and the options of the filter.
  - Sorts by O(series) (if set), number of vCPUs, memory, number of demands on the node, overcommit and name, smallest
    first.
  - Demands on the node are GPUs and host devices, dedicated CPUs, an isolated emulator thread, NUMA, realtime, huge
    pages, launch security, a node selector and a scheduler.
  - Ignores the architecture that a preference requires, because instancetypes have no architecture.
  - Works offline.
positional: preference
options:
  _input:
    description:
      - Manifest of an instancetype of either kind, or a list of manifests. Other kinds are ignored.
    type: raw
    required: true
  preference:
    description:
      - Manifest of a preference, or its bare spec, or the name of a preference among the manifests.
      - The instancetypes meet its requirements, and their vCPUs are divisible as the preference requires.
    type: raw
  cpu:
    description: Minimum number of vCPUs.
    type: int
  memory:
    description: Minimum memory of the guest, a quantity such as V(4Gi).
    type: str
  class:
    description:
      - Value of the label C(instancetype.kubevirt.io/class), such as V(general.purpose) or V(memory.intensive).
    type: str
  labels:
    description: Labels that the instancetypes must have.
    type: dict
    default: {}
  series:
    description:
      - Series to prefer; other instancetypes come after it. The series is the part of the name before the last dot.
    type: str
    default: ""
  deprecated:
    description: Whether deprecated instancetypes may fit, too. Obsolete instancetypes never do.
    type: bool
    default: false
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
"""

EXAMPLES = r"""
- name: Which instancetypes does Windows run on, and which is the smallest with three vCPUs?
  ansible.builtin.debug:
    msg: "{{ catalog | virtshape.instancetypes.fitting(windows) | map(attribute='metadata.name') }},
          {{ (catalog | virtshape.instancetypes.fitting(windows, cpu=3) | first).metadata.name }}"
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
  description: Manifests of the instancetypes that fit, best first. Empty if no instancetype fits.
  type: list
  elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("fitting")
