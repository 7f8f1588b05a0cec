"""The result of a reader, and functions for cells and figures that people and programs write in many ways."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import quoted
from ..machine import Machine, machine_of, without_absent

# Points and commas between groups of three digits; blanks and apostrophes too.
_GROUPED: Final = re.compile(r"[0-9]{1,3}(?:([.,'\u2019\u00a0\u202f ])[0-9]{3})(?:\1[0-9]{3})*")
_DECIMAL: Final = re.compile(r"([0-9]+(?:[.,'\u2019\u00a0\u202f ][0-9]{3})*)[.,]([0-9]+)")


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables of keys."""
    return frozenset(text.split())


# With the words that spreadsheet programs have in other languages.
_TRUE: Final = words(
    "true 1 yes y on wahr ja vrai oui verdadero vero waar verdadeiro prawda pravda sant sand sann tosi igaz adevărat"
)
_FALSE: Final = words(
    "false 0 no n off falsch nein faux non falso none onwaar fałsz nepravda falskt falsk usann epätosi hamis fals"
)

TPM_STATE: Final = "the state of its TPM, such as keys of encrypted disks"


@dataclass
class Reading:
    """The machines of a source. remarks: one line for each thing that could not be read, with its place.

    left_out: how many of the source's entries are no machines, by reason. ids: the machines' ids. unknown: fields of no
    known meaning, by what they are of.
    """

    machines: list[Machine] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    ids: set[str] = field(default_factory=set)
    unknown: defaultdict[str, dict[str, None]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, place: str, machine: Machine) -> None:
        """Adds a machine, without what the source does not tell. One with a wrong value is left out.

        place: the machine's place in the source, for remarks.
        """
        try:
            told = machine_of(without_absent(machine))
            if told["id"] in self.ids:
                raise FieldError("id", f"another machine has {quoted(told['id'])} too; read each export by itself")
        except FieldError as error:
            self.refuse(place, text_of(machine.get("name")), str(error))
            return
        self.ids.add(told["id"])
        self.machines.append(told)

    def refuse(self, place: str, name: str, problem: str) -> None:
        """Leaves out a machine that cannot be read, with a remark."""
        self.remarks.append(f"{place}: {problem}; the machine {quoted(name)} is left out")
        self.left_out["unreadable"] += 1


def text_of(cell: Any) -> str:
    """A cell as text; whole numbers without a decimal point."""
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell).strip()


def whole_of(cell: Any, grouped: bool = True) -> int:
    """A cell as a whole number, not negative. Raises ValueError with what is wrong.

    grouped: whether a separator before three digits groups them, as in ``34,321``. Elsewhere it is ambiguous.
    """
    if isinstance(cell, bool):
        raise ValueError(f"{quoted(cell)} is not a number")
    if isinstance(cell, (int, float)):
        if not math.isfinite(cell) or cell != int(cell) or cell < 0:
            raise ValueError(f"{quoted(cell)} is not a whole number")
        return int(cell)
    text = text_of(cell)
    if not text:
        raise ValueError("is empty")
    if text.startswith("="):
        raise ValueError(f"{quoted(text)} is a formula without a value; save the file with values")
    if re.fullmatch("[0-9]{1,18}", text, re.ASCII):
        return int(text)
    if _GROUPED.fullmatch(text):
        if not grouped:
            raise ValueError(f"{quoted(text)} may be a decimal or a thousand")
        return int(re.sub("[^0-9]", "", text))
    decimal = _DECIMAL.fullmatch(text)
    if decimal and not decimal[2].strip("0"):
        return int(re.sub("[^0-9]", "", decimal[1]))
    raise ValueError(f"{quoted(text)} is not a whole number")


def flag_of(cell: Any) -> bool | None:
    """A cell as a boolean; None if it is neither."""
    text = text_of(cell).lower()
    return True if text in _TRUE else False if text in _FALSE else None
