"""The requests of the planned write of one object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.write import json_patch, merge_patch
from ..._resolver.declare import plan
from ..._resolver.declare.plan import Plan
from ..._resolver.declare.take_over import patch as taking_over
from ..client.errors import ApiError, Cause
from ..client.session import Session
from ..read.snapshot import Key
from .engine import send

Manifest = dict[str, Any]

# A controller may write the object at the same time.
_ATTEMPTS = 5


def verb_of(step: Plan) -> str:
    """The HTTP method of a planned write."""
    return "DELETE" if step.action == plan.DELETE else "PATCH"


def write(session: Session, key: Key, step: Plan, found: Manifest | None, force: bool) -> Iterator[Manifest | None]:
    """Carries out a planned write; after each one, the object as far as it is known, None if it is deleted.

    found: the object before. Raises ApiError or ConnectionFailed.
    """
    kind = BY_NAME[key.kind]
    if step.action == plan.DELETE:
        session.delete(kind, key.namespace, key.name, found["metadata"].get("uid") if found is not None else None)
        yield None
        return
    if step.taken and found is not None:
        _take_over(session, kind, key, step, found)
        yield found
    if step.first:
        _patch_first(session, kind, key, step)
        yield found
    if session.is_rehearsal and (step.taken or step.first):
        # The apply depends on these patches, which a dry run does not store.
        return
    metadata = _apply(session, _of(found, step.manifest), force)["metadata"]
    yield {**plan.merged(step, found), "metadata": metadata}


def _of(found: Manifest | None, manifest: Manifest) -> Manifest:
    """The manifest for the object that was found, and for no other: an apply would create anew what has been deleted
    meanwhile, while its revisions still wait for the garbage collector."""
    uid = found["metadata"].get("uid") if found is not None else None
    return {**manifest, "metadata": {**manifest["metadata"], "uid": uid}} if uid else manifest


def _take_over(session: Session, kind: Kind, key: Key, step: Plan, live: Manifest) -> None:
    """Transfers the fields of other managers to this field manager. A conflict is retried with the current object."""
    for left in reversed(range(_ATTEMPTS)):
        steps = taking_over({**live, "apiVersion": kind.api_version}, step.fields, session.field_manager, step.taken)
        try:
            send(session, json_patch(kind.path(key.namespace, key.name), steps, fieldManager=session.field_manager))
            return
        except ApiError as error:
            if error.code != 409 or not left:
                raise
        current = session.get(kind, key.namespace, key.name)
        if current is None:
            return
        live = current


def _patch_first(session: Session, kind: Kind, key: Key, step: Plan) -> None:
    patch: Manifest = {}
    for path, value in step.first.items():
        node = patch
        for part in path[:-1]:
            node = node.setdefault(part, {})
        node[path[-1]] = value
    send(session, merge_patch(kind.path(key.namespace, key.name), patch, fieldManager=session.field_manager))


def _apply(session: Session, manifest: Manifest, force: bool) -> Manifest:
    kind = BY_NAME[manifest["kind"]]
    try:
        return session.apply(kind, manifest, force)
    except ApiError as error:
        if (
            error.code == 409
            and error.causes
            and all(_is_taken(cause, session.field_manager) for cause in error.causes)
        ):
            return session.apply(kind, manifest, force=True)
        raise


def _is_taken(cause: Cause, own: str) -> bool:
    """Whether the task takes a field without force_conflicts.

    That is the case if this manager set it by another request than an apply, or if it is a declared run strategy, which
    virt-api owns after a start or stop.
    """
    manager, field = plan.TAKEN_BACK
    powered = cause.field == f".{'.'.join(field)}" and f'"{manager}"' in cause.message
    return powered or f'conflict with "{own}"' in cause.message
