# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: modernize
short_description: Convert manifests of earlier KubeVirt releases, presets and OpenShift Templates
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Rewrites flavors (C(flavor.kubevirt.io/v1alpha1)) and instancetypes and preferences of C(v1alpha1) and C(v1alpha2)
    to C(instancetype.kubevirt.io/v1beta1), a VM's C(spec.flavor) to C(spec.instancetype), its C(spec.running) to
    C(spec.runStrategy), and deprecated fields and values of preferences to their replacements.
  - The converted manifest gives the same VM as the old manifest. Therefore the filter removes fields that the old
    version did not know, and values that the old version ignored.
  - There is one exception. C(preferredUseSecureBoot) becomes part of the replacement of C(preferredUseEfi), and no
    longer applies to VMs that choose EFI without setting secure boot.
  - An OpenShift Template of one VM becomes a VirtualMachineTemplate, as by the filter
    P(virtshape.instancetypes.template_convert#filter). A VM with O(presets) becomes one that needs none. With
    O(catalog), VMs and templates get an instancetype and a preference.
  - Manifests of other kinds and current manifests stay unchanged. A field that cannot be converted, such as the
    profiles of the first flavors, is an error.
  - Works offline, on one manifest or on a list.
options:
  _input:
    description: A manifest, or a list of manifests.
    type: raw
    required: true
  kubevirt_version:
    description:
      - The oldest release of KubeVirt that must support the result, such as V(1.3). The filter makes only replacements
        that this release supports.
    type: str
  presets:
    description:
      - Manifests of VirtualMachineInstancePresets. A VM gets what those of its namespace that match its labels give to
        its VMI, which KubeVirt does to CPU, resource requests, firmware, clock, features, watchdog and IO threads that
        the VMI lacks. A preset without a namespace counts for all VMs.
      - The new VM has the annotation that excludes it from presets, because these would change it again.
      - Presets that match a VM and contradict each other are an error, because KubeVirt does not start such a VM.
    type: list
    elements: dict
    default: []
  catalog:
    description:
      - V(builtin) for the built-in catalog, or a list of manifests of instancetypes and preferences.
      - A VM without an instancetype, also that of a template, gets those with which its VMI is the same, or else the
        nearest that KubeVirt accepts; RV(_value.differences) says in what the VMI differs then. Equal VMIs come
        before a preference, so a VM may get none.
      - If the annotation C(vm.kubevirt.io/os) of the VMI names an operating system, as in Templates, only the
        preferences of that name count.
      - By default VMs keep their CPU and memory.
    type: raw
"""

EXAMPLES = r"""
- name: Bring a preference up to date
  ansible.builtin.debug:
    msg: "{{ (preference | virtshape.instancetypes.modernize).manifest }}"
  vars:
    preference:
      apiVersion: instancetype.kubevirt.io/v1alpha2
      kind: VirtualMachinePreference
      metadata: {name: windows, namespace: shop}
      spec:
        cpu: {preferredCPUTopology: preferCores}
        firmware: {preferredUseEfi: true, preferredUseSecureBoot: true}

- name: Tell what has to change in old manifests
  ansible.builtin.debug:
    msg: "{{ old | virtshape.instancetypes.modernize | map(attribute='changes') | flatten }}"
  vars:
    old:
      - apiVersion: flavor.kubevirt.io/v1alpha1
        kind: VirtualMachineClusterFlavor
        metadata: {name: large}
        spec: {cpu: {guest: 8}, memory: {guest: 16Gi}}
      - apiVersion: kubevirt.io/v1
        kind: VirtualMachine
        metadata: {name: web, namespace: shop}
        spec:
          running: true
          flavor: {name: large, kind: VirtualMachineClusterFlavor}
          template: {spec: {domain: {devices: {}}}}

- name: A VM that got its size from a preset
  ansible.builtin.debug:
    msg: "{{ vm | virtshape.instancetypes.modernize(presets=[preset], catalog='builtin') }}"
  vars:
    preset:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachineInstancePreset
      metadata: {name: small, namespace: shop}
      spec:
        selector: {matchLabels: {size: small}}
        domain: {resources: {requests: {memory: 2Gi}}, devices: {}}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web, namespace: shop}
      spec:
        runStrategy: Always
        template:
          metadata: {labels: {size: small}}
          spec: {domain: {devices: {}}}
"""

RETURN = r"""
_value:
  description: The converted manifest and its changes, or a list if the input is a list.
  type: raw
  contains:
    manifest:
      description: The manifest in the current API.
      type: dict
    changes:
      description: The changes; empty for a current manifest.
      type: list
      elements: dict
      contains:
        path:
          description: The field.
          type: str
        before:
          description: Its value before.
          type: raw
        new_path:
          description: The field that replaces it. Empty if the manifest no longer has the field.
          type: str
        after:
          description: The new value.
          type: raw
        note:
          description: The reason for the change.
          type: str
    remaining:
      description: Deprecated fields that stay, because their replacement belongs to another object.
      type: list
      elements: dict
      contains:
        path:
          description: The field.
          type: str
        note:
          description: What to do about it.
          type: str
    guest_before:
      description: The guest before, as C(vcpus), C(sockets), C(cores), C(threads), C(memory), C(gpus), C(host_devices).
      returned: if the filter has chosen an instancetype
      type: dict
    guest_after:
      description: The guest with instancetype and preference.
      returned: if the filter has chosen an instancetype
      type: dict
    differences:
      description: Every field in which the VMI differs; empty if it is the same.
      returned: if the filter has chosen an instancetype
      type: list
      elements: dict
      contains:
        field:
          description: Path from the VMI's spec.
          type: str
        before:
          description: Its value before.
          type: raw
        after:
          description: Its value with instancetype and preference.
          type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("modernize")
