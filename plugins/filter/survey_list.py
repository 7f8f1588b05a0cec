# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: survey_list
short_description: Read the answer to a survey question as a list of texts
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Converts V(a,b), from a survey or C(-e), or a list to a list of texts. Each entry is read like
    P(virtshape.instancetypes.survey_text#filter).
  - Removes blanks around entries and empty entries. Without an answer the list is empty.
options:
  _input:
    description: The answer.
    type: raw
    required: true
  separator:
    description: Separator of the values in a text. With an empty separator, the whole text is one value.
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
