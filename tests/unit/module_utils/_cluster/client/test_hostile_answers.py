"""Answers of a server that is no API server give one line, no retry where none helps, and an end."""

import contextlib
import gzip
import itertools
import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from plugins.module_utils._cluster.client import sender
from plugins.module_utils._cluster.client import session as sessions
from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS
from plugins.module_utils._resolver.api.write import apply
from scripted_server import session_with, status

VM = KINDS["VirtualMachine"]
ASKS = "set host to the address of an API server, not of a console, a login page or a proxy"


def raw(body: bytes, code: str = "200 OK", **headers: str) -> bytes:
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {code}\r\nContent-Length: {len(body)}\r\n{lines}\r\n".encode() + body


@contextlib.contextmanager
def server(answer: bytes, drip: bytes = b"") -> Iterator[tuple[Session, list[str]]]:
    """A session with a server that sends these bytes to each request, and then `drip` again and again."""
    requests: list[str] = []
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        while not over.is_set():
            try:
                connection, _address = listening.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                requests.append(connection.recv(65536).decode(errors="replace"))
                connection.sendall(answer)
                while drip and not over.wait(0.01):
                    connection.sendall(drip)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.1)
        host = f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread = threading.Thread(target=lambda: _until(over, serve, listening))
        thread.start()
        try:
            yield Session({"host": host, "api_key": "x", "retry_timeout": 0.3}), requests
        finally:
            over.set()
            thread.join()


def _until(over: threading.Event, serve: Any, listening: socket.socket) -> None:
    while not over.is_set():
        serve(listening)


PAGE = b"<!DOCTYPE html><html><head><title>Log in</title></head><body>" + b"x" * 5000 + b"</body></html>"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (raw(b"[]"), f"answered with [] instead of an object; {ASKS}"),
        (raw(b'"hello"'), f"answered with 'hello' instead of an object; {ASKS}"),
        (raw(PAGE), f"answered with the web page 'Log in'; {ASKS}"),
        (raw(b"{"), "answered with invalid JSON: "),
        (raw(b"[" * 100_000), "nested too deep"),
        (raw(b"", "302 Found", Location="https://sso/login?token=x"), "a redirect (302) to 'https://sso/login'; set"),
        (raw(b"\x1f\x8b broken", Content_Encoding="gzip"), "cannot decompress the answer of "),
        (raw(b'{"metadata": {}, "items": {"a": 1}}'), f"did not answer with a list of objects; {ASKS}"),
        (raw(b'{"metadata": {}, "items": [[]]}'), f"did not answer with a list of objects; {ASKS}"),
        (raw(b'{"metadata": [], "items": []}'), f"did not answer with a list of objects; {ASKS}"),
        (raw(b'{"metadata": {}, "items": [{"metadata": {"name": 5}}]}'), "did not answer with a list of objects"),
    ],
)
def test_malformed_list_response_is_one_line_error(answer: bytes, message: str) -> None:
    with server(answer) as (session, _asked), pytest.raises(ConnectionFailed) as error:
        session.list(VM, "shop")
    assert message in str(error.value), str(error.value)
    assert "\n" not in str(error.value) and "token=" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("items", "pages"), [("[]", 20), ('[{"metadata": {"name": "web"}}]', 2)], ids=["empty", "the same"]
)
def test_endless_pages_without_new_objects_are_stopped(items: str, pages: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_PAGES", 20)
    page = raw(f'{{"metadata": {{"continue": "more"}}, "items": {items}}}'.encode())
    with server(page) as (session, requests), pytest.raises(ConnectionFailed) as error:
        session.list(VM, "shop")
    assert str(error.value) == (
        f"{session.host} does not end the list of virtualmachines: page {pages} still has a continue token;"
        " check the API server, and a proxy in front of it"
    )
    assert len(requests) == pages


def test_endless_pages_of_new_objects_are_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "_PAGES", 20)
    numbers = itertools.count()

    def answer(_method: str, _path: str, _query: dict[str, str]) -> tuple[int, Any]:
        number = str(next(numbers))
        return 200, {"metadata": {"continue": number}, "items": [{"metadata": {"name": number}}]}

    endless = pytest.raises(ConnectionFailed, match="page 20 still has a continue token")
    with endless, session_with(answer, retry_timeout=100) as session:
        session.list(VM, "shop")
    assert next(numbers) == 20


