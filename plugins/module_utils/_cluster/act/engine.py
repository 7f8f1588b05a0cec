"""Carries out writes: many at the same time, each again where that is safe. Errors become failures of the outcomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event
from typing import Any, Final, NamedTuple, Protocol

from ..._resolver.api.kinds import Kind
from ..._resolver.api.write import Repeat, Write
from ..client.backoff import Backoff
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.pool import each
from ..client.session import Session
from .settings import Settings

# Proxies and the API server return these codes if they lose the connection to what serves the request.
_UNKNOWN_OUTCOME: Final = (500, 502, 503, 504)
_NO_REASONS: Final = ("", "InternalError", "ServiceUnavailable", "Timeout")
# The refusal of an admission webhook, which virt-api reports as an internal error.
_DENIED: Final = "denied the request"
NOT_SENT: Final = "not sent because another {} of the task failed and fail_fast is set"


class Outcome(Protocol):
    """What became of an object. failed: the reason, on one line, or None."""

    failed: str | None


class Job(NamedTuple):
    """Writes to one object. do: sends them. verb, kind: of the request, see `explain`."""

    outcome: Outcome
    do: Callable[[], Any]
    verb: str
    kind: Kind


def carry_out(jobs: Iterable[Job], settings: Settings, noun: str = "object") -> None:
    """Does jobs, `concurrency` at a time. With fail_fast, none begins after one has failed."""
    stopped = Event()

    def one(job: Job) -> None:
        if stopped.is_set():
            job.outcome.failed = NOT_SENT.format(noun)
            return
        try:
            job.do()
        except (ApiError, ConnectionFailed) as error:
            job.outcome.failed = job.outcome.failed or explain(error, job.verb, job.kind)
        if settings.fail_fast and job.outcome.failed:
            stopped.set()

    each(one, jobs, settings.concurrency)


def send(session: Session, write: Write, taken_up: Callable[[], bool] | None = None) -> bool:
    """Sends a write. Whether it took effect: False if another client has written the same.

    taken_up: reads whether a write whose answer was lost, or with which another client interfered, took effect; None
    if it does not matter. Raises ApiError or ConnectionFailed if the write had no effect.
    """
    pauses, lost = Backoff(), False
    freely = write.repeat is Repeat.FREELY
    while True:
        try:
            session.request(
                write.method,
                write.path,
                dict(write.query),
                body=write.body,
                content_type=write.content_type,
                retry=freely,
            )
            return True
        except (ApiError, ConnectionFailed) as error:
            # The session has repeated what may be repeated freely, so that one of the answers may be lost.
            lost = lost or freely or _is_lost(error)
            doubtful = lost or (isinstance(error, ApiError) and error.code == 409)
            if taken_up is not None and write.repeat is not Repeat.NEVER and doubtful and taken_up():
                return lost
            again = write.repeat is Repeat.AFTER_READ and _is_lost(error)
            if not again or not pauses.pause(session.retry_timeout):
                raise


def _is_lost(error: ApiError | ConnectionFailed) -> bool:
    if isinstance(error, ConnectionFailed):
        return True
    unknown = error.code in _UNKNOWN_OUTCOME and error.reason in _NO_REASONS
    return unknown and _DENIED not in error.message
