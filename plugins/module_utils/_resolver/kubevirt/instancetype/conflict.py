"""The fields that both a VM and its instancetype set (KubeVirt ``pkg/instancetype/conflict``).

A conflict is the field's path in the VMI's spec (``domain.cpu.sockets``); an annotation is ``annotations.KEY``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...api import behaviour
from ...api.errors import KubeVirtError
from ...api.release import NEWEST, Release

TEMPLATE_PREFIX = "spec.template.spec"
VMI_PREFIX = "spec"


class ConflictError(KubeVirtError):
    """A VM sets fields that its instancetype sets, too.

    The message is the same as KubeVirt's for expand-spec and for the capture of a revision.

    conflicts: the fields, in KubeVirt's order.
    """

    def __init__(self, conflicts: Sequence[str], release: Release) -> None:
        super().__init__(
            release.pick(behaviour.CONFLICT_LIST).format(paths=", ".join(paths(conflicts))), "BadRequest", 400
        )
        self.conflicts = tuple(conflicts)


def full_path(conflict: str, prefix: str = TEMPLATE_PREFIX) -> str:
    """The path in the VM, or with another prefix in the VMI."""
    return conflict if conflict.startswith("annotations.") else f"{prefix}.{conflict}"


def paths(conflicts: Iterable[str], prefix: str = TEMPLATE_PREFIX) -> list[str]:
    """Full paths, in KubeVirt's order."""
    return [full_path(conflict, prefix) for conflict in conflicts]


def cause_message(conflict: str, release: Release = NEWEST) -> str:
    """virt-api's message for a conflict when it rejects the VM."""
    return release.pick(behaviour.CONFLICT_CAUSE).format(path=full_path(conflict))


def controller_message(conflicts: Iterable[str], kind: str = "VMI") -> str:
    """virt-controller's message when conflicts prevent the start of the VM, or an update of its guest."""
    return f"{kind} conflicts with instancetype spec in fields: [{', '.join(paths(conflicts, VMI_PREFIX))}]"
