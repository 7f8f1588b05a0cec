# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: catalog_objects
short_description: List the instancetypes and preferences of a catalog
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Converts catalogs (tables of instancetypes and families of preferences) to manifests, and selects among these.
  - Works offline. A mistake in a catalog fails with a message that names the entry and the field.
notes:
  - The README of the role P(virtshape.instancetypes.common_instancetypes#role) describes the language of catalogs.
  - O(series), O(sizes) and O(names) are lists of names or shell patterns such as V(u*). An empty list selects
    everything; a pattern without a match is an error.
options:
  _input:
    description:
      - A catalog, or the manifest of an instancetype or preference, or a list of these.
      - The filter uses name, labels, annotations and spec of manifests, such as the manifests of a published bundle.
    type: raw
    required: true
  version:
    description: Version of a catalog that lists versions, such as the built-in catalog. Default is the newest version.
    type: str
    default: ""
  kind:
    description: Selects only instancetypes or only preferences. Default is both.
    type: str
    choices:
      - instancetype
      - preference
  series:
    description:
      - Selects the instancetypes of these series. The series is the part of the name before the last dot.
      - Does not affect preferences.
    type: list
    elements: str
    default: []
  sizes:
    description:
      - Selects the instancetypes of these sizes. The size is the part of the name after the last dot.
      - Does not affect preferences.
    type: list
    elements: str
    default: []
  names:
    description: Selects the objects with these names.
    type: list
    elements: str
    default: []
  name_prefix:
    description: Prefix for all names.
    type: str
    default: ""
  labels:
    description: Additional labels for all objects. The labels of an object override these labels.
    type: dict
    default: {}
  namespace:
    description:
      - Namespace of the objects, which then have the namespaced kinds. Without it they have the cluster-wide kinds.
    type: str
    default: ""
  form:
    description:
      - V(manifests) of the API, or V(entries) for the lists of M(virtshape.instancetypes.instancetype) and
        M(virtshape.instancetypes.preference).
    type: str
    choices:
      - manifests
      - entries
    default: manifests
"""

EXAMPLES = r"""
- name: Declare two series of instancetypes of our own
  virtshape.instancetypes.instancetype:
    instancetypes: "{{ catalog | virtshape.instancetypes.catalog_objects(form='entries') }}"
  vars:
    catalog:
      series:
        web:
          sizes:
            small: {cpu: 1, memory: 2Gi}
            large: {cpu: 4, memory: 8Gi}
        db:
          spec:
            cpu: {dedicatedCPUPlacement: true}
          sizes:
            large: {cpu: 8, memory: 64Gi, hugepages: 1Gi}

- name: Tell which sizes a bundle has for databases
  ansible.builtin.debug:
    msg: >-
      {{ lookup('ansible.builtin.file', 'bundle.yaml') | from_yaml_all
         | virtshape.instancetypes.catalog_objects(series=['m1'])
         | map(attribute='metadata.name') }}
"""

RETURN = r"""
_value:
  description:
    - A manifest for each object, or an entry with C(name), C(namespace), C(labels), C(annotations) and C(spec).
  type: list
  elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("catalog_objects")
