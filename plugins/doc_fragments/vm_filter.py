# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations


class ModuleDocFragment:
    """The options of filters over VMs."""

    DOCUMENTATION = r"""
options:
  _input:
    description: Manifest of a VirtualMachine, or a list of them.
    type: raw
    required: true
  instancetype:
    description:
      - Manifest of the instancetype, or its bare spec, in place of the one that the VM names.
    type: dict
  preference:
    description:
      - Manifest of the preference, or its bare spec, in place of the one that the VM names.
    type: dict
  objects:
    description:
      - Manifests among which the instancetype, the preference and the ControllerRevisions that the VM names are
        looked up.
    type: list
    elements: dict
    default: []
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
notes:
  - Names, labels, quantities and other values that no cluster takes are an error, as in the modules.
  - Works offline, on one VM or on a list of VMs.
"""
