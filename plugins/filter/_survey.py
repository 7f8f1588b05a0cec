# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: _survey
short_description: Internal - the answer to a question of a survey
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - For roles and playbooks of this collection only; it may change in any release.
  - AWX marks answers as unsafe, and ansible-core 2.19 and later then parses them as YAML without quotes. An empty
    answer becomes null, V(7) a number, V(2026-01-01) a date. This filter makes them text again.
  - What YAML has changed stays changed. V(1.10) becomes V(1.1), and V(010) becomes V(8). A boolean is an error, because
    V(on), V(yes) and V(true) become the same value.
  - Removes surrounding blanks.
positional: separator
options:
  _input:
    description: The answer.
    type: raw
    required: true
  separator:
    description:
      - Separator of the values in an answer that is a list of texts. With an empty separator, a text is one value.
      - Without it, the answer is one text.
    type: str
"""

RETURN = r"""
_value:
  description: The text, which is empty without an answer; with O(separator) a list without empty entries.
  type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("_survey")
