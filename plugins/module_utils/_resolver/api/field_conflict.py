"""How a task says that declared fields are another field manager's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def refusal(fields: Mapping[str, Iterable[str]]) -> str:
    """One line about fields, by manager, that are somebody else's, with the remedy."""
    told = "; ".join(f'"{owner}" owns {", ".join(sorted(names))}' for owner, names in sorted(fields.items()))
    return (
        f"another field manager owns declared fields: {told}; remove the fields from the task, or set"
        " force_conflicts to take them over"
    )
