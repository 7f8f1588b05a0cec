"""The requests that carry out the plan of an object: takeover, merge patch and apply, or a deletion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._resolver.api.errors import Cause
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.managed_fields import FieldPath
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import ObjectKey
from ..._resolver.api.tree import set_at
from ..._resolver.api.write import apply, delete, json_patch, merge_patch
from ..._resolver.declare import plan, rewrites
from ..._resolver.declare.plan import Plan
from ..._resolver.ownership.take_over import patch as taking_over
from ..client.errors import ApiError
from ..client.session import Session
from .send import send

# A controller may write the object at the same time.
_ATTEMPTS = 5


def send_plan(
    session: Session, key: ObjectKey, step: Plan, live: Manifest | None, force: bool
) -> Iterator[Manifest | None]:
    """Sends the writes of a plan. Yields after each one: the object before, if another one follows; else the answer,
    None if the object is deleted.

    live: the object before. force: take fields from other managers. Raises RequestFailed.
    """
    uid = live["metadata"].get("uid") if live is not None else None
    if step.action == plan.DELETE:
        send(session, delete(key.path, uid))
        yield None
        return
    if step.taken_from and live is not None:
        _take_over(session, key, step, live)
        yield live
    if session.is_dry_run and (step.taken_from or step.merge_patch):
        # The apply depends on patches that a dry run does not store: one patch has all that they would change.
        if fields := plan.patched_fields(step, live or {}):
            yield _patch(session, key, fields)
        return
    if step.merge_patch:
        _patch(session, key, step.merge_patch)
        yield live
    # The UID binds the apply to the live object: without it, an apply would create a deleted object anew, while its
    # revisions still wait for the garbage collector.
    own = {"metadata": {**step.manifest["metadata"], "uid": uid}} if uid else {}
    yield _apply(session, key, {**step.manifest, **own}, force, live or {})


def _patch(session: Session, key: ObjectKey, fields: Mapping[FieldPath, Any]) -> Manifest | None:
    """Sends a merge patch that sets fields, or removes those that are None."""
    patch: Manifest = {}
    for path, value in fields.items():
        set_at(patch, path, value)
    return send(session, merge_patch(key.path, patch, fieldManager=session.field_manager))


def _take_over(session: Session, key: ObjectKey, step: Plan, live: Manifest) -> None:
    """Transfers the fields of other managers to this field manager. A conflict is retried with the current object."""
    for retries in reversed(range(_ATTEMPTS)):
        typed = {**live, "apiVersion": KINDS[key.kind].api_version}
        steps = taking_over(typed, step.fields, session.field_manager, step.taken_from)
        try:
            send(session, json_patch(key.path, steps, fieldManager=session.field_manager))
            return
        except ApiError as error:
            if error.code != 409 or not retries:
                raise
        current = session.get(KINDS[key.kind], key.namespace, key.name)
        if current is None:
            return
        live = current


def _apply(session: Session, key: ObjectKey, manifest: Manifest, force: bool, live: Manifest) -> Manifest:
    try:
        return send(session, apply(key.path, manifest, session.field_manager, force)) or {}
    except ApiError as error:
        conflict = error.code == 409 and bool(error.causes)
        if conflict and all(_may_take_over(cause, session.field_manager, live) for cause in error.causes):
            return send(session, apply(key.path, manifest, session.field_manager, force=True)) or {}
        raise


def _may_take_over(cause: Cause, own: str, live: Manifest) -> bool:
    """Whether the task takes a field without force_conflicts.

    That is the case if this manager set it by another request than an apply, or if KubeVirt wrote it by itself, as
    virt-api does after a start or stop. live: the object before.
    """
    manager = cause.message.partition('"')[2].partition('"')[0]
    return manager == own or rewrites.taken_back(manager, tuple(cause.field.removeprefix(".").split(".")), live)
