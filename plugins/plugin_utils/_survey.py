# Copyright: the virtshape.instancetypes authors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What the answers of a survey mean once YAML has read them again."""

from __future__ import annotations

from datetime import date
from typing import Any

from ansible.errors import AnsibleFilterError


def text(name: str, value: Any) -> str:
    """The text that was answered; empty for no answer.

    A number or date becomes its usual spelling. Strings are returned unchanged but for blanks around them, so a mark
    as unsafe stays. Raises AnsibleFilterError for a boolean, whose spelling is lost, and for what is no scalar.
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
    """The texts of an answer, split at a separator unless that is empty; a list stays a list. Without empty texts."""
    if isinstance(value, (list, tuple)):
        found = [text(name, entry) for entry in value]
    else:
        whole = text(name, value)
        found = [part.strip() for part in whole.split(separator)] if separator else [whole]
    return [entry for entry in found if entry]