def test_an_empty_page_is_not_the_last() -> None:
    pages = iter([([], "a"), ([], "b"), (["web"], "")])

    def answer(_method: str, _path: str, _query: dict[str, str]) -> tuple[int, Any]:
        names, token = next(pages)
        return 200, {"metadata": {"continue": token}, "items": [{"metadata": {"name": name}} for name in names]}

    with session_with(answer, retry_timeout=100) as session:
        items = session.list(VM, "shop")
    assert [item["metadata"]["name"] for item in items] == ["web"]


def test_malformed_object_response_is_not_retried() -> None:
    with server(raw(b'{"kind": "VirtualMachine"}')) as (session, requests):
        with pytest.raises(ConnectionFailed, match="did not answer with an object"):
            session.get(VM, "shop", "web")
        with pytest.raises(ConnectionFailed, match="did not answer with an object"):
            session.write(
                apply(VM.path("shop", "web"), {"metadata": {"name": "web", "namespace": "shop"}}, "virtshape")
            )
    assert len(requests) == 2


def test_web_page_is_reported_by_its_title() -> None:
    page = raw(PAGE, "503 Service Unavailable", Content_Type="text/html")
    with server(page) as (session, _asked), pytest.raises(ApiError) as error:
        session.list(VM, "shop")
    assert str(error.value).startswith(
        f"{session.host} answered 503 Service Unavailable with the web page 'Log in': {PROXY} (tried "
    )


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"", "nothing"),
        (b"upstream connect error\n or disconnect", "the text 'upstream connect error or disconnect'"),
        (b'{"error": "no backend"}', 'the text \'{"error": "no backend"}\''),
        (b"<html><style>p {}</style><p>no <b>backend</b></p><scr", "the web page 'no backend'"),
        (b"x" * 3000, f"the text '{'x' * 60}"),
    ],
)
def test_a_proxy_is_named_with_its_answer(body: bytes, shown: str) -> None:
    with server(raw(body, "502 Bad Gateway")) as (session, _asked), pytest.raises(ApiError) as error:
        session.list(VM, "shop")
    text = str(error.value)
    assert text.startswith(f"{session.host} answered 502 Bad Gateway with {shown}")
    assert f": {PROXY}" in text and len(text) < 500


def test_http_to_a_server_of_https() -> None:
    answer = raw(b"Client sent an HTTP request to an HTTPS server.\n", "400 Bad Request", Content_Type="text/plain")
    with server(answer) as (session, requests), pytest.raises(ConnectionFailed) as error:
        session.list(VM, "shop")
    assert str(error.value) == (
        f"{session.host} answers HTTPS only; set host, or server in the kubeconfig, to https://..."
    )
    assert len(requests) == 1


def test_https_to_a_server_of_http() -> None:
    with server(raw(b"{}")) as (plain, _asked):
        session = Session({"host": plain.host.replace("http:", "https:"), "api_key": "x", "retry_timeout": 100})
        with pytest.raises(ConnectionFailed, match=r"if it answers HTTP only, set host, or server .*, to http://"):
            session.list(VM, "shop")


@pytest.mark.parametrize("key", ["hunter2\nhunter3", "hunter2\u2603"])
def test_header_with_strange_characters_is_refused(key: str) -> None:
    with server(raw(b"{}")) as (plain, _asked):
        session = Session({"host": plain.host, "api_key": key})
        with pytest.raises(ConnectionFailed, match="characters that no HTTP header may have") as error:
            session.list(VM, "shop")
    assert "hunter" not in str(error.value)


