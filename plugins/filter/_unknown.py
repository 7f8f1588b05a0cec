# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _unknown
short_description: Internal - misspelt variables of a role or playbook
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For roles and playbooks of this collection only; it may change in any release.
  - Returns a message for each variable that a role or playbook does not have.
positional: of, known
options:
  _input:
    description: Names of variables that begin with the name of the role or playbook.
    type: list
    elements: str
    required: true
  of:
    description: V(role) or V(playbook), and its name.
    type: str
    required: true
  known:
    description: The names of its variables, as a list or as the keys of a dictionary.
    type: raw
    required: true
  near:
    description: Whether to return only names that are similar to one of O(known), for a prefix that others use too.
    type: bool
    default: false
"""

RETURN = r"""
_value:
  description: The messages.
  type: list
  elements: str
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_unknown")
