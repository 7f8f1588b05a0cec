"""What is particular to each sort of object that can be declared."""

from __future__ import annotations

from typing import Any

from .._resolver import virtual_machine
from .._resolver.matcher import ROLES
from .._resolver.ownership import Field
from .._resolver.readiness import readiness, same_status
from .catalog_subject import catalog_subject
from .declare import Subject
from .deletion import kept, remains
from .preflight import preflight
from .session import FIELD_MANAGER
from .watch import State

__all__ = ["instancetype_subject", "preference_subject", "virtual_machine_subject"]

Manifest = dict[str, Any]
Options = dict[str, Any]


def instancetype_subject(options: Options) -> Subject:
    return catalog_subject("instancetypes", options)


def preference_subject(options: Options) -> Subject:
    return catalog_subject("preferences", options)


def virtual_machine_subject(_options: Options) -> Subject:
    return Subject(
        plural="virtual machines",
        reconcile=_reconcile,
        preflight=preflight,
        look=_look,
        same=same_status,
        describe=_describe,
        kept=kept,
        remains=remains,
    )


def _reconcile(manifest: Manifest, live: Manifest | None) -> tuple[Manifest, set[Field] | None]:
    return virtual_machine.reconcile(manifest, live, FIELD_MANAGER)


def _look(live: Manifest | None) -> State:
    return State(*readiness(live))


def _describe(live: Manifest) -> dict[str, Any]:
    status, spec = live.get("status") or {}, live.get("spec") or {}
    told = {"status": status.get("printableStatus", ""), "run_strategy": spec.get("runStrategy", "")}
    for role in ROLES:
        reference = role.reference_of(live) or {}
        revision = (reference.get("controllerRevisionRef") or {}).get("name")
        if revision:
            told[f"{role.matcher}_revision"] = revision
    return told
