# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: refresh_page
short_description: Report on a refresh of many VMs, as a page
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Shows the outcome of the role P(virtshape.instancetypes.revision_refresh#role) for each VM, also in check mode.
  - The page is one HTML file without scripts and without external resources.
options:
  _input:
    description:
      - C(revision_refresh_result), which that role sets.
    type: dict
    required: true
  scope:
    description:
      - Description of the VMs on the page.
    type: str
    default: all namespaces
  rows:
    description:
      - Maximum number of rows of the table.
    type: int
    default: 1000
"""

EXAMPLES = r"""
- name: Write what a refresh has left in a file as a page
  ansible.builtin.copy:
    content: >-
      {{ lookup('ansible.builtin.file', 'revision-refresh.json') | from_json
         | virtshape.instancetypes.refresh_page(scope='namespace shop') }}
    dest: refresh.html
    mode: "0644"
"""

RETURN = r"""
_value:
  description: The page.
  type: str
"""

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._pages import checked_result, result_page

_ORIGIN = "role revision_refresh"


def refresh_page(value: Any, scope: Any = "all namespaces", rows: Any = 1000) -> str:
    """See DOCUMENTATION."""
    found = checked_result("refresh", value, _ORIGIN)
    title = "Revision refresh: plan" if found.get("check_mode") else "Revision refresh"
    return result_page("refresh", found, _ORIGIN, title, scope, rows)


class FilterModule:
    def filters(self) -> dict:
        return netted({"refresh_page": refresh_page})
