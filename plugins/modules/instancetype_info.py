#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: instancetype_info
short_description: Read instancetypes, and which VMs use them
version_added: 1.0.0
description:
  - Reads instancetypes with their sizes and features, and the VMs that use them. Sends one list request per kind and
    one for VMs.
author:
  - virtshape.instancetypes contributors (@virtshape)
options:
  names:
    description:
      - Names of the instancetypes. Default is all.
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
      - Minimum number of vCPUs of the instancetypes.
    type: int
  vcpus_max:
    description:
      - Maximum number of vCPUs of the instancetypes.
    type: int
  memory_min:
    description:
      - Minimum memory of the instancetypes, a quantity such as V(4Gi).
    type: str
  memory_max:
    description:
      - Maximum memory of the instancetypes.
    type: str
  features:
    description:
      - Features that the objects must all have. An object has a feature if its field is set.
    type: list
    elements: str
    choices:
      - dedicated_cpu
      - isolated_emulator_thread
      - numa
      - realtime
      - max_sockets
      - hugepages
      - overcommit
      - max_memory
      - gpus
      - host_devices
      - io_threads
      - launch_security
      - node_selector
      - scheduler
    default: []
  class:
    description:
      - Selects objects with this value of the label C(instancetype.kubevirt.io/class).
    type: str
  series:
    description:
      - Selects objects of this series, the part of the name before the last dot.
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
- name: Which sizes have cores of their own and up to 32 GiB?
  virtshape.instancetypes.instancetype_info:
    features: [dedicated_cpu]
    memory_max: 32Gi
  register: sizes

- name: Which instancetypes of the shop does nobody use?
  virtshape.instancetypes.instancetype_info:
    namespace: shop
    scope: namespaced
    in_use: false
"""

RETURN = r"""
instancetypes:
  description: The instancetypes in order of namespace and name.
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
      description: Number of vCPUs of a VM with this instancetype.
      type: int
      returned: always
    memory:
      description: Memory of a VM with this instancetype, as the object spells it.
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
    class:
      description: Class of the instancetype, empty without the label.
      type: str
      returned: always
    series:
      description: Series, the part of the name before the last dot.
      type: str
      returned: always
    size:
      description: Size, the label C(instancetype.kubevirt.io/size) or the part of the name after the last dot.
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
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.entry.instancetype_info import MODULE


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
