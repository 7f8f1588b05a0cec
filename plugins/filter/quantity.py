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

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import QuantityError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.quantity import (
    Quantity,
    human,
    parse,
)
from ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filters import report_bugs

FORMS = ("integer", "canonical", "human", "human_decimal")


def quantity(value: Any, form: Any = "integer", compare: Any = None) -> Any:
    """See DOCUMENTATION."""
    if form not in FORMS:
        raise AnsibleFilterError(f"quantity: form: {form!r} is not a valid value; choose {' or '.join(FORMS)}")
    other = None if compare is None else _parsed(compare, "compare: ")

    def convert(entry: Any) -> Any:
        amount = _parsed(entry)
        if other is not None:
            return (amount.nanos > other.nanos) - (amount.nanos < other.nanos)
        if form == "integer":
            return amount.value
        return amount.text if form == "canonical" else human(amount.text, binary=form == "human")

    if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
        return [convert(entry) for entry in value]
    return convert(value)


def _parsed(value: Any, label: str = "") -> Quantity:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise AnsibleFilterError(f"quantity: {label}expected a quantity such as 512Mi, found {value!r}")
    try:
        return parse(str(value).strip())
    except QuantityError as error:
        raise AnsibleFilterError(
            f"quantity: {label}{value!r} is not a quantity; write a quantity such as 512Mi or 4G"
        ) from error


class FilterModule:
    def filters(self) -> dict:
        return report_bugs({"quantity": quantity})
