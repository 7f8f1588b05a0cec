# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: catalog
short_description: Compare the instancetypes of a catalog with its preferences
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Compares each instancetype of a catalog with each preference, for VMs without CPU and memory settings, and returns
    which pairs fit and why the others do not.
  - Works offline. M(virtshape.instancetypes.catalog_info) does the same for the objects of a cluster.
options:
  _input:
    description:
      - A catalog, or the manifest of an instancetype or preference, or a list of these, as for the filter
        P(virtshape.instancetypes.catalog_objects#filter).
      - Or the result of M(virtshape.instancetypes.catalog_info).
    type: raw
    required: true
  version:
    description:
      - Version of a catalog that lists versions, such as the built-in catalog. Default is the newest version.
    type: str
    default: ""
  form:
    description:
      - V(data) for a dictionary, V(markdown) for a table, V(html) for a self-contained page, V(svg) for the picture of
        the page.
    type: str
    choices: [data, markdown, html, svg]
    default: data
  capacity:
    description:
      - C(instancetypes) from the result of M(virtshape.instancetypes.capacity_info). With O(form=html) the page then
        shows which instancetypes fit the nodes of the cluster.
    type: list
    elements: dict
    default: []
  limits:
    description:
      - Limits of namespaces, as O(virtshape.instancetypes.catalog#module:limits) takes them. Tables and pictures then
        show what each of them permits. Default is none, or with the result of M(virtshape.instancetypes.catalog_info)
        those of the cluster.
    type: list
    elements: dict
  title:
    description: Heading of a table or page.
    type: str
    default: Instancetypes and preferences
"""

EXAMPLES = r"""
- name: Write a page with the matrix of a catalog
  ansible.builtin.copy:
    content: "{{ lookup('ansible.builtin.file', 'acme.yml') | from_yaml | virtshape.instancetypes.catalog(form='html')
    }}"
    dest: catalog.html
    mode: "0644"

- name: Show which sizes a tenant may use
  ansible.builtin.copy:
    content: "{{ lookup('ansible.builtin.file', 'acme.yml') | from_yaml
      | virtshape.instancetypes.catalog(form='html', limits=limits) }}"
    dest: catalog.html
    mode: "0644"
  vars:
    limits:
      - name: tenants
        namespace_labels: {tenant: "yes"}
        max_cpu: 8

- name: Tell which sizes do for Windows 11
  ansible.builtin.debug:
    msg: "{{ acme.matrix.fits | dict2items | selectattr('value', 'contains', 'windows.11') | map(attribute='key') }}"
  vars:
    acme: "{{ lookup('ansible.builtin.file', 'acme.yml') | from_yaml | virtshape.instancetypes.catalog }}"
"""

RETURN = r"""
_value:
  description:
    - Text, or with O(form=data) a dictionary with C(instancetypes), C(preferences) and C(matrix), as
      M(virtshape.instancetypes.catalog_info) returns them.
  type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("catalog")
