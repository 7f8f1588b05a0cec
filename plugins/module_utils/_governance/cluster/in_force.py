"""Waits until the API server judges by changed limits: it learns of a policy a little after it has stored it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from ..._cluster.client.concurrency import Backoff, map_concurrently, seconds_left
from ..._cluster.client.errors import ApiError, RequestFailed, lacks_permission
from ..._cluster.client.session import Session
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import created_at
from ..._resolver.api.matcher import INSTANCETYPE
from ..._resolver.api.name_rules import one_line
from ..._resolver.change.declared import DeclareJob
from ..language import AUDIT, DENY, Limit
from ..policy import BINDING, POLICY, PROBED, limit_of, probe, probe_message

# Several API servers learn of a policy one after the other.
_AGREEING: Final = 3
_CANNOT_TELL: Final = "cannot tell whether the API server judges by the limit already: {}"
_OTHER_POLICY: Final = "ValidatingAdmissionPolicy"


class _Unknown(Exception):
    """The API server does not show whether it judges by a limit; the text is the reason."""


class _Change(NamedTuple):
    """A changed limit. job: of its policy, or else of its binding. before, after: the limits, None for none.

    message: the text with which the new policy has to answer a probe; "" for no such text.
    """

    job: DeclareJob
    before: Limit | None
    after: Limit | None
    message: str

    def test(self, labels: Mapping[str, Mapping[str, str]]) -> _Test | None:
        """A test of the change; None if it has no effect in any namespace. labels: of the namespaces."""
        for limit, message in ((self.after if self.message else None, self.message), (self.before, "")):
            if limit is None:
                continue
            for namespace, own in labels.items():
                if limit.applies(namespace, own):
                    return _Test(self.job, namespace, message, limit.action == DENY)
        return None


class _Test(NamedTuple):
    """A probe in a namespace. message: what the API server is to say of it, "" for nothing. denies: it refuses it."""

    job: DeclareJob
    namespace: str
    message: str
    denies: bool

    @property
    def name(self) -> str:
        return self.job.key.name


def await_in_force(session: Session, jobs: Iterable[DeclareJob], deadline: float) -> None:
    """Waits for the limits whose policies or bindings were written. The others fail at the deadline."""
    changes = list(_changes(jobs))
    if not changes:
        return
    labels = _namespaces(session, changes)
    pending = [test for change in changes if (test := change.test(labels)) is not None]
    pauses, seconds = Backoff(), seconds_left(deadline)
    while pending:
        answers = map_concurrently(lambda test: _problem(session, test), pending)
        late = [(test, problem) for test, problem in zip(pending, answers) if problem]
        if late and not pauses.pause(seconds):
            for test, problem in late:
                test.job.failed = f"{problem}; {seconds:.0f} s after the change; raise wait_timeout"
            return
        pending = [test for test, _text in late]


def _changes(jobs: Iterable[DeclareJob]) -> Iterator[_Change]:
    limits: dict[str, dict[str, DeclareJob]] = {}
    for job in jobs:
        limits.setdefault(job.key.name, {})[job.key.kind] = job
    for parts in limits.values():
        if any(part.failed for part in parts.values()) or not any(part.written for part in parts.values()):
            continue
        policy, binding = parts.get(POLICY), parts.get(BINDING)
        stays = policy is not None and binding is not None and policy.goal.state == "present"
        before = limit_of(policy.before.live or {}) if policy is not None else None
        after = limit_of(policy.goal.manifest) if policy is not None and stays else None
        speaks = policy is not None and after is not None and after.action != AUDIT
        message = probe_message(policy.goal.manifest) if policy is not None and speaks else ""
        yield _Change(policy or next(iter(parts.values())), before, after, message)


def _namespaces(session: Session, changes: Iterable[_Change]) -> dict[str, dict[str, str]]:
    """The labels of the namespaces, the oldest first, because it is the least likely to be deleted during a wait.

    Without the right to list them: of the namespaces that the limits name.
    """
    try:
        live = sorted(session.list(KINDS["Namespace"], None, True), key=created_at)
    except RequestFailed:
        limits = [limit for change in changes for limit in (change.after, change.before) if limit is not None]
        return {name: {} for limit in limits for name in limit.namespaces}
    return {
        item["metadata"]["name"]: item["metadata"].get("labels") or {}
        for item in live
        if not item["metadata"].get("deletionTimestamp")
    }


def _problem(session: Session, test: _Test) -> str:
    """Why the API server does not judge as it should yet; "" if it does, or if it does not show that."""
    try:
        for _time in range(_AGREEING):
            if problem := _answer_problem(session, test):
                return problem
    except (_Unknown, RequestFailed) as error:
        test.job.warn(_CANNOT_TELL.format(error))
    return ""


def _answer_problem(session: Session, test: _Test) -> str:
    # Its warnings are for nobody else.
    asking = session.dry_run_session()
    asking.warnings = {}
    refusal = ""
    try:
        asking.request("POST", KINDS[INSTANCETYPE.kind].path(test.namespace), None, probe(test.name), final=(500,))
    except ApiError as error:
        if lacks_permission(error) or (_OTHER_POLICY in error.message and test.name not in error.message):
            raise _Unknown(str(error)) from error
        refusal = error.message
    warnings = " ".join(asking.warnings)
    if not test.message:
        speaks = PROBED.format(test.name) in f"{refusal} {warnings}"
        return f"the API server still judges by the limit in the namespace {test.namespace}" if speaks else ""
    if test.message in (refusal if test.denies else warnings) and (test.denies or test.message not in refusal):
        return ""
    answer = f"was refused: {one_line(refusal)}" if refusal else "was accepted"
    return f"the API server does not judge by the limit yet: a dry run in the namespace {test.namespace} {answer}"
