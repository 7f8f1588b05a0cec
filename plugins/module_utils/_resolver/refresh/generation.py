"""Why and how to raise a VM's generation before a refresh by the status."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..api.matcher import ROLES, Role
from ..instancetype.vmi.outstanding import start_revision_name

Manifest = dict[str, Any]


# An annotation of the VM's template, which is set and removed at once.
MARK: Final = "instancetypes.virtshape.io/refresh"
# Merge patches that raise a VM's generation by two and leave its spec unchanged.
RAISE: Final[tuple[Manifest, ...]] = tuple(
    {"spec": {"template": {"metadata": {"annotations": {MARK: value}}}}} for value in ("begun", None)
)


def captured_name(vm: Manifest, role: Role) -> str:
    """The revision to which a VM refers, by its status or (up to KubeVirt 1.4) its spec; "" for none."""
    reference = role.reference_of(vm)
    if reference:
        return str((reference.get("controllerRevisionRef") or {}).get("name") or "")
    return str((role.matcher_of(vm) or {}).get("revisionName") or "")


def started_as_it_is(vm: Manifest, revisions: Iterable[Manifest]) -> bool:
    """Whether the guest was started from the VM's current generation, so that a refresh by the status must raise it."""
    name = start_revision_name(vm)
    return any(one["metadata"]["name"] == name for one in revisions)


def ends_unclean(vm: Manifest, start: Manifest | None) -> bool:
    """Whether RestartRequired would outlive a restart.

    KubeVirt keeps the start revision of a generation, although the VM has captured other revisions since. start: the
    start revision of the VM's current generation, or None.
    """
    if start is None:
        return False
    spec = (start.get("data") or {}).get("spec") or {}
    return any(
        role.matcher_of(vm) and (spec.get(role.matcher) or {}).get("revisionName", "") != captured_name(vm, role)
        for role in ROLES
    )
