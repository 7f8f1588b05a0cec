"""The message for declared fields that another field manager owns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def refusal(fields: Mapping[str, Iterable[str]]) -> str:
    """One line about the fields that other managers own, by manager, with the remedy."""
    told = "; ".join(f'"{owner}" owns {", ".join(sorted(names))}' for owner, names in sorted(fields.items()))
    return (
        f"another field manager owns declared fields: {told}; remove the fields from the task, or set"
        " force_conflicts to take them over"
    )
