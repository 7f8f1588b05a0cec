"""A task of a playbook, as all that a module does for it knows it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from .._resolver.api.managed_fields import TakeOver, keep_managers
from .._resolver.change.step import UNKNOWN_IN_CHECK_MODE
from .client.errors import TaskFailed
from .client.session import Session


@dataclass(eq=False, repr=False)
class Task:
    """How a task is run, its options for writes, and what a module collects beside its result.

    check_mode: whether it only foretells what it would do. diff: whether its result has diffs. provided: the options
    that the user set; the others have their defaults. secrets: texts to keep out of the result, including secrets in
    options that Ansible does not know. warnings: texts that the task shows. Modules add to both. sessions: the
    connections that the task has made.

    For the options for writes, see the doc fragments `declare` and `writes`. wait_timeout: seconds. take_over: see
    `declare.take_over`.
    """

    check_mode: bool = False
    diff: bool = False
    provided: frozenset[str] = frozenset()
    secrets: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    server_dry_run: bool = True
    wait: bool = False
    wait_timeout: float = 120
    concurrency: int = 16
    preflight: str = "strict"
    fail_fast: bool = False
    force_conflicts: bool = False
    take_over: TakeOver = keep_managers

    @classmethod
    def of(cls, options: dict[str, Any], **more: Any) -> Task:
        """The task with valid options of a module. more: the other fields. Raises TaskFailed for `take_over`."""
        given = {setting.name: options[setting.name] for setting in fields(cls) if setting.name in options}
        return cls(**{**given, **more, "take_over": _take_over(options.get("take_over"))})

    def connect(self, options: dict[str, Any]) -> Session:
        """A session whose warnings of the API server the task shows at its end. options: see `Session`."""
        session = Session(options)
        self.sessions.append(session)
        return session

    def report_missing(self, problem: str) -> None:
        """Fails the task because of what does not exist; in check mode, an earlier task may create it: a warning."""
        if not self.check_mode:
            raise TaskFailed(problem)
        self.warnings.append(f"{problem}; {UNKNOWN_IN_CHECK_MODE}")


def _take_over(option: Any) -> TakeOver:
    """The managers that the option `take_over` names. Raises TaskFailed."""
    if not option:
        return keep_managers
    from .._resolver.ownership.take_over import parse_take_over

    try:
        return parse_take_over(option)
    except ValueError as error:
        raise TaskFailed(str(error)) from error
