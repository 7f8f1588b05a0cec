"""Connections with TLS: their context, and those to an API server, pooled."""

from __future__ import annotations

import contextvars
import http.client
import io
import ssl
import time
import traceback
from collections.abc import Callable
from typing import Any, Final

from .configuration import forget_files
from .errors import ConnectionFailed, reason_of

__all__ = ["MISSING", "HTTPHeaderDict", "RESTClientObject", "urllib3", "yaml"]

MISSING: str | None = None
"""The traceback of the failed import."""
try:
    import urllib3
    import yaml
    from kubernetes.client.rest import RESTClientObject

    try:
        from urllib3 import HTTPHeaderDict
    except ImportError:  # urllib3 1
        from urllib3._collections import HTTPHeaderDict
except ImportError:
    MISSING = traceback.format_exc()
    urllib3 = yaml = HTTPHeaderDict = RESTClientObject = None  # type: ignore[assignment, misc]


USER_AGENT: Final = "virtshape.instancetypes"
"""Who the requests say they are from, in the logs of servers."""

deadline: contextvars.ContextVar[float] = contextvars.ContextVar("deadline")
"""The deadline of this thread's response, as time.monotonic."""

_BUFFER = 65536
# Files that a pool would read for each connection; the TLS context already has their contents.
_FILES = ("ca_certs", "cert_file", "key_file")


def tls_context(ca_file: str | None = None, ca_text: str | None = None, check: bool = True) -> ssl.SSLContext:
    """A context that checks certificates and the names in them, unless `check` is False.

    ca_file, ca_text: the CAs that count, as PEM; without them, those of the system. Raises OSError for unusable ones.
    """
    context = ssl.create_default_context(cafile=ca_file, cadata=ca_text)
    # urllib3 1 does not tell TLS a name that is an IP address; it compares names itself if TLS does not.
    compares_names = urllib3.__version__.startswith("1.")  # type: ignore[attr-defined]
    context.check_hostname = check and not compares_names
    if not check:
        context.verify_mode = ssl.CERT_NONE
    return context


def connections(configuration: Any) -> Any:
    """The urllib3 pool manager for a kubernetes.client.Configuration: proxy, TLS, number of connections.

    Reads the configuration's files once. Keys inside a kubeconfig must go through a file to reach TLS; they are removed
    from the disk at once. Raises ConnectionFailed for unusable certificates and keys.
    """
    manager = RESTClientObject(configuration).pool_manager
    manager.pool_classes_by_scheme = _pool_classes(manager.pool_classes_by_scheme)
    # A proxy that uses TLS itself needs the same files.
    if configuration.host.startswith("https:") and not str(configuration.proxy or "").startswith("https:"):
        manager.connection_pool_kw["ssl_context"] = _context(configuration)
        for name in _FILES:
            manager.connection_pool_kw.pop(name, None)
        forget_files()
    return manager


def opener(manager: Any, host: str) -> Callable[..., Any]:
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


def _context(configuration: Any) -> ssl.SSLContext:
    try:
        # Without a CA file, the CAs of the system count.
        context = tls_context(configuration.ssl_ca_cert or None, check=bool(configuration.verify_ssl))
    except (OSError, ValueError) as error:
        raise ConnectionFailed(f"ca_cert {configuration.ssl_ca_cert}: cannot be used: {reason_of(error)}") from error
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file or None)
        except (OSError, ValueError) as error:
            options = f"client_cert {configuration.cert_file} with client_key {configuration.key_file}"
            raise ConnectionFailed(f"{options}: cannot be used: {reason_of(error)}") from error
    return context
