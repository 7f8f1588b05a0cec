"""Why and how to raise a VM's generation before a refresh by the status."""

from __future__ import annotations

from typing import Any, Final

from ..api.matcher import ROLES, Role
from ..kubevirt.vmi.outstanding import start_revision_name
from .revisions import Revisions

Manifest = dict[str, Any]


# An annotation of the VM's template, which is set and removed at once.
MARK: Final = "instancetypes.virtshape.io/refresh"
# Merge patches that raise a VM's generation by two and leave its spec unchanged.
RAISE: Final[tuple[Manifest, ...]] = tuple(
    {"spec": {"template": {"metadata": {"annotations": {MARK: value}}}}} for value in ("begun", None)
)


def raising(vm: Manifest) -> tuple[Manifest, ...]:
    """The merge patches that raise the generation of a VM: RAISE, or only the second if an interrupted run sent the
    first.
    """
    return RAISE[1:] if is_marked(vm) else RAISE


def is_marked(vm: Manifest) -> bool:
    """Whether a run was interrupted between the patches that raise the generation of a VM."""
    metadata = vm["spec"].get("template", {}).get("metadata") or {}
    return MARK in (metadata.get("annotations") or {})


def captured_name(vm: Manifest, role: Role) -> str:
    """The revision to which a VM refers, by its status or (up to KubeVirt 1.4) its spec; "" for none."""
    reference = role.reference_of(vm)
    if reference:
        return str((reference.get("controllerRevisionRef") or {}).get("name") or "")
    return str((role.matcher_of(vm) or {}).get("revisionName") or "")


def must_rise(vm: Manifest, revisions: Revisions) -> bool:
    """Whether a refresh by the status must raise the generation: the guest was started from it, or is_marked."""
    return is_marked(vm) or start_revision_name(vm) in revisions.by_name


def ends_unclean(vm: Manifest, start: Manifest | None) -> bool:
    """Whether RestartRequired would outlive a restart, or the mark of an interrupted run would.

    KubeVirt keeps the start revision of a generation, although the VM has captured other revisions since. start: the
    start revision of the VM's current generation, or None.
    """
    if is_marked(vm):
        return True
    if start is None:
        return False
    spec = (start.get("data") or {}).get("spec") or {}
    return any(
        role.matcher_of(vm) and (spec.get(role.matcher) or {}).get("revisionName", "") != captured_name(vm, role)
        for role in ROLES
    )
