# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Restores survey answers that YAML has parsed."""

from __future__ import annotations

from datetime import date
from typing import Any

from ansible.errors import AnsibleFilterError


def text(name: str, value: Any) -> str:
    """The answer as text; empty for no answer.

    Numbers and dates become text. Strings keep their mark as unsafe; surrounding blanks are removed.
    Raises AnsibleFilterError for a boolean, whose spelling is lost, and for lists and mappings.
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        raise AnsibleFilterError(
            f"{name}: expected a text, found the boolean {str(value).lower()}; YAML reads a bare on, off, yes, no, "
            "true and false as booleans: write such a name in a list, with a comma after it"
        )
    if isinstance(value, (int, float, date)):
        return str(value)
    raise AnsibleFilterError(f"{name}: expected a text, found {value!r}")


def texts(name: str, value: Any, separator: str) -> list[str]:
    """The answer as a list of texts, split at `separator` unless that is empty, without empty texts.

    A list stays a list.
    """
    if isinstance(value, (list, tuple)):
        found = [text(name, entry) for entry in value]
    else:
        whole = text(name, value)
        found = [part.strip() for part in whole.split(separator)] if separator else [whole]
    return [entry for entry in found if entry]
