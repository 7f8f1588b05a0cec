"""Why a template is refused, in one line without the VM, which has secrets, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from ...api.names import nearest
from .process import TemplateError


def refusal(errors: Iterable[TemplateError], known: Iterable[str]) -> str:
    """known: the names of the template's parameters."""
    return "; ".join(_described(error, list(known)) for error in errors)


def _described(error: TemplateError, known: list[str]) -> str:
    if error.stage == "merge":
        return f"{error.detail}{nearest(error.value, known)}"
    if error.stage == "references" and error.field == "spec.virtualMachine" and error.value:
        return (
            f"{error.field}: {error.detail}; define it in spec.parameters, or write ${{DOLLAR}}{{{error.value}}} with a"
            " parameter DOLLAR of the value $ if the guest shall read it"
        )
    text = f"{error.field}: {error.detail}" if error.detail else f"{error.field}: {error.value} is there twice"
    return f"{text}; give it in parameters" if error.type == "FieldValueRequired" else text
