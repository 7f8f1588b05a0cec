"""Sockets to servers: their addresses, and TLS."""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import SplitResult, quote, unquote, urlsplit

from .errors import ConnectionFailed, reason_of
from .settings import Pem, Settings

CONNECT_TIMEOUT: Final = 10
"""Seconds for a connection, and for the handshake of TLS."""
PORTS: Final = {"http": 80, "https": 443}
# What a path may have (RFC 3986); a percent sign is that of a character which is encoded already.
_IN_PATHS: Final = "/%:@!$&'()*+,;="


def endpoint(url: str, ports: dict[str, int] = PORTS) -> SplitResult:
    """The parts of a server's URL, of which `netloc` has the port, but no login, and the path is encoded.

    ports: the usual ones of the schemes that are allowed. Raises ValueError.
    """
    parts = urlsplit(url)
    if parts.scheme not in ports:
        raise ValueError(f"expected a URL with {' or '.join(f'{scheme}://' for scheme in ports)}")
    if not parts.hostname:
        raise ValueError("the URL has no host")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return parts._replace(
        netloc=f"{host}:{parts.port or ports[parts.scheme]}", path=quote(parts.path.rstrip("/"), safe=_IN_PATHS)
    )


def dial(server: SplitResult) -> socket.socket:
    """A connection without TLS. Raises OSError."""
    link = socket.create_connection((unquote(str(server.hostname)), server.port or 0), CONNECT_TIMEOUT)
    # A request does not wait for the acknowledgement of the one before.
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


@contextmanager
def closed_on_error(link: Any) -> Iterator[None]:
    """Closes a connection if the block fails."""
    try:
        yield
    except BaseException:
        link.close()
        raise


def over_tls(link: Any, context: ssl.SSLContext, name: str) -> Any:
    """TLS over a connection. name: the server's, which its certificate has. Raises OSError."""
    if not isinstance(link, ssl.SSLSocket):
        return context.wrap_socket(link, server_hostname=name)
    # Python has no TLS in TLS.
    from urllib3.util.ssltransport import SSLTransport

    return SSLTransport(link, context, name)


def tls_context(ca_file: str | None, ca_text: str | None, check: bool) -> ssl.SSLContext:
    """A context that checks certificates and the names in them, unless `check` is False.

    ca_file, ca_text: trusted CAs as PEM; without both, the CAs of the system. Raises OSError for unusable CAs.
    """
    context = ssl.create_default_context(cafile=ca_file, cadata=ca_text)
    context.check_hostname = check
    if not check:
        context.verify_mode = ssl.CERT_NONE
    return context


def server_context(settings: Settings) -> ssl.SSLContext:
    """The context for the API server. Reads the files of the settings; raises ConnectionFailed for unusable ones."""
    context, certificate, key = trusting(settings), settings.certificate, settings.key
    context.set_alpn_protocols(["http/1.1"])
    if certificate is None:
        return context
    try:
        with _as_file(certificate) as file, _as_file(key) as key_file:
            context.load_cert_chain(file, key_file, password=_no_password)  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        of_key = key.place.rpartition(": ")[2] if key else "no key"
        raise ConnectionFailed(f"{certificate.place} with {of_key}: cannot be used: {reason_of(error)}") from error
    return context


def trusting(settings: Settings) -> ssl.SSLContext:
    """A context without the client's certificate. Raises ConnectionFailed for unusable CAs."""
    ca = settings.ca
    try:
        # Comments in a file of certificates may have any characters.
        text = ca.data.decode("ascii", "ignore") if ca else ""
        return tls_context(ca.path or None if ca else None, text or None, settings.verify)
    except (OSError, ValueError) as error:
        place = ca.place if ca else "the CAs of the system"
        raise ConnectionFailed(f"{place}: cannot be used: {reason_of(error)}") from error


def _no_password() -> str:
    # TLS would ask for one at the terminal.
    raise ValueError("the key is encrypted; give one without a password")


@contextmanager
def _as_file(pem: Pem | None) -> Iterator[str | None]:
    """The path of a certificate or key, since TLS reads no others. A file of its own is removed at once."""
    if pem is None or pem.path:
        yield pem.path if pem else None
        return
    # Only its owner may read it.
    descriptor, name = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem.data)
        yield name
    finally:
        Path(name).unlink()
