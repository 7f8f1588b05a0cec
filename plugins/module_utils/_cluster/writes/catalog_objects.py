"""Instancetypes and preferences as objects to declare: which are left alone, and findings about their changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from ..._resolver.api import managed_fields
from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import WARNING, Finding
from ..._resolver.api.keys import CATALOG_LABEL, FIELD_MANAGER
from ..._resolver.api.manifest import Manifest, Options, labels_of
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.release import Release
from ..._resolver.catalog.ownership import OPERATOR, is_deployed
from ..._resolver.catalog.spec_changes import changes, predicted
from ..._resolver.change.declare_steps import DeclaredKind, plan_object
from ..._resolver.change.declared import NOT_PLANNED, DeclareJob, Ownership
from ..._resolver.change.step import Facts, Step
from ..._resolver.declare.plan import DELETE, Plan
from ..client.errors import RequestFailed
from ..client.session import Session

if TYPE_CHECKING:
    from ..reads.catalog_users import CatalogUsers

_KEPT: Final = "the object exists and was not declared by this collection"

ObjectCheck = Callable[[Manifest, Release], list[Finding]]
"""(an instancetype or preference to be written, the cluster's release of KubeVirt) → findings about it."""


class CatalogObjects:
    """The instancetypes or preferences of a task.

    options: the task's options, with `existing`, `keep` or `apply`, and `force`, to delete objects that VMs use.
    catalog: the name of the catalog; "" for objects that a task declares one by one. checks: of capabilities.
    """

    def __init__(
        self, options: Options, session: Session, catalog: str = "", checks: Sequence[ObjectCheck] = ()
    ) -> None:
        self._session = session
        self._checks = checks
        self._catalog = catalog
        self._existing = options["existing"]
        self._force = bool(options.get("force"))
        # virt-operator deletes its objects first, which check mode cannot show.
        self._replaces = options.get("common_instancetypes_deployment") == "disable"

    @cached_property
    def users(self) -> CatalogUsers:
        """The users of the objects, which only a change or a deletion concerns."""
        from ..reads.catalog_users import CatalogUsers

        return CatalogUsers(self._session)

    @property
    def kind(self) -> DeclaredKind:
        """The objects as a kind of declared objects."""
        return DeclaredKind(self._plan, checks=(Step("check", prepare=self._check),))

    def skip_reason(self, live: Manifest) -> str | None:
        """Why a live object is left unchanged, or None."""
        owner = labels_of(live).get(CATALOG_LABEL)
        if (
            self._catalog
            and owner not in (None, self._catalog)
            and managed_fields.applied_fields(live, FIELD_MANAGER) is not None
        ):
            return f"the object belongs to the catalog {owner}"
        return skip_reason(live, self._existing)

    def _plan(self, job: DeclareJob, ownership: Ownership) -> Plan:
        reason = job.skip_reason = self.skip_reason(job.seen.live) if job.seen.live is not None else None
        if reason is None:
            return plan_object(job, ownership)
        if reason != _KEPT and not self._replaces and (missed := self._missed(job, ownership)):
            job.warn(missed.format(reason))
        return NOT_PLANNED

    def _missed(self, job: DeclareJob, ownership: Ownership) -> str:
        """A warning, to format with the reason, that an object is left otherwise than declared; "" if it is not."""
        try:
            planned = plan_object(job, ownership)
        except FieldError:
            # The object comes from a newer KubeVirt.
            return ""
        if planned.action == DELETE:
            return "not deleted: {}"
        changed = {*planned.before, *planned.after}
        # The labels of a catalog are the labels that it gives its own objects.
        differs = "spec" in changed or (changed and not self._catalog)
        return "not as declared: {}; declare another name" if differs else ""

    def _check(self, jobs: Sequence[DeclareJob], _facts: Facts) -> None:
        for job in jobs:
            job.goal.findings = self._findings(job)

    def _findings(self, job: DeclareJob) -> list[Finding]:
        if job.goal.action == DELETE:
            return [] if self._force else self._use(job)
        # An object that stays as it is needs no check.
        from ..reads.kubevirt import kubevirt

        manifest, release = job.goal.plan.manifest, kubevirt(self._session).release
        found = [finding for check in self._checks for finding in check(manifest, release)]
        # A catalog warns of its users once, for all its objects together.
        return found if self._catalog else [*found, *_taken(job.seen.live), *self._drift(job)]

    def _drift(self, job: DeclareJob) -> list[Finding]:
        live = job.seen.live
        if live is None or not changes(
            live, predicted(job.goal.plan.manifest, live, managed_fields.applied_fields(live, FIELD_MANAGER))
        ):
            return []
        try:
            vms = self.users.drifting(ObjectKey.of(live))
        except RequestFailed as error:
            return [Finding(f"cannot tell which virtual machines use the object: {error}", severity=WARNING)]
        text = f"{_labels(vms)} will drift: they keep their captured revision until they are refreshed"
        return [Finding(text, severity=WARNING)] if vms else []

    def _use(self, job: DeclareJob) -> list[Finding]:
        try:
            users = self.users.all_using(ObjectKey.of(job.seen.live)) if job.seen.live is not None else []
        except RequestFailed as error:
            text = f"cannot tell whether virtual machines use the object: {error}; set force to delete it anyway"
            return [Finding(text)]
        remedy = "move them to another object first, or set force to delete the object anyway"
        return [Finding(f"in use by {_labels(users)}; {remedy}")] if users else []


def _labels(vms: list[Manifest]) -> str:
    """See `catalog_users.labels`."""
    from ..reads.catalog_users import labels

    return labels(vms)


def _taken(live: Manifest | None) -> list[Finding]:
    """A warning if a catalog has the object that a task changes by itself: the two would never be done."""
    catalog = labels_of(live or {}).get(CATALOG_LABEL)
    text = f"the object belongs to the catalog {catalog}, whose next task changes it back"
    return [Finding(text, WARNING, remedy="declare another name")] if catalog else []


def skip_reason(live: Manifest, existing: str) -> str | None:
    """Why a live object is left unchanged, or None."""
    if is_deployed(live) or managed_fields.updated_fields(live, OPERATOR):
        return f"{OPERATOR} manages the object and reverts other changes"
    if existing == "keep" and managed_fields.applied_fields(live, FIELD_MANAGER) is None:
        return _KEPT
    return None
