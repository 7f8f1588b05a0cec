"""Why a template is refused, in one line without the VM, which has secrets, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from ...api.names import nearest
from .process import Fault


def refusal(faults: Iterable[Fault], known: Iterable[str]) -> str:
    """known: the names of the template's parameters."""
    return "; ".join(_told(fault, list(known)) for fault in faults)


def _told(fault: Fault, known: list[str]) -> str:
    if fault.stage == "merge":
        return f"{fault.detail}{nearest(fault.value, known)}"
    if fault.stage == "references" and fault.field == "spec.virtualMachine" and fault.value:
        return (
            f"{fault.field}: {fault.detail}; define it in spec.parameters, or write ${{DOLLAR}}{{{fault.value}}} with a"
            " parameter DOLLAR of the value $ if the guest shall read it"
        )
    told = f"{fault.field}: {fault.detail}" if fault.detail else f"{fault.field}: {fault.value} is there twice"
    return f"{told}; give it in parameters" if fault.type == "FieldValueRequired" else told
