"""Keeps the choice for the workload of a VM in an annotation.

The same options give the same choice as long as the VM exists, even if the catalog or the boot sources change.
"""

from __future__ import annotations

import json
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.keys import WORKLOAD_ANNOTATION
from .._resolver.api.manifest import Manifest, Options
from .._resolver.api.matcher import MATCHER_FIELDS

CHOSEN_OPTIONS: Final = ("boot", *(matcher_field.name for matcher_field in MATCHER_FIELDS))
"""The options that are chosen."""
_EXPLANATIONS: Final = ("reasons", "others")


class StoredChoice(NamedTuple):
    """The content of the annotation. size: the keys of the option that were set. choice: see `workload.resolve`."""

    workload: str
    size: Options
    choice: Options


def stored_choice(live: Manifest) -> StoredChoice | None:
    """The choice that the VM keeps; None if it was declared without workload. Raises FieldError if it is unreadable."""
    text = (live["metadata"].get("annotations") or {}).get(WORKLOAD_ANNOTATION)
    if text is None:
        return None
    try:
        content = json.loads(text)
        choice = {name: content[name] for name in (*CHOSEN_OPTIONS, *_EXPLANATIONS) if name in content}
        choice.update(reasons=list(choice["reasons"]), others=dict(choice["others"]))
        result = StoredChoice(str(content["workload"]), dict(content["size"]), choice)
        if all(isinstance(choice[matcher_field.name]["name"], str) for matcher_field in MATCHER_FIELDS):
            return result
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise FieldError(
        f"metadata.annotations[{WORKLOAD_ANNOTATION}]",
        "is not what this collection wrote; set boot, instancetype and preference instead of workload",
    )


def explained(vm: Manifest) -> tuple[list[str], dict[str, Any]]:
    """The choice for the workload of a VM with its reasons: lines, and facts; nothing for a VM without a workload."""
    stored = stored_choice(vm)
    if stored is None:
        return [], {}
    others = [f"other {option}: {', '.join(names)}" for option, names in stored.choice["others"].items() if names]
    lines = [f"workload {stored.workload}: {line}" for line in (*stored.choice["reasons"], *others)]
    return lines, {"workload": {"workload": stored.workload, "size": stored.size, **stored.choice}}
