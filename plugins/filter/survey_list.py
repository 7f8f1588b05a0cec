# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: survey_list
short_description: Reads an answer of a survey as a list of texts
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Takes V(a,b), as a survey or C(-e) gives several values, or a list, and gives a list of texts. Each entry is
    read as by P(virtshape.instancetypes.survey_text#filter).
  - Blanks around entries and empty entries are left out, so no answer is an empty list.
options:
  _input:
    description: The answer.
    type: raw
    required: true
  separator:
    description: What separates the values of a text. With an empty separator, the whole text is one value.
    type: str
    default: ","
seealso:
  - plugin: virtshape.instancetypes.survey_text
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Show a namespace in each line
  ansible.builtin.debug:
    msg: "{{ item }}"
  loop: "{{ namespaces | virtshape.instancetypes.survey_list }}"
  vars:
    namespaces: shop, office

- name: A label selector may have commas of its own
  ansible.builtin.debug:
    msg: "{{ selector | virtshape.instancetypes.survey_list(separator='') }}"
  vars:
    selector: tier in (web,db)
"""

RETURN = r"""
_value:
  description: The values.
  type: list
  elements: str
"""

from typing import Any

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import netted
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._survey import texts


def survey_list(value: Any, separator: str = ",") -> list:
    """See DOCUMENTATION."""
    return texts("survey_list", value, separator)


class FilterModule:
    def filters(self) -> dict:
        return netted({"survey_list": survey_list})
