# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: infer
short_description: Infer instancetype and preference of a VM from its volumes
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - A VM may take instancetype and preference from the labels of a volume (C(inferFromVolume)). The filter follows the
    volume like KubeVirt when it creates the VM, from DataVolume to DataSource, PersistentVolumeClaim or VolumeSnapshot,
    and returns the VM with the names instead of C(inferFromVolume).
  - A volume without labels is an error with KubeVirt's message, unless the VM's C(inferFromVolumeFailurePolicy) is
    V(Ignore).
  - Works offline, on one VM or on a list of VMs.
positional: objects
options:
  _input:
    description: Manifest of a VirtualMachine, or a list of manifests.
    type: raw
    required: true
  objects:
    description:
      - Manifests of PersistentVolumeClaims, DataVolumes, DataSources and VolumeSnapshots.
    type: list
    elements: dict
    required: true
  kubevirt_version:
    description:
      - The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest release
        that this collection knows.
    type: str
  accept_unknown_fields:
    description:
      - Whether to accept fields that this collection does not know. By default such a field is an error that suggests
        the closest known field.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Which instancetype will it be?
  ansible.builtin.debug:
    msg: "{{ (vm | virtshape.instancetypes.infer([disk])).spec.instancetype.name }}"
  vars:
    disk:
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata:
        name: root
        namespace: shop
        labels: {instancetype.kubevirt.io/default-instancetype: u1.medium}
    vm:
      apiVersion: kubevirt.io/v1
      kind: VirtualMachine
      metadata: {name: web, namespace: shop}
      spec:
        instancetype: {inferFromVolume: root}
        template:
          spec:
            domain: {devices: {}}
            volumes: [{name: root, persistentVolumeClaim: {claimName: root}}]
"""

RETURN = r"""
_value:
  description: The manifest in canonical form, or a list if the input is a list.
  type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("infer", "vm")
