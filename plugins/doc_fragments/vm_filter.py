# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The options of filters over VMs."""

    DOCUMENTATION = r"""
options:
  _input:
    description: Manifest of a VirtualMachine, or a list of manifests.
    type: raw
    required: true
  instancetype:
    description: Manifest of an instancetype, or its bare spec, to use instead of the instancetype that the VM names.
    type: dict
  preference:
    description: Manifest of a preference, or its bare spec, to use instead of the preference that the VM names.
    type: dict
  objects:
    description: Manifests of the instancetype, the preference and the ControllerRevisions that the VM names. Default is
      the built-in catalog, in the version for the release of KubeVirt.
    type: list
    elements: dict
  accept_unknown_fields:
    description: Whether to accept fields that this collection does not know. By default such a field is an error that
      suggests the closest known field.
    type: bool
    default: false
notes:
  - Names, labels, quantities and other values that every cluster rejects are an error, as in the modules.
  - Works offline, on one VM or on a list of VMs.
"""
    RELEASE = r"""
options:
  kubevirt_version:
    description: The release of KubeVirt whose behaviour to compute, such as V(1.6) or V(v1.5.2). Default is the newest
      release that this collection knows.
    type: str
"""
    # Options of filters over all VMs together.
    CLUSTER = r"""
options:
  kubevirt:
    description: The cluster's KubeVirt object. The filter uses its configuration and, without O(kubevirt_version), its
      release.
    type: dict
  objects:
    description: Manifests of the instancetypes, preferences and ControllerRevisions that the VMs name.
    type: list
    elements: dict
    default: []
  networks:
    description: The NetworkAttachmentDefinitions that the VMs use, for their devices.
    type: list
    elements: dict
  accept_unknown_fields:
    description: Whether to accept and ignore fields that this collection does not know.
    type: bool
    default: false
"""
