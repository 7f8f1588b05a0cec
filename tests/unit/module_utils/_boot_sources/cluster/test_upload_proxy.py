"""The client of CDI's upload proxy against a server on loopback; its order of requests is in tests/boot_sources."""

import http.server
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tls_server import with_tls

from plugins.module_utils._boot_sources.cluster import upload_proxy
from plugins.module_utils._boot_sources.cluster.upload import proxy_connections
from plugins.module_utils._boot_sources.cluster.upload_proxy import UploadedFile
from plugins.module_utils._cluster.client.concurrency import display

SIZE = 300_000


class Server(http.server.ThreadingHTTPServer):
    """Takes what is sent, and answers with `code`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.code = 200
        self.bodies: list[bytes] = []
        self.headers: list[Any] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def respond(self) -> None:
        self.server.headers.append(self.headers)
        self.server.bodies.append(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.send_response(self.server.code)
        self.send_header("Content-Length", "0" if self.command == "HEAD" else "4")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(b"said")

    do_HEAD = do_POST = respond

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as created:
        thread = threading.Thread(target=created.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield created
        created.shutdown()


def send(pool: Any, url: str) -> upload_proxy.UploadResponse:
    return upload_proxy.send(pool, url, "secret", UploadedFile(io.BytesIO(b"v" * SIZE), SIZE, "disk"))


def test_file_is_sent_with_its_content_length(server: Server) -> None:
    answer = send(proxy_connections({}), f"http://{server.address}/v1beta1/upload")
    assert answer == upload_proxy.UploadResponse(200, "said")
    assert server.bodies == [b"v" * SIZE]
    assert server.headers[0]["Authorization"] == "Bearer secret"
    assert server.headers[0]["Content-Length"] == str(SIZE)
    assert "Transfer-Encoding" not in server.headers[0]


def test_error_status_is_returned_as_response(server: Server) -> None:
    server.code = 503
    pool = proxy_connections({})
    assert send(pool, f"http://{server.address}/") == upload_proxy.UploadResponse(503, "said")
    assert not upload_proxy.accepts_uploads(pool, f"http://{server.address}/", "secret")


def test_the_certificate_is_checked(server: Server, tmp_path: Path) -> None:
    authority = with_tls(server, tmp_path)
    url = f"https://{server.address}/v1beta1/upload"
    refused = send(proxy_connections({}), url)
    assert (refused.code, refused.final) == (None, True)
    assert "certificate verify failed" in refused.text
    assert not upload_proxy.accepts_uploads(proxy_connections({}), url, "secret")
    for pool in (
        proxy_connections({"upload_proxy": {"ca_cert": str(authority)}}),
        proxy_connections({"upload_proxy": {"validate_certs": False}}),
    ):
        assert upload_proxy.accepts_uploads(pool, url, "secret")
        assert send(pool, url).code == 200


def test_unreadable_ca_and_unreachable_proxy(server: Server) -> None:
    with pytest.raises(OSError, match="No such file"):
        proxy_connections({"upload_proxy": {"ca_cert": "/no/such/file"}})
    address = server.address
    server.shutdown()
    server.server_close()
    answer = send(proxy_connections({}), f"http://{address}/")
    assert (answer.code, answer.final) == (None, False)
    assert "refused" in answer.text


def test_progress_shows_each_tenth_of_a_try() -> None:
    lines: list[str] = []
    file = UploadedFile(io.BytesIO(b"v" * 1000), 1000, "disk-1")
    token = display.set(lines.append)
    for size in (1, 98, 1, 50, 850):
        file.read(size)
    file.rewind()
    assert file.count == 1000, "nothing of the next try has been read"
    for size in (5, 195):
        file.read(size)
    display.reset(token)
    file.read(500)
    assert [line.partition(" of ")[0] for line in lines] == [
        "disk-1: 10 %",
        "disk-1: 100 %",
        "disk-1: 0 %",
        "disk-1: 20 %",
    ]
    assert file.count == 700


def test_progress_of_an_empty_file() -> None:
    lines: list[str] = []
    token = display.set(lines.append)
    UploadedFile(io.BytesIO(), 0, "disk-1").read()
    display.reset(token)
    assert lines == ["disk-1: 100 % of 0 bytes uploaded"]
