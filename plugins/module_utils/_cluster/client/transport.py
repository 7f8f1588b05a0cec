"""TLS, and pools of connections of urllib3."""

from __future__ import annotations

import contextvars
import http.client
import io
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from ..._resolver.api.name_rules import quoted
from .errors import ConnectionFailed, reason_of
from .libraries import urllib3
from .settings import Pem, Settings

USER_AGENT: Final = "virtshape.instancetypes"
"""The name of the client in the logs of servers."""

deadline: contextvars.ContextVar[float] = contextvars.ContextVar("deadline")
"""The deadline of this thread's response, as time.monotonic."""

_BUFFER = 65536
_SOCKS: Final = ("socks4://", "socks4a://", "socks5://", "socks5h://")


def tls_context(ca_file: str | None, ca_text: str | None, check: bool) -> ssl.SSLContext:
    """A context that checks certificates and the names in them, unless `check` is False.

    ca_file, ca_text: trusted CAs as PEM; without both, the CAs of the system. Raises OSError for unusable CAs.
    """
    context = ssl.create_default_context(cafile=ca_file, cadata=ca_text)
    # urllib3 1 does not tell TLS a name that is an IP address; it compares names itself if TLS does not.
    compares_names = urllib3.__version__.startswith("1.")  # type: ignore[attr-defined]
    context.check_hostname = check and not compares_names
    if not check:
        context.verify_mode = ssl.CERT_NONE
    return context


def web_pool(
    ca_file: str | None = None, ca_text: str | None = None, check: bool = True, proxy: str = "", **options: Any
) -> Any:
    """A pool manager for servers other than the API server.

    ca_file: the CAs that count instead of the system's. ca_text: PEM of CAs that count besides the system's. check:
    whether to check certificates. options: arguments for urllib3's PoolManager. Raises OSError for unusable CAs, and
    urllib3's HTTPError for an unusable proxy.
    """
    context = tls_context(ca_file, ca_text, check)
    if ca_text:
        context.load_default_certs()
    if not check:
        # The user requested it; urllib3 would warn for every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    if proxy:
        return urllib3.ProxyManager(proxy, ssl_context=context, proxy_ssl_context=context, **options)
    return urllib3.PoolManager(ssl_context=context, **options)


def connections(settings: Settings, size: int) -> Any:
    """The urllib3 pool manager for the settings: proxy, TLS, number of connections.

    Reads the files of the settings once. Raises ConnectionFailed for unusable certificates, keys and proxies.
    """
    options: dict[str, Any] = {"maxsize": size, "retries": False}
    proxy_context = None
    if settings.host.startswith("https:"):
        options["ssl_context"] = _with_certificate(settings)
        options["cert_reqs"] = "CERT_REQUIRED" if settings.verify else "CERT_NONE"
        if settings.server_name:
            options["server_hostname"] = settings.server_name
    if settings.proxy.startswith("https:"):
        # The client's certificate is not for the proxy.
        proxy_context = _trusting(settings)
    if not settings.verify:
        # The user requested it; urllib3 would warn for every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    try:
        manager = _manager(settings, proxy_context, options)
    except (ValueError, ImportError) as error:
        raise ConnectionFailed(
            f"proxy {quoted(settings.proxy)}: cannot be used: {reason_of(error)}; write it as http://HOST:PORT",
            final=True,
        ) from error
    manager.pool_classes_by_scheme = _pool_classes(manager.pool_classes_by_scheme)
    return manager


def _manager(settings: Settings, proxy_context: ssl.SSLContext | None, options: dict[str, Any]) -> Any:
    if not settings.proxy:
        return urllib3.PoolManager(**options)
    if settings.proxy.lower().startswith(_SOCKS):
        # Needs another package.
        from urllib3.contrib.socks import SOCKSProxyManager

        return SOCKSProxyManager(settings.proxy, headers=settings.proxy_headers, **options)
    return urllib3.ProxyManager(
        settings.proxy, proxy_headers=settings.proxy_headers, proxy_ssl_context=proxy_context, **options
    )


def _trusting(settings: Settings) -> ssl.SSLContext:
    ca = settings.ca
    try:
        # Comments in a file of certificates may have any characters.
        text = ca.data.decode("ascii", "ignore") if ca else ""
        return tls_context(ca.path or None if ca else None, text or None, settings.verify)
    except (OSError, ValueError) as error:
        place = ca.place if ca else "the CAs of the system"
        raise ConnectionFailed(f"{place}: cannot be used: {reason_of(error)}") from error


def _with_certificate(settings: Settings) -> ssl.SSLContext:
    context, certificate, key = _trusting(settings), settings.certificate, settings.key
    if certificate is None:
        return context
    try:
        with _as_file(certificate) as file, _as_file(key) as key_file:
            context.load_cert_chain(file, key_file, password=_no_password)  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        of_key = key.place.rpartition(": ")[2] if key else "no key"
        raise ConnectionFailed(f"{certificate.place} with {of_key}: cannot be used: {reason_of(error)}") from error
    return context


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


def request_sender(manager: Any, host: str) -> Callable[..., Any]:
    """A function that sends a request to one host: (method, path and query, named arguments of urllib3's requests) →
    the response, with its body unread.

    All requests go to the host's pool, because the manager would take a fifth of a request's time to look for it. Only
    a proxy may need the whole URL. Raises ConnectionFailed for a host that is none.
    """
    if manager.proxy is not None:
        pool, prefix = manager, host
    else:
        try:
            pool, prefix = manager.connection_from_url(host), urllib3.util.parse_url(host).path or ""
        except urllib3.exceptions.LocationValueError as error:
            raise ConnectionFailed(f"cannot reach the API server {host}: {reason_of(error)}", final=True) from error

    def send(method: str, path: str, **kwargs: Any) -> Any:
        # Unlike request() of urllib3 1, this leaves repeated headers as they are if there is a body.
        return pool.request_encode_url(
            method, prefix + path, redirect=False, retries=False, preload_content=False, **kwargs
        )

    return send


class _DeadlineStream(io.RawIOBase):
    """A raw stream with a total deadline; the socket's own timeout restarts with each byte."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        if time.monotonic() > deadline.get(float("inf")):
            # urllib3 would reword a TimeoutError.
            raise OSError("the server did not complete its answer in time")
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, *arguments: Any, **kwargs: Any) -> None:
        super().__init__(*arguments, **kwargs)
        self.fp = io.BufferedReader(_DeadlineStream(self.fp.detach()), _BUFFER)


class _SingleWriteConnection:
    """A connection that sends a request's headers and body together: each write costs a system call and a TLS record,
    at both ends."""

    response_class = _Response
    _pending: list[bytes] | None = None

    def request(self, *arguments: Any, **kwargs: Any) -> None:
        self._pending = []
        try:
            super().request(*arguments, **kwargs)  # type: ignore[misc]
        finally:
            pending, self._pending = self._pending, None
        self.send(b"".join(pending))

    def send(self, data: bytes) -> None:
        if self._pending is None:
            super().send(data)  # type: ignore[misc]
        else:
            self._pending.append(data)


def _pool_classes(pools: dict[str, Any]) -> dict[str, Any]:
    """Pool classes with connections whose responses end at the deadline and whose requests are one write."""
    classes = {}
    for scheme, pool in pools.items():
        connection = type(pool.ConnectionCls.__name__, (_SingleWriteConnection, pool.ConnectionCls), {})
        classes[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
    return classes
