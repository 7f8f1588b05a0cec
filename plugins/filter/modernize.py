# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: modernize
short_description: Manifests of earlier KubeVirt releases in the form of today
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Rewrites flavors (C(flavor.kubevirt.io/v1alpha1)) and instancetypes and preferences of C(v1alpha1) and C(v1alpha2)
    to C(instancetype.kubevirt.io/v1beta1), a VM's C(spec.flavor) to C(spec.instancetype), its C(spec.running) to
    C(spec.runStrategy), and deprecated fields and values of preferences to what replaces them.
  - A modern manifest gives the same VM as the old one gave. Therefore fields go that the old version did not know, and
    values that it took for not set.
  - There is one exception. C(preferredUseSecureBoot) goes with C(preferredUseEfi), as KubeVirt wants it, but it also
    filled in VMs that choose EFI themselves without saying whether they boot securely.
  - Manifests of other kinds, and modern ones, come back as they are. What cannot be rewritten, such as the profiles of
    the first flavors, is an error that names the field.
  - Works offline. Works on one manifest or on a list of them.
options:
  _input:
    description: A manifest, or a list of them.
    type: raw
    required: true
  kubevirt_version:
    description:
      - The oldest release of KubeVirt that is to understand the result, such as V(1.3). Replacements that it does not
        know are not made.
    type: str
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
"""

RETURN = r"""
_value:
  description: What became of the manifest, or a list where a list was given.
  type: raw
  contains:
    manifest:
      description: The manifest as it is written today.
      type: dict
    changes:
      description: What was changed; empty for a modern manifest.
      type: list
      elements: dict
      contains:
        path:
          description: The field.
          type: str
        was:
          description: Its value before.
          type: raw
        now_path:
          description: The field that has its meaning now. Empty if the VM no longer exists.
          type: str
        now:
          description: The value there.
          type: raw
        note:
          description: Why, in a sentence.
          type: str
    left:
      description: What is deprecated and stays, as its replacement is another object's matter.
      type: list
      elements: dict
      contains:
        path:
          description: The field.
          type: str
        note:
          description: What to do about it.
          type: str
"""

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.catalog import modernize as resolver
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import answering, each, netted


def modernize(value: Any, kubevirt_version: Any = None) -> Any:
    """See DOCUMENTATION."""
    release = answering("modernize", kubevirt_version)
    return each("modernize", value, lambda manifest: _plain(resolver.modernize(manifest, release)))


def _plain(result: resolver.Modernized) -> dict[str, Any]:
    return {
        "manifest": result.manifest,
        "changes": [change._asdict() for change in result.changes],
        "left": [left._asdict() for left in result.left],
    }


class FilterModule:
    def filters(self) -> dict:
        return netted({"modernize": modernize})
