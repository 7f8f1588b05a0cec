"""A registry on loopback: images are pushed into it as values, and it asks for credentials as real ones do."""

import base64
import contextlib
import http.server
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from container_image import documents


class LoopbackRegistry(http.server.ThreadingHTTPServer):
    """auth: "" for everybody, "bearer" or "basic". login: who may read; None lets a token be had by anybody. asked,
    agents: paths and User-Agents of the requests."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.auth = ""
        self.login: tuple[str, str] | None = None
        self.content: dict[str, tuple[str, bytes]] = {}
        self.asked: list[str] = []
        self.agents: list[str] = []
        self.seen_by_storage: list[Any] = []
        self.storage = ""
        self.scheme = "http"
        self.broken = False

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    def push(self, name: str, tag: str, environment: dict[str, list[str]], size: int = 0) -> str:
        """Pushes an image for each architecture, one alone without an index; returns the digest of the whole.

        size: the size of the image's layer, which is named but not there.
        """
        *_parts, whole = made = list(documents(environment, size))
        for document in made:
            self.content[f"/v2/{name}/{document.folder}/{document.digest}"] = document.media_type, document.text
        self.content[f"/v2/{name}/manifests/{tag}"] = whole.media_type, whole.text
        return whole.digest


class _Handler(http.server.BaseHTTPRequestHandler):
    server: LoopbackRegistry

    def do_GET(self) -> None:
        registry, parts = self.server, urlsplit(self.path)
        registry.asked.append(parts.path)
        registry.agents.append(self.headers.get("User-Agent", ""))
        given = self.headers.get("Authorization", "")
        if registry.broken:
            self._answer(500, "", b"")
        elif parts.path == "/token":
            self._token(given, parse_qs(parts.query))
        elif parts.path.startswith("/storage"):
            registry.seen_by_storage.append(given)
            self._answer(200, *registry.content[parts.path.removeprefix("/storage")])
        elif registry.auth and given != self._expected():
            realm = f"{registry.scheme}://{registry.address}/token"
            bearer = f'Bearer realm="{realm}",service="test",scope="repository:x:pull"'
            self._answer(401, "", b"", {"WWW-Authenticate": bearer if registry.auth == "bearer" else 'Basic realm="x"'})
        elif parts.path not in registry.content:
            self._answer(404, "", b"")
        elif registry.storage and "/blobs/" in parts.path:
            self._answer(307, "", b"", {"Location": f"http://{registry.storage}/storage{parts.path}"})
        else:
            self._answer(200, *registry.content[parts.path])

    def _expected(self) -> str:
        return "Bearer good" if self.server.auth == "bearer" else self._basic()

    def _basic(self) -> str:
        return "Basic " + base64.b64encode(":".join(self.server.login or ()).encode()).decode()

    def _token(self, given: str, query: dict[str, list[str]]) -> None:
        if self.server.login and given != self._basic():
            self._answer(401, "", b"{}")
        else:
            assert query == {"service": ["test"], "scope": ["repository:x:pull"]}
            self._answer(200, "application/json", b'{"token": "good"}')

    def _answer(self, code: int, media_type: str, text: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": media_type, "Content-Length": str(len(text)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextlib.contextmanager
def loopback_registry() -> Iterator[LoopbackRegistry]:
    """A registry that lives as long."""
    with LoopbackRegistry() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            thread.join()