def test_login_in_the_host_is_hidden() -> None:
    with pytest.raises(ConnectionFailed, match="cannot reach the API server") as error:
        Session({"host": "https://me:hunter2@127.0.0.1:1", "api_key": "x", "retry_timeout": 0}).list(VM, "shop")
    assert "hunter2" not in str(error.value)


PACKED = gzip.compress(json.dumps({"metadata": {}, "items": []}).encode())
CHUNKED = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"


@pytest.mark.parametrize("answer", [raw(PACKED, Content_Encoding="gzip"), CHUNKED % (len(PACKED), PACKED)])
def test_compressed_response_is_read(answer: bytes) -> None:
    with server(answer) as (session, _asked):
        assert session.list(VM, "shop") == []


@pytest.mark.parametrize(
    "begun",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n{", id="the body"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", id="the headers"),
    ],
)
def test_dripping_response_is_stopped(monkeypatch: pytest.MonkeyPatch, begun: bytes) -> None:
    monkeypatch.setattr(sender, "_DEADLINE", 0.2)
    late = pytest.raises(ConnectionFailed, match="the server did not complete its answer in time")
    with server(begun, drip=b" ") as (session, _asked), late:
        session.list(VM, "shop")


def test_oversized_response_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "_LARGEST", 2**20)
    begun = b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"
    too_much = pytest.raises(ConnectionFailed, match="answered with more than 1 MiB")
    with server(begun, drip=b" " * 2**16) as (session, _asked), too_much:
        session.list(VM, "shop")


def test_malformed_events_end_a_watch() -> None:
    with server(raw(b'[]\n{"type": "ADDED", "object": []}\n')) as (session, _asked):
        assert list(session.watch(VM, "shop", "1", 1)) == []


@pytest.mark.parametrize(
    "message", ["etcdserver: request is too large", "rpc error: trying to send message larger than max"]
)
def test_object_too_large_for_etcd_is_not_retried(message: str) -> None:
    requests = []

    def answer(method: str, path: str, _query: dict[str, str]) -> tuple[int, Any]:
        requests.append((method, path))
        return status(500, message)

    with session_with(answer, retry_timeout=5) as session, pytest.raises(ApiError) as error:
        session.write(apply(VM.path("shop", "web"), {"metadata": {"name": "web", "namespace": "shop"}}, "virtshape"))
    assert len(requests) == 1
    assert str(error.value).endswith("into a Secret or ConfigMap")


PROXY = "that is a proxy or load balancer, not the Kubernetes API; check the API server behind it"
TERMINATING = "unable to create new content in namespace shop because it is being terminated"


@pytest.mark.parametrize(
    ("message", "remedy"),
    [
        (f'virtualmachines.kubevirt.io "web" is forbidden: {TERMINATING}', "; wait until the namespace is deleted,"),
        (
            'pods "web" is forbidden: exceeded quota: q, requested: cpu=2, limited: cpu=1',
            "; request less, ",
        ),
        ('pods "web" is forbidden: violates PodSecurity "restricted:latest"', ""),
        ('pods "web" is forbidden: maximum memory usage per Container is 1Gi', ""),
        (
            'virtualmachines.kubevirt.io is forbidden: User "me" cannot create resource',
            ". To permit the request, grant {",
        ),
        ("virtualmachines is forbidden", ". To permit the request, grant {"),
    ],
)
def test_only_a_missing_right_is_answered_with_rights(message: str, remedy: str) -> None:
    result = str(ApiError(403, {"message": message, "reason": "Forbidden"}, verb="PATCH", path=VM.path("shop")))
    assert result.startswith(message + remedy)
    assert ("grant" in result) == ("grant" in remedy) and (remedy or result == message)


@pytest.mark.parametrize("details", [[], "x", {"causes": {}}, {"causes": [None, 5]}, None])
def test_details_of_any_shape(details: Any) -> None:
    assert ApiError(422, {"message": "no", "details": details}).causes == []
