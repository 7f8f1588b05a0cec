#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: preference_info
short_description: Read preferences, and which VMs use them
version_added: 1.0.0
description:
  - Reads preferences with their requirements and features, and the VMs that use them. Sends one list request per kind
    and one for VMs.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  names:
    description:
      - Names of the preferences. Default is all.
    type: list
    elements: str
    aliases: [name]
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
  vcpus_min:
    description:
      - Minimum number of vCPUs that the preferences require.
    type: int
  vcpus_max:
    description:
      - Maximum number of vCPUs that the preferences require.
    type: int
  memory_min:
    description:
      - Minimum memory that the preferences require, a quantity such as V(4Gi).
    type: str
  memory_max:
    description:
      - Maximum memory that the preferences require.
    type: str
  features:
    description:
      - Features that the objects must all have. An object has a feature if its field is set.
    type: list
    elements: str
    choices:
      - bios
      - efi
      - secure_boot
      - tpm
      - smm
      - hyperv
      - clock
      - multi_queue
      - block_multi_queue
      - dedicated_io_thread
      - input
      - rng
      - video
      - sound
      - virtio_transitional
      - launch_security
    default: []
  os:
    description:
      - Selects objects with this value of the label C(instancetype.kubevirt.io/os-type).
    type: str
  architecture:
    description:
      - Selects objects that require or prefer this architecture.
    type: str
  in_use:
    description:
      - With V(true), selects objects that a VM names; with V(false), objects that no VM names.
    type: bool
  used_by:
    description:
      - Selects objects that one of these VMs names, as a list of C(namespace/name).
    type: list
    elements: str
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.requests
  - virtshape.instancetypes.attributes
"""

EXAMPLES = r"""
- name: Which preferences for Windows boot securely?
  virtshape.instancetypes.preference_info:
    os: windows
    features: [secure_boot]
  register: systems

- name: Which preferences suit a VM with 2 GiB?
  virtshape.instancetypes.preference_info:
    memory_max: 2Gi
"""

RETURN = r"""
preferences:
  description: The preferences in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name:
      description: Name of the object.
      type: str
      returned: always
    namespace:
      description: Namespace of the object, empty for a cluster-wide object.
      type: str
      returned: always
    kind:
      description: Kind of the object.
      type: str
      returned: always
    vcpus:
      description: Number of vCPUs that the preference requires.
      type: int
      returned: always
    memory:
      description: Memory that the preference requires, as the object spells it.
      type: str
      returned: always
    memory_bytes:
      description: The memory in bytes.
      type: int
      returned: always
    features:
      description: Features, by the choices of the option O(features).
      type: list
      elements: str
      returned: always
    os:
      description: Operating system of the preference, empty if not set.
      type: str
      returned: always
    architecture:
      description: Architecture that the preference requires or prefers.
      type: str
      returned: always
    topology:
      description: CPU topology of VMs with this preference.
      type: str
      returned: always
    catalog:
      description:
        - Name of the catalog, if M(virtshape.instancetypes.catalog) deployed the object.
      type: str
      returned: always
    catalog_version:
      description: Version of the catalog that the object was deployed from.
      type: str
      returned: always
    managed_by:
      description: Manager of the object, from the label C(app.kubernetes.io/managed-by).
      type: str
      returned: always
    deprecated:
      description: Whether the object is deprecated or obsolete.
      type: bool
      returned: always
    state:
      description: State of the object, V(active), V(deprecated) or V(obsolete).
      type: str
      returned: always
    replacement:
      description: Name of the object to use instead, empty if none is named.
      type: str
      returned: always
    obsolete_from:
      description: Day on which a deprecated object is to become obsolete, empty if none is named.
      type: str
      returned: always
    used_by:
      description: VMs that name the object, as NAMESPACE/NAME. Null if the VMs could not be listed.
      type: list
      elements: str
      returned: always
    labels:
      description: Labels of the object.
      type: dict
      returned: always
    annotations:
      description: Annotations of the object.
      type: dict
      returned: always
    generation:
      description: Generation of the object.
      type: int
      returned: always
    spec:
      description: Spec of the object.
      type: dict
      returned: always
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.preference_info import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
