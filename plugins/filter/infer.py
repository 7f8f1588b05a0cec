# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: infer
short_description: A VM with the instancetype and preference that its volumes ask for
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - A VM may leave instancetype and preference to the labels of one of its volumes (C(inferFromVolume)). The filter
    follows the volume as KubeVirt does when the VM is created, from DataVolume to DataSource, PersistentVolumeClaim or
    VolumeSnapshot, and gives the VM with the names in place of C(inferFromVolume).
  - A volume without labels is an error with KubeVirt's words, unless the VM's C(inferFromVolumeFailurePolicy) is
    V(Ignore).
  - Works offline. Works on one VM or on a list of VMs.
positional: objects
options:
  _input:
    description: Manifest of a VirtualMachine, or a list of them.
    type: raw
    required: true
  objects:
    description:
      - Manifests among which PersistentVolumeClaims, DataVolumes, DataSources and VolumeSnapshots are looked up.
    type: list
    elements: dict
    required: true
  kubevirt_version:
    description:
      - The release of KubeVirt that answers, such as V(1.6) or V(v1.5.2), where it would answer otherwise than the
        newest one that is known.
    type: str
  accept_unknown_fields:
    description:
      - Whether fields that this collection does not know are let through. Otherwise they are an error, which names the
        field that was probably meant.
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
  description: The manifest in canonical form, or a list of them where a list was given.
  type: raw
"""

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils import _questions as questions
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import (
    answering,
    each,
    gated,
    manifests,
    netted,
    truth,
)


def infer(value: Any, objects: Any, kubevirt_version: Any = None, accept_unknown_fields: Any = False) -> Any:
    """See DOCUMENTATION."""
    known = manifests("infer", "objects", objects)
    release = answering("infer", kubevirt_version)
    accept = truth("accept_unknown_fields", "infer", accept_unknown_fields)
    return each("infer", value, lambda vm: questions.infer(gated(vm, accept), known, release))


class FilterModule:
    def filters(self) -> dict:
        return netted({"infer": infer})
