"""The pool of connections to an API server, with one TLS context for all of them."""

from __future__ import annotations

import contextvars
import http.client
import io
import ssl
import time
from typing import Any

from .configuration import forget_files
from .errors import ConnectionFailed
from .libraries import RESTClientObject

deadline: contextvars.ContextVar[float] = contextvars.ContextVar("deadline")
"""When an answer that is under way in this thread is given up, on the clock of time.monotonic."""

_BUFFER = 65536
# What a pool would read from files again for each connection; the context holds it already.
_FILES = ("ca_certs", "cert_file", "key_file")


def connections(configuration: Any) -> Any:
    """A urllib3 pool manager as a kubernetes.client.Configuration says: proxy, TLS, number of connections.

    The files that the configuration names are read here, once, and not needed afterwards: keys that a kubeconfig holds
    as text, which only come to TLS through a file, stay on disk no longer than that. Raises ConnectionFailed for
    certificates and keys that cannot be used.
    """
    manager = RESTClientObject(configuration).pool_manager
    manager.pool_classes_by_scheme = _timely(manager.pool_classes_by_scheme)
    # A proxy that is reached by TLS itself is asked with the same files.
    if configuration.host.startswith("https:") and not str(configuration.proxy or "").startswith("https:"):
        manager.connection_pool_kw["ssl_context"] = _context(configuration)
        for name in _FILES:
            manager.connection_pool_kw.pop(name, None)
        forget_files()
    return manager


class _Until(io.RawIOBase):
    """Bytes of a connection until the deadline: its own timeout restarts with each byte that comes."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Any:
        if time.monotonic() > deadline.get(float("inf")):
            # No TimeoutError, for which urllib3 has words of its own.
            raise OSError("the server did not complete its answer in time")
        return self._raw.readinto(buffer)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fp = io.BufferedReader(_Until(self.fp.detach()), _BUFFER)


def _timely(pools: dict[str, Any]) -> dict[str, Any]:
    """The classes of pools whose answers end at the deadline."""
    made = {}
    for scheme, pool in pools.items():
        connection = type(pool.ConnectionCls.__name__, (pool.ConnectionCls,), {"response_class": _Response})
        made[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
    return made


def _context(configuration: Any) -> ssl.SSLContext:
    try:
        # Without a CA of its own those of the system count.
        context = ssl.create_default_context(cafile=configuration.ssl_ca_cert or None)
    except (OSError, ValueError) as error:
        raise ConnectionFailed(f"ca_cert {configuration.ssl_ca_cert}: cannot be used: {_words(error)}") from error
    if not configuration.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file or None)
        except (OSError, ValueError) as error:
            told = f"client_cert {configuration.cert_file} with client_key {configuration.key_file}"
            raise ConnectionFailed(f"{told}: cannot be used: {_words(error)}") from error
    return context


def _words(error: Exception) -> str:
    return getattr(error, "strerror", None) or " ".join(str(error).split())
