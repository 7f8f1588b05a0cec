# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which VMs a task is about; `_cluster/modules/shared_options.py` has the same options."""

from __future__ import annotations


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  namespace:
    description: Namespace of the VMs. Default is all namespaces.
    type: str
  names:
    description: Names of the VMs. Requires O(namespace). Default is all VMs.
    type: list
    elements: str
    aliases: [name]
  label_selectors:
    description: Label selectors that the VMs must all match.
    type: list
    elements: str
    default: []
"""
