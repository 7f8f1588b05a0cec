# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: upgrade_page
short_description: Show the rehearsal of an upgrade, as a page
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Shows the result of M(virtshape.instancetypes.upgrade_info).
  - The page is one HTML file without scripts and without external resources.
options:
  _input:
    description:
      - Result of M(virtshape.instancetypes.upgrade_info).
    type: dict
    required: true
  title:
    description:
      - Heading of the page.
    type: str
    default: Upgrade
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
- name: Write the rehearsal of an upgrade as a page
  ansible.builtin.copy:
    content: >-
      {{ lookup('ansible.builtin.file', 'upgrade.json') | from_json
         | virtshape.instancetypes.upgrade_page(scope='namespace shop') }}
    dest: upgrade.html
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

_ORIGIN = "module upgrade_info"


def upgrade_page(value: Any, title: Any = "Upgrade", scope: Any = "all namespaces", rows: Any = 1000) -> str:
    """See DOCUMENTATION."""
    found = checked_result("upgrade", value, _ORIGIN)
    return result_page("upgrade", found, _ORIGIN, str(title), scope, rows)


class FilterModule:
    def filters(self) -> dict:
        return netted({"upgrade_page": upgrade_page})
