"""Connections are kept for the next request, and only while they can serve one."""

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from plugins.module_utils._cluster.client import connections, sockets
from plugins.module_utils._cluster.client.errors import ConnectionFailed
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

VM = KINDS["VirtualMachine"]
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n"


class Server:
    """Gives the answers one after another; b"" closes the connection. requests: their first lines by connection."""

    def __init__(self, answers: list[bytes], greet: Callable[[socket.socket], None] = lambda _link: None) -> None:
        self.answers, self.greet = answers, greet
        self.requests: list[list[str]] = []
        self.closed = threading.Semaphore(0)
        self.address = ("127.0.0.1", 0)

    @property
    def host(self) -> str:
        return f"{self.address[0]}:{self.address[1]}"

    def serve(self, link: socket.socket) -> None:
        lines: list[str] = []
        self.requests.append(lines)
        with link, contextlib.suppress(OSError):
            self.greet(link)
            while self.answers and (request := read_request(link)):
                lines.append(request)
                answer = self.answers.pop(0)
                link.sendall(answer)
                if answer.endswith(b"close"):
                    break
        self.closed.release()


def read_request(link: socket.socket) -> str:
    head = b""
    while b"\r\n\r\n" not in head:
        part = link.recv(65536)
        if not part:
            return ""
        head += part
    return head.partition(b"\r\n")[0].decode()


@contextlib.contextmanager
def listening(server: Server) -> Iterator[Server]:
    over = threading.Event()

    def accept(accepting: socket.socket) -> None:
        while not over.is_set():
            with contextlib.suppress(OSError):
                link, _address = accepting.accept()
                link.settimeout(None)
                threading.Thread(target=server.serve, args=(link,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as accepting:
        accepting.settimeout(0.05)
        server.address = accepting.getsockname()
        thread = threading.Thread(target=accept, args=(accepting,))
        thread.start()
        try:
            yield server
        finally:
            over.set()
            thread.join()


def session(server: Server, **options: Any) -> Session:
    return Session({"host": f"http://{server.host}", "api_key": "t", "retry_timeout": 0, **options})


@pytest.mark.parametrize("answer", [ANSWER, CHUNKED])
def test_one_connection_serves_one_request_after_another(answer: bytes) -> None:
    with listening(Server([answer] * 3)) as server:
        way = session(server)
        for path in "abc":
            assert way.request("GET", f"/{path}") == {}
    assert server.requests == [["GET /a HTTP/1.1", "GET /b HTTP/1.1", "GET /c HTTP/1.1"]]


def test_connection_that_the_server_closed_is_not_used() -> None:
    with listening(Server([ANSWER, ANSWER])) as server:
        way = session(server)
        way.request("GET", "/a")
        # What follows an answer closes the connection, although nothing announced it.
        server.answers.insert(0, b"close")
        with pytest.raises(ConnectionFailed, match="its answer is not HTTP"):
            way.request("GET", "/b")
        server.closed.acquire()
        # A creation would not be sent twice.
        assert way.request("POST", "/c", body={}) == {}
    assert server.requests == [["GET /a HTTP/1.1", "GET /b HTTP/1.1"], ["POST /c HTTP/1.1"]]


def test_idle_connection_that_ended_is_replaced() -> None:
    with listening(Server([ANSWER])) as server:
        way = session(server)
        way.request("GET", "/a")
        # The server had one answer: it has closed the connection.
        server.closed.acquire()
        server.answers = [ANSWER]
        assert way.request("POST", "/b", body={}) == {}
    assert server.requests == [["GET /a HTTP/1.1"], ["POST /b HTTP/1.1"]]


def test_connection_of_an_ended_watch_serves_others() -> None:
    event = b'{"type": "BOOKMARK", "object": {"metadata": {}}}\n'
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(event), event)
    with listening(Server([whole, ANSWER])) as server:
        way = session(server)
        assert len(list(way.watch(VM, "shop", "1", 60))) == 1
        way.request("GET", "/x")
    assert [len(lines) for lines in server.requests] == [2]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}close", "its answer ended too early"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n{}close", "its answer ended too early"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nx close", "its answer ended too early"),
        (b"SSH-2.0-OpenSSH_9.2\r\nclose", "its answer is not HTTP"),
        (b"close", "its answer is not HTTP"),
    ],
)
def test_broken_answer_is_named(answer: bytes, problem: str) -> None:
    with listening(Server([answer])) as server, pytest.raises(ConnectionFailed) as error:
        session(server).request("GET", "/x")
    assert str(error.value) == f"cannot reach the API server http://{server.host}: {problem}"
    assert error.value.sent


def test_connection_with_an_unread_answer_is_closed() -> None:
    event = b'{"type": "BOOKMARK", "object": {"metadata": {}}}\n'
    begun = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n" % (len(event), event)
    with listening(Server([begun, ANSWER])) as server:
        way = session(server)
        watch = way.watch(VM, "shop", "1", 60)
        assert next(watch)["type"] == "BOOKMARK"
        watch.close()  # type: ignore[attr-defined]
        assert server.closed.acquire(timeout=60)
        way.request("GET", "/x")
    assert [len(lines) for lines in server.requests] == [1, 1]


