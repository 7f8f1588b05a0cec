#!/usr/bin/python
# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: catalog_info
short_description: Read instancetypes and preferences, their catalogs and users, and which fit together
version_added: 1.0.0
description: Returns instancetypes with their sizes, preferences with their requirements, the catalogs that
  M(virtshape.instancetypes.catalog) deployed, and which instancetype satisfies which preference, for VMs without CPU
  and memory settings. Sends one list request per kind.
author: virtshape.instancetypes contributors (@virtshape)
options:
  names:
    description: Names of the instancetypes and preferences. Default is all.
    type: list
    elements: str
    aliases: [name]
  namespace:
    description: Namespace of namespaced objects. Default is all namespaces.
    type: str
  scope:
    description: Whether to read cluster-wide objects, namespaced objects, or both.
    type: str
    choices: [all, cluster, namespaced]
    default: all
  label_selectors:
    description: Label selectors that the objects must all match.
    type: list
    elements: str
    default: []
  catalog:
    description: Selects objects of this catalog, deployed by M(virtshape.instancetypes.catalog).
    type: str
  used_by:
    description: Whether to return which VMs and VirtualMachinePools name each object. Needs the right to list both,
      in all namespaces for cluster-wide objects.
    type: bool
    default: false
extends_documentation_fragment:
  - virtshape.instancetypes.auth
  - virtshape.instancetypes.attributes
seealso:
  - plugin: virtshape.instancetypes.catalog
    plugin_type: filter
  - plugin: virtshape.instancetypes.quantity
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read instancetypes and preferences, and which VMs use them
  virtshape.instancetypes.catalog_info:
    used_by: true
  register: known

- name: Which instancetypes suit Windows 11?
  ansible.builtin.debug:
    msg: "{{ known.matrix.fits | dict2items | selectattr('value', 'contains', 'windows.11') | map(attribute='key') }}"

- name: Which have 2 to 8 vCPUs and up to 32 GiB?
  ansible.builtin.debug:
    msg: "{{ known.instancetypes | selectattr('vcpus', 'ge', 2) | selectattr('vcpus', 'le', 8)
      | selectattr('memory_bytes', 'le', '32Gi' | virtshape.instancetypes.quantity) | map(attribute='name') }}"

- name: Which have cores and huge pages of their own?
  ansible.builtin.debug:
    msg: "{{ known.instancetypes | selectattr('features', 'superset', ['dedicated_cpu', 'hugepages'])
      | map(attribute='name') }}"

- name: Which are of the series u1, and which of the class general.purpose?
  ansible.builtin.debug:
    msg:
      - "{{ known.instancetypes | selectattr('series', 'eq', 'u1') | map(attribute='name') }}"
      - "{{ known.instancetypes | selectattr('class', 'eq', 'general.purpose') | map(attribute='name') }}"

- name: Which preferences for Windows boot securely?
  ansible.builtin.debug:
    msg: "{{ known.preferences | selectattr('os', 'eq', 'windows') | selectattr('features', 'contains', 'secure_boot')
      | map(attribute='name') }}"

- name: Which are for ARM, and which suit a VM with 2 GiB?
  ansible.builtin.debug:
    msg:
      - "{{ known.preferences | selectattr('architecture', 'eq', 'arm64') | map(attribute='name') }}"
      - "{{ known.preferences | selectattr('memory_bytes', 'le', '2Gi' | virtshape.instancetypes.quantity)
        | map(attribute='name') }}"

- name: Which instancetypes of the shop does nobody use, and which objects does the VM web use?
  ansible.builtin.debug:
    msg:
      - "{{ known.instancetypes | selectattr('namespace', 'eq', 'shop') | rejectattr('used_by')
        | map(attribute='name') }}"
      - "{{ (known.instancetypes + known.preferences) | selectattr('used_by', 'contains', 'shop/web')
        | map(attribute='name') }}"
"""

RETURN = r"""
instancetypes:
  description: The instancetypes in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: &name
      description: Name of the object.
      type: str
      returned: always
    namespace: &namespace
      description: Namespace of the object, empty for a cluster-wide object.
      type: str
      returned: always
    kind: &kind
      description: Kind of the object.
      type: str
      returned: always
    vcpus: {description: Number of vCPUs of a VM with this instancetype., type: int, returned: always}
    memory:
      description: Memory of a VM with this instancetype, as the object spells it.
      type: str
      returned: always
    memory_bytes: &memory_bytes
      description: The memory in bytes.
      type: int
      returned: always
    features:
      description: Features of the instancetype, each because its field is set - V(dedicated_cpu),
        V(isolated_emulator_thread), V(numa), V(realtime), V(max_sockets), V(hugepages), V(overcommit), V(max_memory),
        V(gpus), V(host_devices), V(io_threads), V(launch_security), V(node_selector), V(scheduler).
      type: list
      elements: str
      returned: always
    class:
      description: Class of the instancetype, empty without the label C(instancetype.kubevirt.io/class).
      type: str
      returned: always
    series: {description: "Series, the part of the name before the last dot.", type: str, returned: always}
    size:
      description: Size, the label C(instancetype.kubevirt.io/size) or the part of the name after the last dot.
      type: str
      returned: always
    catalog: &catalog
      description: Name of the catalog, if M(virtshape.instancetypes.catalog) deployed the object.
      type: str
      returned: always
    catalog_version: &catalog_version
      description: Version of the catalog that the object was deployed from.
      type: str
      returned: always
    managed_by: &managed_by
      description: Manager of the object, from the label C(app.kubernetes.io/managed-by).
      type: str
      returned: always
    deprecated: &deprecated
      description: Whether the object is deprecated or obsolete.
      type: bool
      returned: always
    state: &state
      description: State of the object, V(active), V(deprecated) or V(obsolete).
      type: str
      returned: always
    replacement: &replacement
      description: Name of the object to use instead, empty if none is named.
      type: str
      returned: always
    obsolete_from: &obsolete_from
      description: Day on which a deprecated object is to become obsolete, empty if none is named.
      type: str
      returned: always
    icon: &icon
      description: Icon of the object, the label C(instancetype.kubevirt.io/icon-pf) of an instancetype or the
        annotation C(iconClass) of a preference, empty for none.
      type: str
      returned: always
    docs_url: &docs_url
      description: Address of the documentation, the annotation C(openshift.io/documentation-url), empty for none.
      type: str
      returned: always
    support_url: &support_url
      description: Address of the support, the annotation C(openshift.io/support-url), empty for none.
      type: str
      returned: always
    tags: &tags
      description: Tags of the object, from the annotation C(tags).
      type: list
      elements: str
      returned: always
    used_by: &used_by
      description: VMs that name the object, as NAMESPACE/NAME, and VirtualMachinePools whose template names it, as
        VirtualMachinePool NAMESPACE/NAME.
      type: list
      elements: str
      returned: with O(used_by=true)
    labels: &labels
      description: Labels of the object.
      type: dict
      returned: always
    annotations: &annotations
      description: Annotations of the object.
      type: dict
      returned: always
    generation: &generation
      description: Generation of the object.
      type: int
      returned: always
    spec: &spec
      description: Spec of the object.
      type: dict
      returned: always
