"""The fields that both a VM and its instancetype set (KubeVirt ``pkg/instancetype/conflict``).

A conflict is the field's path in the VMI's spec (``domain.cpu.sockets``); an annotation is ``annotations.KEY``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...api.release import NEWEST, Release
from ...api.tree import copy

TEMPLATE_PREFIX = "spec.template.spec"
VMI_PREFIX = "spec"


def set_or_conflict(source: dict[str, Any], target: dict[str, Any], field: str, parent: str = "") -> list[str]:
    """Takes over a field of an instancetype if it is set; a conflict if the VM sets it too.

    parent: the path of the target, with a dot at its end.
    """
    if field not in source:
        return []
    if field in target:
        return [f"{parent}{field}"]
    target[field] = copy(source[field])
    return []


def full_path(conflict: str, prefix: str = TEMPLATE_PREFIX) -> str:
    """The path in the VM, or with another prefix in the VMI."""
    return conflict if conflict.startswith("annotations.") else f"{prefix}.{conflict}"


def paths(conflicts: Iterable[str], prefix: str = TEMPLATE_PREFIX) -> list[str]:
    """Full paths, in KubeVirt's order."""
    return [full_path(conflict, prefix) for conflict in conflicts]


def cause_message(conflict: str, release: Release = NEWEST) -> str:
    """virt-api's message for a conflict when it rejects the VM."""
    return release.conflict_cause.format(path=full_path(conflict))


def webhook_message(conflicts: Iterable[str], release: Release = NEWEST) -> str:
    """The message of expand-spec, and of the capture of a revision, for all conflicts."""
    return release.conflict_list.format(paths=", ".join(paths(conflicts)))


def controller_message(conflicts: Iterable[str], kind: str = "VMI") -> str:
    """virt-controller's message when conflicts prevent the start of the VM, or an update of its guest."""
    return f"{kind} conflicts with instancetype spec in fields: [{', '.join(paths(conflicts, VMI_PREFIX))}]"
