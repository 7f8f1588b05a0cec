# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: quantity
short_description: Convert and compare quantities
version_added: 1.0.0
author: virtshape.instancetypes contributors (@virtshape)
description:
  - Converts a quantity of Kubernetes, such as V(512Mi), V(1.5Gi), V(2G) or V(500m), to a number or to another spelling.
  - Parses and rounds like the API server. An invalid quantity is an error.
  - Works on one value or on a list.
positional: form
options:
  _input:
    description: A quantity, as text or as a number, or a list of quantities.
    type: raw
    required: true
  form:
    description:
      - V(integer) for the number of whole units (bytes, CPUs), rounded up.
      - V(canonical) for the spelling of the API server.
      - V(human) for at most two decimals with a binary suffix, V(human_decimal) with a decimal suffix. The result is a
        rounded quantity.
    type: str
    choices:
      - integer
      - canonical
      - human
      - human_decimal
    default: integer
  compare:
    description:
      - A quantity to compare with, instead of O(form). The result is V(-1) if the input is less, V(0) if it is equal in
        any spelling, and V(1) if it is more.
    type: raw
"""

EXAMPLES = r"""
- name: Sum up memory
  ansible.builtin.debug:
    msg: "{{ ['512Mi', '1.5Gi'] | virtshape.instancetypes.quantity | sum | virtshape.instancetypes.quantity('human') }}"

- name: Leave out what is too small
  ansible.builtin.assert:
    that: memory | virtshape.instancetypes.quantity(compare='4G') >= 0
  vars:
    memory: 4Gi
"""

RETURN = r"""
_value:
  description: A number for O(form=integer) and O(compare), else text; or a list if the input is a list.
  type: raw
"""

from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._deferred import deferred


class FilterModule:
    def filters(self) -> dict:
        return deferred("quantity")
