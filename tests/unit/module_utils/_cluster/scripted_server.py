"""An API server that answers as a test says."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.session import Session

# (method, path, query) → (code, JSON value or a list of watch events), or None to cut the connection.
Answer = Callable[[str, str, "dict[str, str]"], "tuple[int, Any] | None"]


class _Server(http.server.ThreadingHTTPServer):
    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer


class _Handler(http.server.BaseHTTPRequestHandler):
    server: _Server

    def respond(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        answer = self.server.answer(self.command, parts.path, dict(parse_qsl(parts.query)))
        if answer is None:
            self.connection.close()
            return
        code, value = answer
        lines = value if isinstance(value, list) else [value]
        body = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = respond

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextlib.contextmanager
def session_with(answer: Answer, retry_timeout: float = 0) -> Iterator[Session]:
    """A session with a server that lives as long."""
    with _Server(answer) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            host = f"http://127.0.0.1:{server.server_address[1]}"
            yield Session({"host": host, "api_key": "x", "retry_timeout": retry_timeout})
        finally:
            server.shutdown()
            thread.join()


def listed(*items: Any) -> dict[str, Any]:
    """The answer to a LIST."""
    return {"metadata": {"resourceVersion": "1"}, "items": list(items)}


def status(code: int, message: str, reason: str = "") -> tuple[int, dict[str, Any]]:
    """A refusal."""
    return code, {"kind": "Status", "code": code, "reason": reason, "message": message}