preferences:
  description: The preferences in order of namespace and name.
  returned: always
  type: list
  elements: dict
  contains:
    name: *name
    namespace: *namespace
    kind: *kind
    vcpus: {description: Number of vCPUs that the preference requires., type: int, returned: always}
    memory: {description: "Memory that the preference requires, as the object spells it.", type: str, returned: always}
    memory_bytes: *memory_bytes
    features:
      description: Features of the preference, each because its field is set - V(bios), V(efi), V(secure_boot), V(tpm),
        V(smm), V(hyperv), V(clock), V(multi_queue), V(block_multi_queue), V(dedicated_io_thread), V(input), V(rng),
        V(video), V(sound), V(virtio_transitional), V(launch_security).
      type: list
      elements: str
      returned: always
    os:
      description: Operating system, the label C(instancetype.kubevirt.io/os-type), empty if not set.
      type: str
      returned: always
    architecture: {description: Architecture that the preference requires or prefers., type: str, returned: always}
    topology: {description: CPU topology of VMs with this preference., type: str, returned: always}
    catalog: *catalog
    catalog_version: *catalog_version
    managed_by: *managed_by
    deprecated: *deprecated
    state: *state
    replacement: *replacement
    obsolete_from: *obsolete_from
    icon: *icon
    docs_url: *docs_url
    support_url: *support_url
    tags: *tags
    used_by: *used_by
    labels: *labels
    annotations: *annotations
    generation: *generation
    spec: *spec
catalogs:
  description: The catalogs, with C(name) (empty for objects without a catalog), the numbers of C(instancetypes) and
    C(preferences), and C(versions), the number of objects of each version. More than one version means an incomplete
    upgrade, or kept objects.
  returned: always
  type: list
  elements: dict
limits:
  description: The limits that the option O(virtshape.instancetypes.catalog#module:limits) has set, with
    C(instancetypes) and C(preferences) as the names that they permit. Null if the user may not read
    ValidatingAdmissionPolicies.
  returned: always
  type: list
  elements: dict
common_instancetypes_deployment:
  description: Whether C(virt-operator) deploys the common instancetypes (C(enabled), null if the KubeVirt object cannot
    be read), and how many of the C(objects) read it manages.
  returned: always
  type: dict
  sample: {enabled: true, objects: 119}
matrix:
  description: Which instancetype satisfies which preference.
  returned: always
  type: dict
  contains:
    fits:
      description: For each instancetype the names of the preferences that it satisfies, with the namespace if any.
      type: dict
      returned: always
    incompatible:
      description: The pairs that do not fit, with C(instancetype), C(preference), C(reasons), in KubeVirt's words, and
        C(sign), V(c) for too few vCPUs, V(m) for too little memory, V(b) for both, V(s) for vCPUs that are not
        divisible as preferred.
      type: list
      elements: dict
      returned: always
    unsatisfied:
      description: Names of the preferences that no instancetype satisfies.
      type: list
      elements: str
      returned: always
    wrong_labels:
      description: Labels that differ from the spec, such as C(instancetype.kubevirt.io/cpu), with C(kind), C(name),
        C(label), C(value), C(field) and C(actual), the value of the field.
      type: list
      elements: dict
      returned: always
    deprecated_objects:
      description: The deprecated and obsolete objects, with C(kind), C(namespace), C(name), C(state), C(replacement),
        C(obsolete_from), C(problems) of the replacement, and C(changes) (C(field), C(before), C(after)) of the VMI spec
        of a VM that moves to the replacement.
      returned: always
      type: list
      elements: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.module_utils import _python  # noqa: F401  # pylint: disable=unused-import
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.adapter import run_module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.modules.catalog_info import module
from ansible_collections.virtshape.instancetypes.plugins.module_utils._governance.cluster.limits import read_limits
from ansible_collections.virtshape.instancetypes.plugins.module_utils._matrix.cluster.additions import read_matrix

MODULE = module(
    matrix=read_matrix,
    limits=read_limits,
)


def main() -> None:
    run_module(MODULE)


if __name__ == "__main__":
    main()
