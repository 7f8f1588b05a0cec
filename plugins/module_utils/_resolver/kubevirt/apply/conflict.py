"""The fields that both a VM and its instancetype set (KubeVirt ``pkg/instancetype/conflict``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...api.release import NEWEST, Release

TEMPLATE_PREFIX = "spec.template.spec"
VMI_PREFIX = "spec"


class Conflict(NamedTuple):
    """A conflicting field.

    path: relative to the VMI spec (``domain.cpu.sockets``); an annotation is ``annotations.KEY`` without a prefix.
    """

    path: str

    def full_path(self, prefix: str = TEMPLATE_PREFIX) -> str:
        return self.path if self.path.startswith("annotations.") else f"{prefix}.{self.path}"


def paths(conflicts: Iterable[Conflict], prefix: str = TEMPLATE_PREFIX) -> list[str]:
    """Full paths, in KubeVirt's order."""
    return [conflict.full_path(prefix) for conflict in conflicts]


def cause_message(conflict: Conflict, release: Release = NEWEST) -> str:
    """virt-api's message for a conflict when it rejects the VM."""
    return release.conflict_cause.format(path=conflict.full_path())


def webhook_message(conflicts: Iterable[Conflict], release: Release = NEWEST) -> str:
    """The message of expand-spec, and of the capture of a revision, for all conflicts."""
    return release.conflict_list.format(paths=", ".join(paths(conflicts)))


def controller_message(conflicts: Iterable[Conflict]) -> str:
    """virt-controller's message when conflicts prevent the start of the VM."""
    return f"VMI conflicts with instancetype spec in fields: [{', '.join(paths(conflicts, VMI_PREFIX))}]"
