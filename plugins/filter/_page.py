# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _page
short_description: Internal - a report as a page
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For roles and playbooks of this collection only; it may change in any release.
  - The page is one HTML file without scripts and without external resources.
positional: name
options:
  _input:
    description: The data of the report.
    type: dict
    required: true
  name:
    description:
      - V(fleet) for what P(virtshape.instancetypes._fleet#filter) returns, V(refresh) for the result of the role
        P(virtshape.instancetypes.revision_refresh#role), V(upgrade) for that of
        M(virtshape.instancetypes.upgrade_info).
    type: str
    choices: [fleet, refresh, upgrade]
    required: true
  title:
    description: Heading of the page.
    type: str
    required: true
  scope:
    description: Description of the VMs on the page.
    type: str
    default: all namespaces
  rows:
    description: Maximum number of lines of a table.
    type: int
    default: 1000
"""

RETURN = r"""
_value:
  description: The page.
  type: str
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_page")
