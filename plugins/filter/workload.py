# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: workload
short_description: Choose boot source, preference and instancetype of a workload
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Chooses what a VM needs from the name of its workload, such as V(fedora), V(rhel.9) or V(windows.11), and says why.
  - Each of the rules below has one answer or none. An ambiguous name or size is an error that lists the choices.
  - The B(preference) is the one with exactly the workload's name. Otherwise it is the default preference of the
    DataSource with this name (label C(instancetype.kubevirt.io/default-preference)), or the preference whose name or
    display name (annotation C(openshift.io/display-name)) is the same without case and punctuation, or the only
    preference with this tag (annotation C(tags)).
  - The B(boot source) is the DataSource with this default preference, of several the one with the workload's name.
    Otherwise it is the DataSource without a default preference that has the name of the workload or of the preference,
    without case and punctuation.
  - The B(instancetype) is the DataSource's default (label C(instancetype.kubevirt.io/default-instancetype)) if neither
    O(size), O(cpu), O(memory) nor O(performance) is set. Otherwise it is the smallest one of the class and size that
    meets the requirements of the preference.
  - A deprecated or obsolete object is chosen only as a default of a DataSource, or by the preference's own name.
  - Works offline.
options:
  _input:
    description: Name of the workload.
    type: str
    required: true
  size:
    description:
      - Size of the instancetype, such as V(medium).
      - The size is the label C(instancetype.kubevirt.io/size), or the part of the name after the last dot.
    type: str
  cpu:
    description: Minimum number of vCPUs.
    type: int
  memory:
    description: Minimum memory of the guest, a quantity such as V(4Gi).
    type: str
  performance:
    description:
      - Class of the instancetype, the label C(instancetype.kubevirt.io/class), such as V(dedicated.vcpu), or its part
        before the first dot, such as V(dedicated).
      - The class of an instancetype without this label is its series, the part of its name before the last dot.
      - Default is V(general.purpose), or the only class that exists.
    type: str
  data_sources:
    description:
      - Manifests of DataSources. Without this option, the filter chooses no boot source.
    type: list
    elements: dict
  objects:
    description:
      - Manifests of instancetypes and preferences. Default is the catalog that the collection contains.
    type: list
    elements: dict
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
"""

EXAMPLES = r"""
- name: What does Windows 11 need?
  ansible.builtin.debug:
    msg: "{{ choice.instancetype.name }}, because {{ choice.reasons | join(', ') }}"
  vars:
    choice: "{{ 'windows.11' | virtshape.instancetypes.workload }}"

- name: Declare a VM with dedicated CPUs
  virtshape.instancetypes.virtual_machine:
    name: web
    namespace: shop
    boot: "{{ choice.boot }}"
    preference: "{{ choice.preference }}"
    instancetype: "{{ choice.instancetype }}"
  vars:
    choice: "{{ 'rhel9' | virtshape.instancetypes.workload(cpu=2, performance='dedicated', data_sources=[image]) }}"
    image:
      apiVersion: cdi.kubevirt.io/v1beta1
      kind: DataSource
      metadata:
        name: rhel9
        namespace: golden-images
        labels: {instancetype.kubevirt.io/default-preference: rhel.9}
      spec: {source: {pvc: {name: rhel9, namespace: golden-images}}}
"""

RETURN = r"""
_value:
  description:
    - The choice. C(boot), C(preference) and C(instancetype) are options of
      M(virtshape.instancetypes.virtual_machine); C(boot) only with O(data_sources).
  type: dict
  contains:
    boot:
      description: The boot source, as C(data_source) with C(NAMESPACE/NAME).
      type: dict
    preference:
      description: Name and kind of the preference.
      type: dict
    instancetype:
      description: Name and kind of the instancetype.
      type: dict
    reasons:
      description: The reason for each choice, one line each.
      type: list
      elements: str
    others:
      description:
        - The names of the DataSources (C(boot)) and instancetypes (C(instancetype)) that would also do, best first.
      type: dict
    rejected:
      description: Why the other instancetypes of the class and size would not do, by name.
      type: dict
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("workload")
