"""Requests against a server that misbehaves as told: what is tried again, and what is not."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster import kinds
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.errors import ApiError, ConnectionFailed
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.session import Session

VM = kinds.BY_NAME["VirtualMachine"]
OK = (200, {}, b"{}")


class Server(http.server.ThreadingHTTPServer):
    """Gives the answers (code, headers, body) one after another; None cuts the connection."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Any] = []
        self.seen: list[str] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append(f"{self.command} {self.path}")
        answer = self.server.answers.pop(0)
        if answer is None:
            self.connection.close()
            return
        code, headers, body = answer
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_DELETE = answer

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def session(server: Server, **options: Any) -> Session:
    host = f"http://127.0.0.1:{server.server_port}"
    return Session({"host": host, "api_key": "t", "retry_timeout": 5, **options})


def status(code: int, reason: str = "", message: str = "") -> tuple[int, dict[str, str], bytes]:
    return code, {}, json.dumps({"kind": "Status", "reason": reason, "message": message}).encode()


@pytest.mark.parametrize(
    "first",
    [status(503), status(504), status(502), status(500), (429, {"Retry-After": "0"}, b""), None, (200, {}, b'{"cut')],
)
def test_a_passing_fault_is_tried_again(server: Server, first: Any) -> None:
    server.answers = [OK, first, OK]
    way = session(server)
    way.request("GET", "/readyz")
    assert way.request("GET", "/x") == {}
    assert server.seen == ["GET /readyz", "GET /x", "GET /x"]


@pytest.mark.parametrize("answer", [status(400), status(403), status(404), status(409), status(422), status(401)])
def test_a_refusal_is_final(server: Server, answer: Any) -> None:
    server.answers = [answer]
    with pytest.raises(ApiError) as error:
        session(server).request("GET", "/x")
    assert error.value.code == answer[0]
    assert len(server.seen) == 1


@pytest.mark.parametrize("answer", [None, status(503)])
def test_a_create_of_unknown_outcome_is_not_sent_twice(server: Server, answer: Any) -> None:
    server.answers = [answer]
    with pytest.raises((ApiError, ConnectionFailed)):
        session(server).request("POST", "/x", body={})
    assert len(server.seen) == 1


def test_a_create_that_was_not_taken_up_is(server: Server) -> None:
    server.answers = [(429, {"Retry-After": "0"}, b""), OK]
    assert session(server).request("POST", "/x", body={}) == {}


def test_the_retries_end(server: Server) -> None:
    server.answers = [status(503, message="busy")] * 100
    with pytest.raises(ApiError, match="busy"):
        session(server, retry_timeout=0.5).request("GET", "/x")
    assert 1 < len(server.seen) < 10


def test_a_list_is_read_in_pages(server: Server) -> None:
    pages = [
        {"metadata": {"continue": "next", "resourceVersion": "5"}, "items": [{"metadata": {"name": "a"}}]},
        {"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"name": "b"}}]},
    ]
    server.answers = [(200, {}, json.dumps(page).encode()) for page in pages]
    items, version = session(server).list(VM, "shop")
    assert [(item["kind"], item["metadata"]["name"]) for item in items] == [
        ("VirtualMachine", "a"),
        ("VirtualMachine", "b"),
    ]
    assert version == "5"
    assert server.seen == [
        "GET /apis/kubevirt.io/v1/namespaces/shop/virtualmachines?limit=500",
        "GET /apis/kubevirt.io/v1/namespaces/shop/virtualmachines?limit=500&continue=next",
    ]


def test_a_watch_reads_line_by_line_and_tells_an_expired_version(server: Server) -> None:
    events = [{"type": "ADDED", "object": {"metadata": {"name": "a"}}}, {"type": "ERROR", "object": {"code": 410}}]
    server.answers = [(200, {}, b"".join(json.dumps(event).encode() + b"\n" for event in events))]
    seen = []
    with pytest.raises(ApiError) as error:
        for event in session(server).watch(VM, "shop", "5", 10):
            seen.append(event)
    assert (seen, error.value.code) == (events[:1], 410)


def test_an_object_that_is_not_there(server: Server) -> None:
    server.answers = [status(404, "NotFound", "gone"), status(404, "", "404 page not found")]
    way = session(server)
    assert way.get(VM, "shop", "web") is None
    with pytest.raises(ApiError):
        way.get(VM, "shop", "web")


def test_nobody_listens() -> None:
    with Server() as closed:
        pass
    with pytest.raises(ConnectionFailed, match=r"cannot reach the API server http://127\.0\.0\.1:.*refused"):
        session(closed, retry_timeout=0.2).request("GET", "/x")
