"""Fields that a VM sets although its instancetype decides them (KubeVirt ``pkg/instancetype/conflict``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...api.release import NEWEST, Release

TEMPLATE_PREFIX = "spec.template.spec"
VMI_PREFIX = "spec"


class Conflict(NamedTuple):
    """One conflicting field.

    path: relative to the VMI spec (``domain.cpu.sockets``); an annotation is ``annotations.KEY`` and takes no prefix.
    """

    path: str

    def full_path(self, prefix: str = TEMPLATE_PREFIX) -> str:
        return self.path if self.path.startswith("annotations.") else f"{prefix}.{self.path}"


def paths(conflicts: Iterable[Conflict], prefix: str = TEMPLATE_PREFIX) -> list[str]:
    """Full paths, in the order in which KubeVirt reports them."""
    return [conflict.full_path(prefix) for conflict in conflicts]


def cause_message(conflict: Conflict, release: Release = NEWEST) -> str:
    """virt-api's message of one conflict when it rejects the VM."""
    return release.conflict_cause.format(path=conflict.full_path())


def webhook_message(conflicts: Iterable[Conflict], release: Release = NEWEST) -> str:
    """What expand-spec and the capture of a revision say of all conflicts together."""
    return release.conflict_list.format(paths=", ".join(paths(conflicts)))


def controller_message(conflicts: Iterable[Conflict]) -> str:
    """What virt-controller says when it cannot start the VM."""
    return f"VMI conflicts with instancetype spec in fields: [{', '.join(paths(conflicts, VMI_PREFIX))}]"
