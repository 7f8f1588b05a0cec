"""Requests against a server that misbehaves on demand: what is retried, and what is not."""

import http.client
import http.server
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from tls_server import with_tls

from local_cluster import pki
from plugins.module_utils._cluster.client import sender as module
from plugins.module_utils._cluster.client.errors import ApiError, ConnectionFailed
from plugins.module_utils._cluster.client.rate import TokenBucket
from plugins.module_utils._cluster.client.sender import Sender
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api import kinds
from plugins.module_utils._resolver.api.write import apply

VM = kinds.KINDS["VirtualMachine"]
OK = (200, {}, b"{}")


class Server(http.server.ThreadingHTTPServer):
    """Gives the answers (code, headers, body) one after another; None cuts the connection, an event holds it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[Any] = []
        self.seen: list[str] = []
        self.bodies: list[bytes] = []
        self.headers: list[Any] = []


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.seen.append(f"{self.command} {self.path}")
        self.server.headers.append(self.headers)
        answer = self.server.answers.pop(0)
        if isinstance(answer, threading.Event):
            answer.wait()
            answer = None
        if answer is None:
            self.connection.close()
            return
        code, headers, body = answer
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as created:
        thread = threading.Thread(target=created.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield created
        created.shutdown()
        thread.join()


def session(server: Server, **options: Any) -> Session:
    host = f"http://127.0.0.1:{server.server_port}"
    return Session({"host": host, "api_key": "t", "retry_timeout": 5, **options})


def kubeconfig(host: str, **user: str) -> dict[str, Any]:
    return {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": host}}],
        "users": [{"name": "u", "user": user}],
    }


def status(code: int, reason: str = "", message: str = "") -> tuple[int, dict[str, str], bytes]:
    return code, {}, json.dumps({"kind": "Status", "reason": reason, "message": message}).encode()


@pytest.mark.parametrize(
    "first",
    [status(503), status(504), status(502), status(500), (429, {"Retry-After": "0"}, b""), None, (200, {}, b'{"cut')],
)
def test_temporary_fault_is_retried(server: Server, first: Any) -> None:
    server.answers = [OK, first, OK]
    way = session(server)
    way.request("GET", "/readyz")
    assert way.request("GET", "/x") == {}
    assert server.seen == ["GET /readyz", "GET /x", "GET /x"]


CONFLICT = {"kind": "Status", "reason": "Conflict", "message": "conflict"}
MANAGERS = {**CONFLICT, "details": {"causes": [{"reason": "FieldManagerConflict", "field": ".spec", "message": "m"}]}}


@pytest.mark.parametrize(
    "answer",
    [
        *(status(code) for code in (400, 401, 403, 404, 409, 422)),
        (409, {}, json.dumps(MANAGERS).encode()),
        status(500, "Invalid", "a webhook says no"),
        status(500, "", "failed to create typed patch object (a/b): .spec.x: field not declared in schema"),
    ],
)
def test_a_refusal_is_final(server: Server, answer: Any) -> None:
    server.answers = [answer]
    with pytest.raises(ApiError) as error:
        session(server).request("GET", "/x")
    assert error.value.code == answer[0]
    assert len(server.seen) == 1


@pytest.mark.parametrize("answer", [None, status(503)])
def test_create_with_unknown_outcome_is_not_repeated(server: Server, answer: Any) -> None:
    server.answers = [answer]
    with pytest.raises((ApiError, ConnectionFailed)):
        session(server).request("POST", "/x", body={})
    assert len(server.seen) == 1


def test_unprocessed_create_is_retried(server: Server) -> None:
    server.answers = [(429, {"Retry-After": "0"}, b""), OK]
    assert session(server).request("POST", "/x", body={}) == {}


def test_concurrent_write_conflict_is_retried(server: Server) -> None:
    server.answers = [(409, {}, json.dumps(CONFLICT).encode()), OK]
    assert session(server).request("PATCH", "/x", body={}) == {}


@pytest.mark.parametrize("body", [{"metadata": {"name": "a", "resourceVersion": "7"}}, [{"op": "test"}]])
def test_conflict_with_resource_version_is_final(server: Server, body: Any) -> None:
    server.answers = [(409, {}, json.dumps(CONFLICT).encode())]
    with pytest.raises(ApiError, match="conflict"):
        session(server).request("PUT", "/x", body=body, retry=True)


def test_body_reads_the_same_as_json_and_yaml(server: Server) -> None:
    text = "Grüße \U0001f600 \x7f \x85 \u2028 \ufeff \ud800"
    server.answers = [(200, {}, b'{"metadata": {"name": "a"}}')]
    session(server).write(apply("/x", {"metadata": {"name": "a", "annotations": {"note": text}}}, "virtshape"))
    sent = server.bodies[0].decode()
    assert json.loads(sent)["metadata"]["annotations"]["note"] == text
    # A lone surrogate is no character, whatever way it is written.
    assert yaml.safe_load(sent.replace("\\ud800", ""))["metadata"]["annotations"]["note"] == text.replace("\ud800", "")


def test_a_request_is_one_write_with_its_body(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    own = http.client.HTTPConnection.send

    def send(connection: Any, data: Any) -> None:
        written.append(data)
        own(connection, data)

    monkeypatch.setattr(http.client.HTTPConnection, "send", send)
    server.answers = [(200, {}, b'{"metadata": {"name": "a"}}')] * 2
    way = session(server)
    way.write(apply("/x", {"metadata": {"name": "a"}}, "virtshape"))
    way.get(VM, "shop", "a")
    assert [item.partition(b" ")[0] for item in written] == [b"PATCH", b"GET"]
    assert written[0].endswith(b'{"metadata":{"name":"a"}}')


def test_retry_after_is_honored_within_the_budget(server: Server) -> None:
    server.answers = [(503, {"Retry-After": "1"}, b""), OK, (429, {"Retry-After": "60"}, b"slow down")]
    way = session(server)
    began = time.monotonic()
    way.request("GET", "/x")
    assert time.monotonic() - began >= 1
    with pytest.raises(ApiError, match="slow down"):
        way.request("GET", "/x")
    assert len(server.seen) == 3


def test_failure_reports_the_number_of_tries(server: Server) -> None:
    server.answers = [status(503, message="busy")] * 100
    with pytest.raises(ApiError) as error:
        session(server, retry_timeout=0.5).request("GET", "/x")
    assert f"busy (tried {len(server.seen)} times" in error.value.message
    assert 1 < len(server.seen) < 10


def test_unreachable_server_is_given_up_only_once(server: Server) -> None:
    way = session(server, retry_timeout=1)
    server.answers = [OK, *[None] * 20]
    way.request("GET", "/x")
    with pytest.raises(ConnectionFailed, match="tried") as first:
        way.request("GET", "/x")
    assert way.give_up_reason == str(first.value)
    # Thousands of objects fail at once, and for one reason.
    server.answers, server.seen = [None], []
    with pytest.raises(ConnectionFailed) as second:
        way.dry_run_session().request("PATCH", "/y", body={})
    assert (len(server.seen), str(second.value)) == (1, str(first.value))
    # It is back, and as patient as before.
    server.answers = [OK, None, OK]
    assert way.request("GET", "/x") == {} and not way.give_up_reason
    assert way.request("GET", "/x") == {} and len(server.seen) == 4


def test_a_list_whose_pages_have_expired_begins_again(server: Server) -> None:
    first = {"metadata": {"continue": "next", "resourceVersion": "5"}, "items": [{"metadata": {"name": "a"}}]}
    again = {"metadata": {"resourceVersion": "9"}, "items": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]}
    server.answers = [
        (200, {}, json.dumps(first).encode()),
        status(410, "Expired"),
        (200, {}, json.dumps(again).encode()),
    ]
    items, version = session(server).list_to_watch(VM, "shop")
    assert ([item["metadata"]["name"] for item in items], version) == (["a", "b"], "9")
    assert "continue" not in server.seen[-1]


def test_expired_list_restarts_after_any_time(server: Server) -> None:
    page = {"metadata": {"continue": "token"}, "items": [{"metadata": {"name": "a"}}]}
    first = (200, {}, json.dumps(page).encode())
    last = (200, {}, json.dumps({"metadata": {"resourceVersion": "9"}, "items": []}).encode())
    server.answers = [first, status(410, "Expired"), last]
    assert session(server, retry_timeout=0).list_to_watch(VM, "shop") == ([], "9")
    server.answers = [first, status(410, "Expired")] * 20
    server.seen.clear()
    with pytest.raises(ApiError) as error:
        session(server, retry_timeout=0).list(VM, "shop")
    assert error.value.reason == "Expired"
    assert len(server.seen) == 10


def test_partial_metadata_is_requested_when_sufficient(server: Server) -> None:
    server.answers = [(200, {}, json.dumps({"metadata": {}, "items": []}).encode()), OK]
    way = session(server)
    way.list(VM, "shop", True)
    list(way.watch(VM, "shop", "5", 1, True))
    kinds = [headers["Accept"].partition("as=")[2].partition(";")[0] for headers in server.headers]
    assert kinds == ["PartialObjectMetadataList", "PartialObjectMetadata"]


def test_watch_that_fails_to_open_is_retried(server: Server) -> None:
    server.answers = [status(503), status(429), (200, {}, b'{"type": "BOOKMARK", "object": {"metadata": {}}}\n{"ty')]
    assert [event["type"] for event in session(server).watch(VM, "shop", "5", 10)] == ["BOOKMARK"]


def test_renewed_kubeconfig_token_is_used(server: Server, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old")
    way = Session({"kubeconfig": kubeconfig(f"http://127.0.0.1:{server.server_port}", tokenFile=str(token))})
    token.write_text("new")
    server.answers = [status(401), OK, status(401, message="Unauthorized")]
    way.request("POST", "/x", body={})
    assert [headers["Authorization"] for headers in server.headers] == ["Bearer old", "Bearer new"]
    with pytest.raises(ApiError) as error:
        way.request("GET", "/x")
    assert "they worked earlier in this task, so they expired or were revoked" in error.value.message
    assert len(server.seen) == 3


def test_host_option_overrides_the_kubeconfig(server: Server) -> None:
    way = session(server, api_key=None, kubeconfig=kubeconfig("http://127.0.0.1:1", token="t"))
    server.answers = [OK, OK]

    assert way.request("GET", "/x") == way.request("GET", "/y") == {}

    assert server.seen == ["GET /x", "GET /y"]


@pytest.mark.parametrize(
    ("path", "sent"), [("/k8s/clusters/c-1/", "/k8s/clusters/c-1"), ("/grün/a b%20c", "/gr%C3%BCn/a%20b%20c")]
)
def test_a_host_may_have_a_path(server: Server, path: str, sent: str) -> None:
    way = session(server, host=f"http://127.0.0.1:{server.server_port}{path}")
    server.answers = [OK]
    way.request("GET", "/x", {"limit": "5"})

    assert server.seen == [f"GET {sent}/x?limit=5"]


def test_proxy_receives_the_absolute_url(server: Server) -> None:
    way = session(server, host="http://cluster.example:6443", proxy=f"http://127.0.0.1:{server.server_port}")
    server.answers = [OK]
    way.request("GET", "/x")

    assert server.seen == ["GET http://cluster.example:6443/x"]


@pytest.mark.parametrize("host", ["https://[::1", "https://api.example:port", "https:", "https://api..example"])
def test_invalid_host_is_reported(host: str) -> None:
    with pytest.raises(ConnectionFailed) as error:
        Session({"host": host, "api_key": "t", "retry_timeout": 0}).request("GET", "/x")
    assert str(error.value).startswith(f"cannot reach the API server {host}: ")


@pytest.mark.parametrize(
    ("host", "name", "refused"),
    [
        ("127.0.0.1", "127.0.0.1", False),
        ("127.0.0.1", "127.0.0.2", True),
        ("127.0.0.1", "localhost", True),
        ("localhost", "localhost", False),
        ("localhost", "127.0.0.1", True),
    ],
)
def test_certificate_is_checked_for_the_host_name(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str, name: str, refused: bool
) -> None:
    monkeypatch.setattr(pki, "SERVICE_NAMES", (name,))
    authority = with_tls(server, tmp_path)
    server.answers = [OK]
    way = session(server, host=f"https://{host}:{server.server_port}", ca_cert=str(authority))

    if refused:
        with pytest.raises(ConnectionFailed, match=f"cannot verify the certificate of https://{host}"):
            way.request("GET", "/x")
    else:
        assert way.request("GET", "/x") == {}
    assert len(server.seen) == (not refused)


@pytest.mark.parametrize(("seconds", "expected"), [(60.0, ["first", "first"]), (-1.0, ["first", "second"])])
def test_credentials_are_kept_for_a_while(
    server: Server, monkeypatch: pytest.MonkeyPatch, seconds: float, expected: list[str]
) -> None:
    monkeypatch.setattr(f"{Sender.__module__}._HEADERS_TTL", seconds)
    tokens = iter(["first", "second"])
    way = session(server)
    monkeypatch.setattr(way._sender._settings, "authorization", lambda: next(tokens))
    server.answers = [OK, OK]
    way.request("GET", "/x")
    way.request("GET", "/x")

    assert [headers["Authorization"] for headers in server.headers] == expected


def test_always_rejected_tokens_are_renewed_only_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    way = session(server)
    tokens = iter(range(100))
    monkeypatch.setattr(Sender, "_credentials", lambda _sender: {"Authorization": str(next(tokens))})
    server.answers = [status(401)] * 3
    for tried in (2, 3):
        with pytest.raises(ApiError):
            way.request("GET", "/x")
        assert len(server.seen) == tried


def test_all_threads_share_the_limit_of_requests(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(TokenBucket, "wait_for_turn", lambda _bucket: taken.append(1))
    server.answers = [status(503), OK, OK]
    way = session(server, qps=5)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _number: way.request("GET", "/x"), range(2)))
    assert len(taken) == len(server.seen) == 3


def test_a_list_is_read_in_pages(server: Server) -> None:
    pages = [
        {"metadata": {"continue": "next", "resourceVersion": "5"}, "items": [{"metadata": {"name": "a"}}]},
        {"metadata": {"resourceVersion": "5"}, "items": [{"metadata": {"name": "b"}}]},
    ]
    server.answers = [(200, {}, json.dumps(page).encode()) for page in pages]
    items, version = session(server).list_to_watch(VM, "shop")
    assert ([item["metadata"]["name"] for item in items], version) == (["a", "b"], "5")
    assert {item["kind"] for item in items} == {"VirtualMachine"}
    first = "GET /apis/kubevirt.io/v1/namespaces/shop/virtualmachines?limit=500"
    assert server.seen == [first, f"{first}&continue=next"]


def test_objects_of_a_list_share_equal_managed_fields(server: Server) -> None:
    fields = [{"f:spec": {"f:running": {}}}, {"f:spec": {"f:running": {}}}, {"f:spec": {"f:template": {}}}]
    objects = [
        {"metadata": {"name": str(n), "managedFields": [{"fieldsV1": entry}, {}]}} for n, entry in enumerate(fields)
    ]
    strange = [{"metadata": {"name": "x", "managedFields": managed}} for managed in (None, "x", ["x"])]
    page = {"metadata": {}, "items": objects + strange}
    server.answers = [(200, {}, json.dumps(page).encode())]
    items = session(server).list(VM, "shop")
    assert [item["metadata"] for item in items] == [item["metadata"] for item in page["items"]]
    entry, equal, other = [item["metadata"]["managedFields"][0]["fieldsV1"] for item in items[:3]]
    assert entry is equal is not other


def test_rejected_selector_is_named_on_the_first_page(server: Server) -> None:
    page = {"metadata": {"continue": "next"}, "items": []}
    server.answers = [status(400, "BadRequest"), (200, {}, json.dumps(page).encode()), status(400, "BadRequest")]
    for selector in ("a in (b", ""):
        with pytest.raises(ApiError) as error:
            session(server).list(VM, "shop", labelSelector="a in (b")
        assert error.value.selector == selector


def test_watch_reads_lines_and_raises_expired_version(server: Server) -> None:
    events = [{"type": "ADDED", "object": {"metadata": {"name": "a"}}}, {"type": "ERROR", "object": {"code": 410}}]
    server.answers = [(200, {}, b"".join(json.dumps(event).encode() + b"\n" for event in events))]
    received = []
    with pytest.raises(ApiError) as error:
        for event in session(server).watch(VM, "shop", "5", 10):
            received.append(event)
    assert (received, error.value.code) == (events[:1], 410)


def test_missing_object_is_none(server: Server) -> None:
    server.answers = [status(404, "NotFound", "gone"), status(404, "", "404 page not found")]
    way = session(server)
    assert way.get(VM, "shop", "web") is None
    with pytest.raises(ApiError):
        way.get(VM, "shop", "web")


def test_refused_connection_is_reported() -> None:
    with Server() as closed:
        pass
    host = rf"http://127\.0\.0\.1:{closed.server_port}"
    with pytest.raises(ConnectionFailed, match=rf"^cannot reach the API server {host}: Connection refused"):
        session(closed, retry_timeout=0.2).request("GET", "/x")


def test_unanswered_first_request_is_sent_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_READ_TIMEOUT", 0.2)
    monkeypatch.setattr(module, "_FIRST_CONTACT", 0.1)
    over = threading.Event()
    server.answers = [over, OK, over]
    try:
        assert session(server).request("GET", "/x") == {}
        with pytest.raises(ConnectionFailed) as error:
            session(server, retry_timeout=0.1).request("GET", "/x")
    finally:
        over.set()
    host = f"http://127.0.0.1:{server.server_port}"
    assert str(error.value) == f"cannot reach the API server {host}: it sent nothing for 0.2 s"


def test_an_answer_without_a_body_is_empty(server: Server) -> None:
    server.answers = [(200, {}, b"")]
    assert session(server).request("DELETE", "/x") == {}


def test_truncated_error_response_is_retried(server: Server) -> None:
    cut = (403, {"Content-Type": "application/json"}, b'{"kind": "Sta')
    server.answers = [cut, OK, cut]
    way = session(server)
    assert way.request("GET", "/x") == {}
    with pytest.raises(ConnectionFailed, match=r"answered 403 with invalid JSON: ") as error:
        way.request("POST", "/x", body={})
    assert error.value.sent


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_request_has_credentials_and_impersonation_headers(server: Server, method: str) -> None:
    server.answers = [OK]
    options = {"api_key": None, "username": "me", "password": "secret"}
    way = session(server, **options, impersonate_user="you", impersonate_groups=["a", "b"])
    way.request(method, "/x", body=None if method == "GET" else {})
    headers = server.headers[0]
    assert headers["Authorization"] == "Basic bWU6c2VjcmV0"
    assert (headers["Impersonate-User"], headers.get_all("Impersonate-Group")) == ("you", ["a", "b"])


def test_credentials_are_renewed_by_one_thread(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    way = session(server)
    original = Sender.once
    connected: list[str] = []

    def once(own: Sender, *arguments: Any) -> Any:
        try:
            return original(own, *arguments)
        except ApiError:
            own._renewals += 1  # as another thread does in between
            raise

    monkeypatch.setattr(Sender, "once", once)
    monkeypatch.setattr(Sender, "_connect", lambda _sender: connected.append("anew"))
    server.answers = [status(401), OK]
    assert way.request("GET", "/x") == {}
    assert (len(server.seen), connected) == (2, [])
