"""A task waits until the API server judges by changed limits, and says what it cannot tell."""

import time
from typing import Any
from unittest.mock import patch

import pytest

from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed, RequestFailed
from plugins.module_utils._governance.cluster.in_force import await_in_force
from plugins.module_utils._governance.language import Limit
from plugins.module_utils._governance.policy import POLICY, policies, probe, probe_message
from plugins.module_utils._resolver.change.declared import DeclareJob, manifest_job
from plugins.module_utils._resolver.change.step import Seen

Manifest = dict[str, Any]

NAME = "small.limits.instancetypes.virtshape.io"
LIMIT = Limit("small", ["shop"], max_cpu=2)


def message(limit: Limit = LIMIT) -> str:
    return probe_message(policies(limit, "web", "x")[0])


def denied(text: str, name: str = NAME) -> ApiError:
    return ApiError(422, f"ValidatingAdmissionPolicy '{name}' with binding '{name}' denied request: {text}")


class Server:
    """A session with a script of answers: an error that is raised, or the warnings of an accepted dry run."""

    def __init__(self, *answers: Any, namespaces: Any = ("shop", "lab")) -> None:
        self.answers = list(answers)
        self.namespaces = namespaces
        self.created: dict[str, str] = {}
        self.asked: list[tuple[str, str]] = []
        self.warnings: dict[str, Any] = {}
        self.lists = 0

    def dry_run_session(self) -> "Server":
        return self

    def list(self, _kind: Any, _namespace: Any, _metadata_only: bool) -> list[Manifest]:
        self.lists += 1
        if isinstance(self.namespaces, RequestFailed):
            raise self.namespaces
        live = [{"name": name, "creationTimestamp": self.created.get(name)} for name in self.namespaces]
        return [{"metadata": metadata} for metadata in live] + [
            {"metadata": {"name": "going", "deletionTimestamp": "now"}}
        ]

    def request(self, method: str, path: str, _query: Any, body: Manifest, final: Any) -> Manifest:
        self.asked.append((path.split("/namespaces/")[1].split("/")[0], body["metadata"]["name"]))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        self.warnings.update(answer)
        return {}


def written(
    after: "Limit | None", before: "Limit | None" = None, *, parts: Any = ("policy", "binding")
) -> list[DeclareJob]:
    """The outcomes of a limit's policy and binding. parts: which of them were written."""
    outcomes = []
    for part, manifest in zip(("policy", "binding"), policies(after or before or LIMIT, "web", "x")):
        outcome = manifest_job(manifest, "present" if after else "absent")
        outcome.before = Seen(None if before is None else policies(before, "web", "x")[0 if part == "policy" else 1])
        outcome.written = part in parts
        outcomes.append(outcome)
    return outcomes


def awaited(server: Server, outcomes: list[DeclareJob], seconds: float = 60) -> DeclareJob:
    with patch.object(time, "sleep"):
        await_in_force(server, outcomes, time.monotonic() + seconds)  # type: ignore[arg-type]
    return outcomes[0]


def test_the_probe_belongs_to_one_policy() -> None:
    other = message(LIMIT._replace(max_cpu=3))
    assert message() == message() != other
    assert message().startswith("this object tests the limit small.limits.instancetypes.virtshape.io (")
    assert message(LIMIT._replace(action="warn")) == message(), "The binding has the action."
    assert probe(NAME)["metadata"]["name"] == f"probe.{NAME}"


def test_nothing_is_asked_when_nothing_has_changed() -> None:
    for outcomes in ([], written(LIMIT, LIMIT, parts=())):
        server = Server({})
        await_in_force(server, outcomes, 0)  # type: ignore[arg-type]
        assert (server.lists, server.asked) == (0, [])
    failed = written(LIMIT)
    failed[1].failed = "refused"
    server = Server({})
    awaited(server, failed)
    assert server.asked == []


