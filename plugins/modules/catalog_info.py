#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: catalog_info
short_description: Read the catalogs of a cluster, and compare instancetypes with preferences
version_added: 1.0.0
description:
  - Returns the catalogs that M(virtshape.instancetypes.catalog) deployed, with their versions, and compares each
    instancetype with each preference, for VMs without CPU and memory settings. Sends one list request per kind.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  namespace:
    description:
      - Namespace of namespaced objects. Default is all namespaces.
    type: str
  scope:
    description:
      - Whether to read cluster-wide objects, namespaced objects, or both.
    type: str
    choices: [all, cluster, namespaced]
    default: all
  label_selectors:
    description:
      - Label selectors that the objects must all match.
    type: list
    elements: str
    default: []
  catalog:
    description:
      - Selects objects of this catalog, deployed by M(virtshape.instancetypes.catalog).
    type: str
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: Which instancetypes suit Windows 11?
  virtshape.instancetypes.catalog_info:
    scope: cluster
  register: known

- name: Say so
  ansible.builtin.debug:
    msg: "{{ known.matrix.fits | dict2items | selectattr('value', 'contains', 'windows.11') | map(attribute='key') }}"
"""

RETURN = r"""
catalogs:
  description:
    - The catalogs, with C(name) (empty for objects without a catalog), the numbers of C(instancetypes) and
      C(preferences), and C(versions), the number of objects of each version. More than one version means an incomplete
      upgrade, or kept objects.
  returned: always
  type: list
  elements: dict
limits:
  description:
    - The limits that the option O(virtshape.instancetypes.catalog#module:limits) has set, with C(instancetypes) and
      C(preferences) as the names that they permit. Null if the user may not read ValidatingAdmissionPolicies.
  returned: always
  type: list
  elements: dict
common_instancetypes_deployment:
  description:
    - Whether C(virt-operator) deploys the common instancetypes (C(enabled), null if the KubeVirt object cannot be
      read), and how many of the C(objects) read it manages.
  returned: always
  type: dict
  sample: {enabled: true, objects: 119}
matrix:
  description: Which instancetype satisfies which preference.
  returned: always
  type: dict
  contains:
    instancetypes:
      description:
        - Facts of the instancetypes, as in M(virtshape.instancetypes.instancetype_info), without the content of the
          objects.
      type: list
      elements: dict
      returned: always
    preferences:
      description:
        - Facts of the preferences, as in M(virtshape.instancetypes.preference_info), without the content of the
          objects.
      type: list
      elements: dict
      returned: always
    fits:
      description:
        - For each instancetype the names of the preferences that it satisfies, with the namespace if any.
      type: dict
      returned: always
    misses:
      description:
        - The pairs that do not fit, with C(instancetype), C(preference), C(reasons), in KubeVirt's words, and C(sign),
          V(c) for too few vCPUs, V(m) for too little memory, V(b) for both, V(s) for vCPUs that are not divisible as
          preferred.
      type: list
      elements: dict
      returned: always
    unsatisfied:
      description: Names of the preferences that no instancetype satisfies.
      type: list
      elements: str
      returned: always
    wrong_labels:
      description:
        - Labels that differ from the spec, such as C(instancetype.kubevirt.io/cpu), with C(kind), C(name), C(label),
          C(value), C(field) and C(actual), the value of the field.
      type: list
      elements: dict
      returned: always
    states:
      description:
        - The deprecated and obsolete objects, with C(kind), C(namespace), C(name), C(state), C(replacement),
          C(obsolete_from), C(problems) of the replacement, and C(changes) (C(field), C(before), C(after)) of the VMI
          spec of a VM that moves to the replacement.
      returned: always
      type: list
      elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.catalog_info import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