def test_no_more_connections_than_needed_are_kept() -> None:
    both = threading.Barrier(2)
    with listening(Server([ANSWER] * 3, greet=lambda _link: both.wait() and None)) as server:
        way = session(server, concurrency=1)
        threads = [threading.Thread(target=way.request, args=("GET", f"/{path}")) for path in "ab"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # One of two was closed.
        assert server.closed.acquire(timeout=60)
        way.request("GET", "/c")
    assert sorted(map(len, server.requests)) == [1, 2]


def test_server_that_never_completes_the_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (sockets, connections):
        monkeypatch.setattr(file, "CONNECT_TIMEOUT", 0.2)
    with listening(Server([ANSWER], greet=lambda link: link.recv(65536) and None)) as server:
        way = Session({"host": f"https://{server.host}", "api_key": "t", "retry_timeout": 0})
        with pytest.raises(ConnectionFailed) as error:
            way.request("POST", "/x", body={})
    assert str(error.value) == f"cannot reach the API server https://{server.host}: no connection within 0.2 s"
    assert not error.value.sent


@pytest.mark.parametrize("host", ["https://api.example:6443", "https://[fe80::1]"])
def test_refusal_of_a_proxy_is_shown(host: str) -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with listening(Server([refusal])) as server, pytest.raises(ConnectionFailed) as error:
        session(server, host=host, proxy=f"http://{server.host}").request("GET", "/x")
    assert str(error.value).endswith(": the proxy answered 407 Proxy Authentication Required")
    port = "" if host.endswith("6443") else ":443"
    assert server.requests == [[f"CONNECT {host.removeprefix('https://')}{port} HTTP/1.1"]]


def test_headers_for_a_proxy_replace_others() -> None:
    heads: list[bytes] = []
    with listening(Server([ANSWER], greet=lambda link: heads.append(link.recv(65536, socket.MSG_PEEK)))) as server:
        headers = {"basic_auth": "me:pw", "user_agent": "agent"}
        way = session(server, host="http://api.example", proxy=f"http://p:w@{server.host}", proxy_headers=headers)
        way.request("GET", "/x")
    lines = heads[0].decode().lower().splitlines()
    assert "host: api.example:80" in lines
    assert sorted(line for line in lines if "agent" in line or "auth" in line) == [
        "authorization: basic bwu6chc=",
        "proxy-authorization: basic cdp3",
        "user-agent: agent",
    ]


@pytest.mark.parametrize("headers", [{"user_agent": "hunter2\nX: y"}, {"proxy_basic_auth": "me:hunter2\u2603"}])
def test_header_that_no_proxy_can_get_is_refused(headers: dict[str, str]) -> None:
    options = {"host": "https://api.example", "api_key": "t", "proxy": "http://127.0.0.1:1", "proxy_headers": headers}
    with pytest.raises(ConnectionFailed, match="proxy_headers, has characters that no HTTP header may have") as error:
        Session(options)
    assert "hunter2" not in str(error.value) and error.value.final


def socks5(link: socket.socket) -> None:
    """Greets as a SOCKS server (RFC 1928, 1929) that reaches each name itself."""
    assert link.recv(65536)[0] == 5
    link.sendall(b"\x05\x02")
    asked.append(link.recv(65536))
    link.sendall(b"\x01\x00")
    asked.append(link.recv(65536))
    link.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x01")


def socks4(link: socket.socket) -> None:
    asked.append(link.recv(65536))
    link.sendall(b"\x00\x5a" + b"\x00" * 6)


asked: list[bytes] = []


@pytest.mark.parametrize(
    ("scheme", "host", "greet", "requests"),
    [
        (
            "socks5h",
            "api.example",
            socks5,
            [b"\x01\x02me\x02pw", b"\x05\x01\x00\x03\x0bapi.example" + struct.pack(">H", 6443)],
        ),
        ("socks5", "127.0.0.1", socks5, [b"\x01\x02me\x02pw", b"\x05\x01\x00\x01\x7f\x00\x00\x01\x19\x2b"]),
        ("socks4a", "api.example", socks4, [b"\x04\x01\x19\x2b\x00\x00\x00\x01me\x00api.example\x00"]),
        ("socks4", "127.0.0.1", socks4, [b"\x04\x01\x19\x2b\x7f\x00\x00\x01me\x00"]),
    ],
)
def test_socks_proxy_gets_its_login(
    scheme: str, host: str, greet: Callable[[socket.socket], None], requests: list[bytes]
) -> None:
    asked.clear()
    with listening(Server([ANSWER], greet=greet)) as server:
        way = session(server, host=f"http://{host}:6443", proxy=f"{scheme}://me:pw@{server.host}")
        assert way.request("GET", "/x") == {}
    assert asked == requests
    assert server.requests == [["GET /x HTTP/1.1"]]
