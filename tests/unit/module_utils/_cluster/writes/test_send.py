"""The engine sends some writes again, and many at the same time."""

from pathlib import Path
from typing import Any

import pytest

from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._cluster.task import Task
from plugins.module_utils._cluster.writes.send import run_writes, send, send_create
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.matcher import ObjectKey
from plugins.module_utils._resolver.api.write import (
    RetrySafety,
    Write,
    apply,
    create,
    delete,
    json_patch,
    merge_patch,
    replace,
)
from plugins.module_utils._resolver.change import power
from plugins.module_utils._resolver.change.step import Job
from scripted_server import session_with, status

PATH = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachines/a"
UNAVAILABLE = status(503, "the server is currently unable to handle the request", "ServiceUnavailable")
OUTDATED = status(422, "the server rejected our request due to an error in our request", "Invalid")
CONFLICT = status(409, "stop/start already underway", "Conflict")


class Server:
    """Answers writes in order, None: the connection is cut. Further writes succeed."""

    def __init__(self, *answers: tuple[int, Any] | None) -> None:
        self.answers = list(answers)
        self.requests: list[str] = []

    def __call__(self, method: str, _path: str, _query: dict[str, str]) -> tuple[int, Any] | None:
        self.requests.append(method)
        return self.answers.pop(0) if self.answers else (200, {})

    def send(self, repeat: RetrySafety, taken_up: bool | None = None, seconds: float = 20) -> bool:
        def read() -> bool:
            self.requests.append("read")
            return bool(taken_up)

        write = Write("PUT", PATH, {}, repeat)
        with session_with(self, retry_timeout=seconds) as session:
            return send(session, write, None if taken_up is None else read) is not None


@pytest.mark.parametrize("answer", [None, UNAVAILABLE])
def test_lost_response_is_resolved_by_reading(answer: Any) -> None:
    freely = Server(answer)
    assert (freely.send(RetrySafety.ALWAYS, False), freely.requests) == (True, ["PUT", "PUT"])
    taken_up = Server(answer)
    assert (taken_up.send(RetrySafety.CHECK_FIRST, True), taken_up.requests) == (True, ["PUT", "read"])
    not_taken_up = Server(answer)
    assert (not_taken_up.send(RetrySafety.CHECK_FIRST, False), not_taken_up.requests) == (True, ["PUT", "read", "PUT"])
    never = Server(answer)
    with pytest.raises((ApiError, ConnectionFailed)):
        never.send(RetrySafety.NEVER, True)
    assert never.requests == ["PUT"]


def test_rejected_repetition_means_the_first_took_effect() -> None:
    server = Server(None, OUTDATED)
    assert (server.send(RetrySafety.ALWAYS, True), server.requests) == (True, ["PUT", "PUT", "read"])
    with pytest.raises(ApiError, match="rejected our request"):
        Server(None, OUTDATED).send(RetrySafety.ALWAYS, False)


def test_request_overtaken_by_a_controller_is_repeated() -> None:
    server = Server(OUTDATED, OUTDATED)
    assert (server.send(RetrySafety.CHECK_FIRST), server.requests) == (True, ["PUT", "PUT", "PUT"])
    taken_up = Server(OUTDATED)
    assert (taken_up.send(RetrySafety.CHECK_FIRST, True), taken_up.requests) == (False, ["PUT", "read"])
    with pytest.raises(ApiError, match="rejected our request"):
        Server(*[OUTDATED] * 9).send(RetrySafety.CHECK_FIRST, False, seconds=0.5)


def test_write_of_another_client_is_no_error() -> None:
    server = Server(CONFLICT)
    assert (server.send(RetrySafety.CHECK_FIRST, True), server.requests) == (False, ["PUT", "read"])
    with pytest.raises(ApiError, match="already underway"):
        Server(CONFLICT).send(RetrySafety.CHECK_FIRST, False)


