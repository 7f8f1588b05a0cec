"""TLS for the HTTP server of a test."""

import socketserver
import ssl
from pathlib import Path

from local_cluster import pki


def with_tls(server: socketserver.TCPServer, folder: Path) -> Path:
    """Has the server show a certificate for pki.SERVICE_NAMES; the file of the authority that signed it."""
    pki.ensure(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "services.crt", folder / "services.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return folder / "services-ca.crt"
