"""The state that conversion adds to the module controller_revision. The code is imported when a task asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from ..._cluster.client.session import Session
from ..._cluster.task import Task
from ..._resolver.change.drift import Drift
from ..._resolver.change.step import Job


def upgraded(session: Session, vms: list[Drift], task: Task) -> Sequence[Job[Drift]]:
    """See `migrate_revisions`."""
    from .migrate_revisions import migrate_revisions

    return migrate_revisions(session, vms, task)