@pytest.mark.parametrize(
    "answer",
    [
        status(403, "virtualmachines is forbidden", "Forbidden"),
        status(500, 'admission webhook "x" denied the request: no', "InternalError"),
    ],
)
def test_a_refusal_is_neither_repeated_nor_looked_into(answer: Any) -> None:
    server = Server(answer)
    with pytest.raises(ApiError):
        server.send(RetrySafety.CHECK_FIRST, True)
    assert server.requests == ["PUT"]


def test_lost_response_is_an_error_after_the_timeout() -> None:
    with pytest.raises(ConnectionFailed):
        Server(*[None] * 9).send(RetrySafety.CHECK_FIRST, False, seconds=0.5)


NAMED = {"metadata": {"name": "a"}}
EXISTS = status(409, "it exists", "AlreadyExists")


@pytest.mark.parametrize(
    ("answers", "methods", "message"),
    [
        ([(200, {}), None, EXISTS, (200, NAMED)], ["GET", "POST", "POST", "GET"], None),
        ([(200, {}), None, EXISTS, status(404, "gone", "NotFound")], ["GET", "POST", "POST", "GET"], "it exists"),
        ([(200, {}), EXISTS], ["GET", "POST"], "it exists"),
    ],
)
def test_create_accepts_existing_object_after_lost_response(
    answers: list[Any], methods: list[str], message: str | None
) -> None:
    server = Server(*answers)
    with session_with(server, retry_timeout=20) as session:
        session.request("GET", "/readyz")
        if message is None:
            send_create(session, KINDS["VirtualMachine"], "shop", NAMED)
        else:
            with pytest.raises(ApiError, match=message):
                send_create(session, KINDS["VirtualMachine"], "shop", NAMED)
    assert server.requests == methods


def test_delete_names_the_uid_and_accepts_absence() -> None:
    other_uid = status(409, "Precondition failed: UID in ...", "Conflict")
    server = Server((200, {}), None, status(404, "not found", "NotFound"), other_uid)
    write = delete(PATH, "u1")
    assert write.body == {"preconditions": {"uid": "u1"}}
    with session_with(server, retry_timeout=20) as session:
        session.request("GET", "/readyz")
        assert send(session, write) is None
        assert send(session, write) is None
    assert server.requests == ["GET", "DELETE", "DELETE", "DELETE"]


RELIABILITY = Path(__file__).parents[5] / "docs" / "reliability.md"
WORDS = {
    RetrySafety.CHECK_FIRST: "only after a read has shown that the first had no effect",
    RetrySafety.NEVER: "never: ",
}


def test_repeatable_writes_match_the_reliability_page() -> None:
    writes = [merge_patch(PATH, {}), json_patch(PATH, []), create(PATH, {}), replace(PATH, {}), delete(PATH)]
    assert {write.repeat for write in [*writes, apply(PATH, {}, "virtshape")]} == {RetrySafety.ALWAYS}
    lines = [line.strip("| ").partition(" | ") for line in RELIABILITY.read_text(encoding="utf-8").splitlines()]
    rows = {verb: why for verbs, _bar, why in lines for verb in verbs.split(", ")}
    for state in power.STATES:
        request = power.subresource_request(state)
        verb = {"softreboot": "soft reboot"}.get(request.subresource, request.subresource)
        assert rows[verb].startswith(WORDS[request.write("shop", "a", dry_run=False).repeat]), verb


def send_unless_second(job: Job[int]) -> None:
    if job.goal == 1:
        raise ApiError(403, {"message": "no"}, verb="PATCH", path=PATH)
    job.done.append("sent")


@pytest.mark.parametrize("fail_fast", [False, True])
def test_fail_fast_stops_after_the_first_failure(fail_fast: bool) -> None:
    jobs = [Job(ObjectKey("VirtualMachine", "shop", "a"), number) for number in range(3)]
    run_writes(jobs, send_unless_second, Task(fail_fast=fail_fast, concurrency=1), "virtual machine")
    assert [bool(job.done) for job in jobs] == [True, False, not fail_fast]
    assert str(jobs[1].failed).startswith("no. To permit the request, grant")
    last = "not sent because another virtual machine of the task failed and fail_fast is set" if fail_fast else None
    assert jobs[2].failed == last
