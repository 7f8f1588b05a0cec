# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: survey_text
short_description: Read the answer to a survey question as text
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - AWX marks answers as unsafe, and ansible-core 2.19 and later then parses them as YAML without quotes. An empty
    answer becomes null, V(7) a number, V(2026-01-01) a date. This filter makes them text again.
  - What YAML has changed stays changed. V(1.10) becomes V(1.1), and V(010) becomes V(8).
  - Returns strings without surrounding blanks.
  - A boolean is an error, because V(on), V(yes) and V(true) become the same value. Use
    C(bool) for an answer that is a boolean.
options:
  _input:
    description: The answer.
    type: raw
    required: true
seealso:
  - plugin: virtshape.instancetypes.survey_list
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Take the default where nothing was answered
  ansible.builtin.debug:
    msg: "{{ (release | virtshape.instancetypes.survey_text) or 'v1.7.0' }}"
  vars:
    release: null
"""

RETURN = r"""
_value:
  description: The text; empty without an answer.
  type: str
"""

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._survey import text


def survey_text(value: Any) -> str:
    """See DOCUMENTATION."""
    return text("survey_text", value)


class FilterModule:
    def filters(self) -> dict:
        return netted({"survey_text": survey_text})
