"""Instancetypes and preferences as objects to declare: which are left alone, and findings about their changes."""

from __future__ import annotations

from typing import Any

from ...._resolver.api import managed_fields as ownership
from ...._resolver.api.kinds import BY_NAME
from ...._resolver.api.matcher import key_of
from ...._resolver.api.release import Release
from ...._resolver.catalog.labels import OPERATOR, is_deployed
from ...._resolver.catalog.modernize import without_deprecated
from ...._resolver.catalog.upgrade import changes, predicted
from ...client.errors import ApiError, ConnectionFailed, explain
from ...client.session import FIELD_MANAGER, Session
from ...read.catalog_users import CatalogUsers, labels
from ...read.kubevirt import kubevirt
from ..kind_handler import Finding, KindHandler, Planned

Manifest = dict[str, Any]
Options = dict[str, Any]


class CatalogHandler(KindHandler):
    """Any instancetype or preference."""

    def describe(self, live: Manifest) -> dict[str, Any]:
        return {"generation": live["metadata"].get("generation")}


class DeclaredTypeHandler(CatalogHandler):
    """The instancetypes or preferences of a task.

    options: of the task: `existing`, `keep` or `apply`; `force`: delete objects that VMs use.
    """

    def __init__(self, plural: str, options: Options) -> None:
        super().__init__(plural)
        self._existing = options["existing"]
        self._force = bool(options.get("force"))

    def skip_reason(self, live: Manifest) -> str | None:
        return skip_reason(live, self._existing)

    def preflight(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        users = CatalogUsers(session)
        release = kubevirt(session).release
        return [[*deprecated(step.plan.manifest, release), *_drift(users, step)] for step in planned]

    def deletion(self, session: Session, planned: list[Planned]) -> list[list[Finding]]:
        return deletion_findings(CatalogUsers(session), planned, self._force)


def skip_reason(live: Manifest, existing: str) -> str | None:
    """Why a live object is left unchanged, or None."""
    if is_deployed(live) or ownership.updated(live, OPERATOR):
        return f"{OPERATOR} manages the object and reverts other changes"
    if existing == "keep" and ownership.owned(live, FIELD_MANAGER) is None:
        return "the object exists and was not declared by this collection"
    return None


def deletion_findings(users: CatalogUsers, planned: list[Planned], force: bool) -> list[list[Finding]]:
    """Findings for objects that VMs use; none with `force`."""
    return [[] if force else _use(users, step) for step in planned]


def deprecated(manifest: Manifest, release: Release) -> list[Finding]:
    """A note for each deprecated field of an object, with its replacement in a release of KubeVirt."""
    modern = without_deprecated(manifest, release)
    lines = [
        f"{change.path} is deprecated or has no effect: "
        + (f"write {change.new_path}: {_words(change.after)}" if change.new_path else f"remove it. {change.note}")
        for change in modern.changes
    ]
    lines += [f"{field.path}: {field.note}" for field in modern.remaining]
    return [Finding(line, note=True) for line in lines]


def _drift(users: CatalogUsers, step: Planned) -> list[Finding]:
    if step.live is None:
        return []
    spec = predicted(step.plan.manifest, step.live, ownership.owned(step.live, FIELD_MANAGER))
    if not changes(step.live, spec):
        return []
    try:
        vms = users.drifting(key_of(step.live))
    except (ApiError, ConnectionFailed) as error:
        return [Finding(f"cannot tell which virtual machines use the object: {_reason(error)}", note=True)]
    if not vms:
        return []
    return [Finding(f"{labels(vms)} will drift: they keep their captured revision until they are refreshed", note=True)]


def _use(users: CatalogUsers, step: Planned) -> list[Finding]:
    if step.live is None:
        return []
    try:
        vms = users.vms_using(key_of(step.live))
    except (ApiError, ConnectionFailed) as error:
        return [
            Finding(
                f"cannot tell whether virtual machines use the object: {_reason(error)}; set force to delete it anyway"
            )
        ]
    if not vms:
        return []
    return [
        Finding(
            f"in use by {labels(vms)}; move these virtual machines to another object first, or set force to delete the"
            " object anyway"
        )
    ]


def _reason(error: ApiError | ConnectionFailed) -> str:
    return explain(error, "LIST", BY_NAME["VirtualMachine"])


def _words(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
