"""Sends writes: many at the same time, each again where that is safe. Errors become failures of the jobs.

All requests that change something go through `send`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, Final

from ..._resolver.api.kinds import Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.write import JSON_PATCH, RetrySafety, Write, create
from ..._resolver.change.step import NOT_SENT, UNKNOWN_IN_CHECK_MODE, Job
from ..client.concurrency import Backoff, map_concurrently
from ..client.errors import (
    ApiError,
    ConnectionFailed,
    RequestFailed,
    is_other_object,
    is_outdated,
    lacks_permission,
)
from ..client.session import Session
from ..task import Task

# Proxies and the API server return these codes if they lose the connection to what serves the request.
_UNKNOWN_OUTCOME: Final = (500, 502, 503, 504)
_NO_REASONS: Final = ("", "InternalError", "ServiceUnavailable", "Timeout")
# The refusal of an admission webhook, which virt-api reports as an internal error.
_DENIED: Final = "denied the request"
_NOT_FOUND: Final = re.compile(r'"([^"]+)" not found')
NO_DRY_RUN: Final = "does not support dry run"
"""What the API server says if a webhook takes no dry runs."""


def run_writes(
    jobs: Iterable[Job[Any]],
    write: Callable[[Job[Any]], Any],
    task: Task,
    noun: str = "object",
    stopped: Event | None = None,
) -> None:
    """Calls `write` for jobs, `concurrency` at a time. With fail_fast, none begins after one has failed.

    stopped: set once one has failed, for later calls.
    """
    stopped = stopped or Event()

    def run(job: Job[Any]) -> None:
        if stopped.is_set():
            job.failed = NOT_SENT.format(noun)
            return
        try:
            write(job)
        except RequestFailed as error:
            job.failed = job.failed or str(error)
        if task.fail_fast and job.failed:
            stopped.set()

    map_concurrently(run, jobs, task.concurrency)


def run_dry(job: Job[Any], write: Callable[[Job[Any]], Any]) -> None:
    """Calls `write`, which sends dry runs: schemas, policies, quotas and webhooks apply, but nothing is stored.

    A rejection by the API server is a failure. A dry run without an answer is a warning.
    """
    try:
        write(job)
    except ConnectionFailed as error:
        job.failed = str(error)
    except ApiError as error:
        if absent := _NOT_FOUND.search(error.message):
            if not _is_named(absent[1], job.warnings):
                job.warnings.append(f"{error}; {UNKNOWN_IN_CHECK_MODE}")
        elif job.incomplete and _DENIED in error.message:
            # For example, a VM lacks the memory that a missing instancetype would give it.
            job.warn(f"the dry run was denied, perhaps because of what does not exist yet: {error}")
        elif lacks_permission(error) or NO_DRY_RUN in error.message:
            job.warnings.append(f"the dry run could not check the object: {error}")
        else:
            job.failed = str(error)


def send(session: Session, write: Write, took_effect: Callable[[], bool] | None = None) -> Manifest | None:
    """Sends a write. Returns the response, {} if it was lost; None if another client has written the same.

    took_effect: reads whether a write whose response was lost, or with which another client interfered, took effect;
    None if it does not matter. Raises RequestFailed if the write had no effect.
    """
    pauses, lost = Backoff(), False
    while True:
        try:
            return session.write(write)
        except RequestFailed as error:
            if write.method == "DELETE" and _is_absent(error):
                return None
            lost = lost or _is_lost(error)
            overtaken = _is_overtaken(error, write)
            doubtful = lost or overtaken or _is_conflict(error, write)
            if took_effect is not None and write.repeat is not RetrySafety.NEVER and doubtful and took_effect():
                return {} if lost else None
            retryable = overtaken or (write.repeat is RetrySafety.CHECK_FIRST and _is_lost(error))
            if not retryable or not pauses.pause(session.retry_timeout):
                raise


def send_create(session: Session, kind: Kind, namespace: str | None, manifest: Manifest) -> None:
    """Creates a named object. If a response was lost, an existing object of that name counts as created."""
    write = create(kind.path(namespace), manifest)
    send(session, write, lambda: session.get(kind, namespace, manifest["metadata"]["name"]) is not None)


def _is_absent(error: RequestFailed) -> bool:
    return isinstance(error, ApiError) and (
        (error.code == 404 and error.reason == "NotFound") or is_other_object(error)
    )


def _is_conflict(error: RequestFailed, write: Write) -> bool:
    """Whether another client has written the object since it was read. One that exists already is another client's."""
    outdated = write.content_type == JSON_PATCH and isinstance(error, ApiError) and is_outdated(error)
    return outdated or (error.code == 409 and error.reason != "AlreadyExists")


def _is_overtaken(error: RequestFailed, write: Write) -> bool:
    """Whether virt-controller has changed the VM between the read and the patch that virt-api makes for a request.

    virt-api then passes on the refusal of its own patch, which had no effect (KubeVirt: vmVolumePatchStatus).
    """
    return write.repeat is RetrySafety.CHECK_FIRST and isinstance(error, ApiError) and is_outdated(error)


def _is_lost(error: RequestFailed) -> bool:
    """Whether the response to this or an earlier attempt of the session was lost."""
    if not isinstance(error, ApiError) or error.after_lost:
        return True
    unknown = error.code in _UNKNOWN_OUTCOME and error.reason in _NO_REASONS
    return unknown and _DENIED not in error.message


def _is_named(absent: str, warnings: Iterable[str]) -> bool:
    """Whether a warning already names the missing object because of which a dry run could not answer."""
    dry_run = (warning for warning in warnings if warning.endswith(UNKNOWN_IN_CHECK_MODE))
    return any(absent in re.split(r"[^\w.-]+", warning) for warning in dry_run)
