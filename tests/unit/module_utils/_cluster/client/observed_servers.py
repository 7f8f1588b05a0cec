"""An API server with TLS, one without, and proxies, all of which write down what clients send."""

import base64
import contextlib
import http.server
import json
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from local_cluster import pki

VERSION = dict.fromkeys(
    ["buildDate", "compiler", "gitCommit", "gitTreeState", "gitVersion", "goVersion", "major", "minor", "platform"], "1"
)


class Observed:
    """Servers, their addresses as `places` for texts of the table, and what they saw."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[dict[str, Any]] = []
        self.folder = folder
        pki.ensure(folder)
        self.places = {"folder": str(folder)}

    def data(self, name: str) -> str:
        return base64.b64encode((self.folder / name).read_bytes()).decode()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Any

    def do_GET(self) -> None:
        names = ("Host", "Authorization", "Proxy-Authorization", "Impersonate-User")
        seen = {"request": self.path, **{name: self.headers[name] for name in names if self.headers[name]}}
        if isinstance(self.connection, ssl.SSLSocket):
            certificate = self.connection.getpeercert() or {}
            seen["certificate"] = [value for part in certificate.get("subject", ()) for _key, value in part]
            seen["server name"] = getattr(self.connection, "server_name", None)
        self.server.observed.seen.append({"at": self.server.name, **seen})
        body = json.dumps(VERSION).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        self.server.observed.seen.append(
            {
                "at": self.server.name,
                "request": f"CONNECT {self.path}",
                "login": self.headers["Proxy-Authorization"],
            }
        )
        # Names of servers exist only in certificates.
        with socket.create_connection(("127.0.0.1", int(self.path.rpartition(":")[2]))) as there:
            self.send_response(200)
            self.end_headers()
            _tunnel(self.connection, there)
        self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        pass


def _tunnel(here: socket.socket, there: socket.socket) -> None:
    others = {here: there, there: here}
    while True:
        pending = isinstance(here, ssl.SSLSocket) and here.pending()
        for ready in [here] if pending else select.select(list(others), [], [])[0]:
            with contextlib.suppress(OSError):
                data = ready.recv(65536)
                if data:
                    others[ready].sendall(data)
                    continue
            return


class _Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_arguments: Any) -> None:
        """Clients that reject a certificate break connections off."""


def _named(connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
    connection.server_name = name  # type: ignore[attr-defined]


def _tls(folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "services.crt", folder / "services.key")
    context.load_verify_locations(folder / "services-ca.crt")
    context.verify_mode = ssl.CERT_OPTIONAL
    context.sni_callback = _named  # type: ignore[assignment]
    return context


@contextlib.contextmanager
def observed_servers(folder: Path) -> Iterator[Observed]:
    observed = Observed(folder)
    with contextlib.ExitStack() as stack:
        for name, secure in (("server", True), ("plain", False), ("proxy", False), ("safe_proxy", True)):
            server: Any = stack.enter_context(_Server(("127.0.0.1", 0), _Handler))
            server.observed, server.name = observed, name
            observed.places[name] = f"127.0.0.1:{server.server_port}"
            observed.places[f"{name}_port"] = str(server.server_port)
            if secure:
                # The handshake is the thread's: a client that breaks it off stops no other.
                server.socket = _tls(folder).wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
        yield observed
