"""An answer over a connection that is open already means what it means over a new one."""

import contextlib
import gzip
import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from plugins.module_utils._cluster.client import sender
from plugins.module_utils._cluster.client.errors import RequestFailed
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

VM = KINDS["VirtualMachine"]
OBJECT = json.dumps({"metadata": {"name": "web"}, "spec": {"text": "é" * 70_000}}).encode()


def plain(body: bytes, *headers: str, code: str = "200 OK") -> bytes:
    lines = "".join(f"{header}\r\n" for header in (f"Content-Length: {len(body)}", *headers))
    return f"HTTP/1.1 {code}\r\n{lines}\r\n".encode() + body


def chunked(body: bytes, *headers: str) -> bytes:
    lines = "".join(f"{header}\r\n" for header in ("Transfer-Encoding: chunked", *headers))
    parts = [body[start : start + 5000] for start in range(0, len(body), 5000)]
    sent = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return f"HTTP/1.1 200 OK\r\n{lines}\r\n".encode() + sent + b"0\r\n\r\n"


GOOD = plain(b'{"metadata": {"name": "first"}}')


class Server:
    """Answers the requests of each connection with these in turn, and closes it then. None: no answer."""

    def __init__(self, listening: socket.socket, answers: list[bytes | None]) -> None:
        self.connections, self._listening, self._answers = 0, listening, answers
        self.over = threading.Event()

    def serve(self) -> None:
        while not self.over.is_set():
            with contextlib.suppress(OSError):
                connection, _address = self._listening.accept()
                self.connections += 1
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            for answer in self._answers:
                if not connection.recv(65536):
                    return
                if answer is None:
                    self.over.wait(10)
                    return
                connection.sendall(answer)


@contextlib.contextmanager
def serving(*answers: bytes | None) -> Iterator[tuple[Session, Server]]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        server = Server(listening, list(answers))
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            host = f"http://127.0.0.1:{listening.getsockname()[1]}"
            yield Session({"host": host, "api_key": "x", "retry_timeout": 0.2}), server
        finally:
            server.over.set()
            thread.join()


def asked(session: Session) -> Any:
    """The object, or the error without the server's port, the tries and where a body broke off."""
    try:
        return session.request("GET", VM.path("shop", "web"))
    except RequestFailed as error:
        return re.split(r" \(tried|(?<=broken: )", str(error).replace(session.host, "HOST"))[0]


@pytest.mark.parametrize(
    "answer",
    [
        plain(OBJECT),
        chunked(OBJECT),
        plain(gzip.compress(OBJECT), "Content-Encoding: gzip"),
        chunked(gzip.compress(OBJECT), "Content-Encoding: gzip"),
        plain(OBJECT, "Connection: close"),
        plain(OBJECT, "X-Folded: one", "\ttwo"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + plain(OBJECT),
        b"HTTP/1.0 200 OK\r\n\r\n" + OBJECT,
        b"HTTP/1.1 200 OK\r\n\r\n" + OBJECT,
        plain(OBJECT, 'Warning: 299 - "old"', 'Warning: 299 - "older"'),
        b"HTTP/1.1 204 No Content\r\n\r\n",
        plain(b"{"),
        plain(b"[]"),
        plain(b"", "Location: https://sso/login", code="302 Found"),
        plain(b'{"kind": "Status", "message": "no", "reason": "NotFound"}', code="404 Not Found"),
        plain(b'{"kind": "Status", "message": "no"}', 'Warning: 299 - "old"', code="422 Unprocessable Entity"),
        plain(b"x", "Content-Encoding: gzip"),
        # urllib3 1 takes it for whole.
        *([] if urllib3.__version__.startswith("1.") else [plain(OBJECT)[:-10]]),
        chunked(OBJECT)[:-10],
        chunked(OBJECT).replace(b"\r\n1388\r\n", b"\r\nno size\r\n"),
        b"",
        b"HTTP/1.1 200 OK\r\nX",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 101 + b"\r\n",
        b"no HTTP\r\n\r\n",
        None,
    ],
    ids=lambda answer: ascii(answer[:60]) if answer else str(answer),
)
def test_answer_means_the_same_over_an_open_connection(answer: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "_READ_TIMEOUT", 0.3)
    with serving(answer) as (session, _server):
        anew, told = asked(session), {**session.warnings}
    with serving(GOOD, answer) as (session, _server):
        assert asked(session) == {"metadata": {"name": "first"}}
        # A retry opens a connection, whose first answer is the good one.
        outcome = session._sender.retried
        monkeypatch.setattr(session._sender, "retried", lambda send, *rest, **more: outcome(send, False))
        again = asked(session)
        assert (again, session.warnings) == (anew, told)


def test_connection_is_kept_after_a_complete_answer() -> None:
    with serving(GOOD, plain(OBJECT), chunked(OBJECT), plain(b"{}"), GOOD) as (session, server):
        for _number in range(5):
            assert isinstance(asked(session), dict)
        assert server.connections == 1


def test_closed_connection_is_replaced() -> None:
    with serving(GOOD) as (session, server):
        for number in range(1, 4):
            assert asked(session) == {"metadata": {"name": "first"}}
            assert server.connections == number


def test_watch_over_an_open_connection_gets_events_at_once() -> None:
    event = json.dumps({"type": "ADDED", "object": {"metadata": {"name": "web"}}}).encode()
    begun = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\n\r\n" % (len(event) + 1, event)
    with serving(GOOD, begun, None) as (session, _server):
        asked(session)
        assert next(session.watch(VM, "shop", "1", 60))["type"] == "ADDED"
