"""The disks and networks that a VM loses as a whole, because its task does not declare them any more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..api.manifest import Manifest
from ..api.name_rules import first_names
from ..api.tree import value_at
from . import plan
from .plan import Plan

_SHOWN: Final = 3
_POD: Final = ("spec", "template", "spec")
# Without these, a guest has no disks and no networks: the field → its words. Disks and templates go with volumes.
_PARTS: Final[Mapping[tuple[str, ...], str]] = {(*_POD, "volumes"): "volumes", (*_POD, "networks"): "networks"}


def loss(step: Plan, live: Manifest) -> str:
    """The warning of a plan that takes all volumes or all networks from a VM; "" if it takes none.

    A task that declares a part of a VM with the field manager of the whole removes the rest.
    """
    taken = {path: words for path, words in _PARTS.items() if value_at(step.before, path)}
    if not taken:
        return ""
    after = plan.merged(step, live)
    lost = [
        f"all {words} ({first_names(_names(live, path), _SHOWN)})"
        for path, words in taken.items()
        if not value_at(after, path)
    ]
    if not lost:
        return ""
    remedy = "declare them, or give a task that declares only a part of the VM a field_manager of its own"
    return f"the VM loses {', '.join(lost)}, because the task does not declare them; {remedy}"


def _names(live: Manifest, path: tuple[str, ...]) -> list[str]:
    entries: list[dict[str, Any]] = value_at(live, path) or []
    return [str(entry["name"]) for entry in entries]