@pytest.mark.parametrize(
    ("after", "before", "parts", "answers", "asked"),
    [
        # Three answers in a row count.
        (LIMIT, None, ("policy", "binding"), [{}, denied(message()), {}, *[denied(message())] * 3], 6),
        (
            LIMIT,
            LIMIT._replace(max_cpu=3),
            ("policy",),
            [denied(message(LIMIT._replace(max_cpu=3))), *[denied(message())] * 3],
            4,
        ),
        # A webhook comes after the policies.
        (LIMIT, None, ("policy",), [ApiError(403, "admission webhook denied the request: no"), denied(message())], 4),
        (LIMIT._replace(action="warn"), LIMIT, ("binding",), [denied(message()), {message(): None}], 4),
        (LIMIT._replace(action="audit"), LIMIT, ("binding",), [denied(message()), {}], 4),
        (None, LIMIT, ("policy", "binding"), [denied(message()), {}], 4),
        (None, LIMIT._replace(action="warn"), ("policy", "binding"), [{}], 3),
    ],
)
def test_the_answers_of_the_new_limit_are_awaited(
    after: Any, before: Any, parts: Any, answers: list[Any], asked: int
) -> None:
    server = Server(*answers)
    outcome = awaited(server, written(after, before, parts=parts))
    assert (outcome.failed, outcome.warnings) == (None, [])
    assert server.asked == [("shop", f"probe.{NAME}")] * asked


@pytest.mark.parametrize(
    ("after", "before", "answer", "failed"),
    [
        (LIMIT, None, {}, "does not judge by the limit yet: a dry run in the namespace shop was accepted"),
        (
            LIMIT,
            None,
            ApiError(400, "admission webhook denied the request: no"),
            "does not judge by the limit yet: a dry run in the namespace shop was refused: admission webhook denied the"
            " request: no",
        ),
        (None, LIMIT, denied(message()), "still judges by the limit in the namespace shop"),
    ],
)
def test_a_limit_that_does_not_come_fails(after: Any, before: Any, answer: Any, failed: str) -> None:
    outcome = awaited(Server(answer), written(after, before), 0)
    assert outcome.failed == f"the API server {failed}; 0 s after the change; raise wait_timeout"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (
            ApiError(403, 'instancetypes is forbidden: User "a" cannot create resource "x" in API group ""'),
            "cannot create",
        ),
        (denied("no probes here", "foreign"), "no probes here"),
        (ConnectionFailed("connection lost"), "connection lost"),
    ],
)
def test_an_answer_that_shows_nothing_is_a_warning(answer: RequestFailed, reason: str) -> None:
    server = Server(answer)
    outcome = awaited(server, written(LIMIT))
    assert (outcome.failed, len(server.asked)) == (None, 1)
    (text,) = outcome.warnings
    assert text.startswith("cannot tell whether the API server judges by the limit already: ") and reason in text


@pytest.mark.parametrize(
    ("after", "before", "namespaces", "asked"),
    [
        (Limit("small", max_cpu=2, except_namespaces=["shop"]), None, ("shop", "lab"), "lab"),
        # The old limit was for another namespace, the new one for none that exists.
        (LIMIT._replace(namespaces=["new"]), LIMIT, ("shop", "lab"), "shop"),
        (LIMIT, LIMIT._replace(namespaces=["lab"]), ("lab", "shop"), "shop"),
        (LIMIT._replace(namespaces=["new"]), None, ("shop",), ""),
        (LIMIT, None, RequestFailed("may not list namespaces"), "shop"),
    ],
)
def test_where_it_is_asked(after: Limit, before: Any, namespaces: Any, asked: str) -> None:
    old = after.namespaces == ["new"] and before is not None
    server = Server({} if old else denied(message(after)), namespaces=namespaces)
    assert awaited(server, written(after, before)).failed is None
    assert {namespace for namespace, _name in server.asked} == ({asked} if asked else set())


def test_the_oldest_namespace_is_asked() -> None:
    """A new one may be deleted meanwhile, as those of tests and jobs are."""
    limit = Limit("small", max_cpu=2)
    server = Server(denied(message(limit)), namespaces=("job", "shop"))
    server.created = {"job": "2026-11-29T08:00:00Z", "shop": "2025-01-01T00:00:00Z"}
    awaited(server, written(limit))
    assert {namespace for namespace, _name in server.asked} == {"shop"}


def test_policies_have_one_validation_more() -> None:
    [policy, _binding] = policies(LIMIT, "web", "x")
    assert policy["kind"] == POLICY
    assert policy["spec"]["validations"][-1] == {
        "expression": "object.kind != 'VirtualMachineInstancetype'"
        " || object.metadata.?name.orValue('') != 'probe.small.limits.instancetypes.virtshape.io'",
        "message": message(),
    }
