"""From options to connections: the configuration of the official client, its TLS, and pools of connections."""

from __future__ import annotations

import contextvars
import http.client
import io
import ssl
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from ..._resolver.api.name_rules import quoted
from . import kubeconfig
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
"""The name of the client in the logs of servers."""

deadline: contextvars.ContextVar[float] = contextvars.ContextVar("deadline")
"""The deadline of this thread's response, as time.monotonic."""

_BUFFER = 65536
# Files that a pool would read for each connection; the TLS context already has their contents.
_FILES = ("ca_certs", "cert_file", "key_file")

_PATHS: Final = ("ca_cert", "client_cert", "client_key")


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


def connections(configuration: Any, kubeconfig_name: str = "kubeconfig") -> Any:
    """The urllib3 pool manager for a kubernetes.client.Configuration: proxy, TLS, number of connections.

    kubeconfig_name: names the kubeconfig in errors. Reads the configuration's files once. Keys inside a kubeconfig must
    go through a file to reach TLS; they are removed from the disk at once. Raises ConnectionFailed for unusable
    certificates and keys.
    """
    try:
        manager = RESTClientObject(configuration).pool_manager
    except (ValueError, ImportError) as error:
        raise ConnectionFailed(
            f"proxy {quoted(configuration.proxy)}: cannot be used: {reason_of(error)}; write it as http://HOST:PORT",
            final=True,
        ) from error
    manager.pool_classes_by_scheme = _pool_classes(manager.pool_classes_by_scheme)
    # A proxy that uses TLS itself needs the same files.
    if configuration.host.startswith("https:") and not str(configuration.proxy or "").startswith("https:"):
        manager.connection_pool_kw["ssl_context"] = _context(configuration, kubeconfig_name)
        for name in _FILES:
            manager.connection_pool_kw.pop(name, None)
        forget_files()
    return manager


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


def _context(configuration: Any, kubeconfig_name: str) -> ssl.SSLContext:
    # The client names its own temporary file instead of a certificate or key inside a kubeconfig.
    inside = frozenset(_files().values())

    def place(option: str, path: str, field: str) -> str:
        return f"{kubeconfig_name}: {field}" if path in inside else f"{option} {path}"

    try:
        # Without a CA file, the CAs of the system count.
        context = tls_context(configuration.ssl_ca_cert or None, None, bool(configuration.verify_ssl))
    except (OSError, ValueError) as error:
        ca = place("ca_cert", configuration.ssl_ca_cert, "certificate-authority-data")
        raise ConnectionFailed(f"{ca}: cannot be used: {reason_of(error)}") from error
    if configuration.cert_file:
        try:
            context.load_cert_chain(configuration.cert_file, configuration.key_file or None)
        except (OSError, ValueError) as error:
            certificate = place("client_cert", configuration.cert_file, "client-certificate-data")
            key = place("client_key", configuration.key_file, "client-key-data").rpartition(": ")[2]
            raise ConnectionFailed(f"{certificate} with {key}: cannot be used: {reason_of(error)}") from error
    return context


def configure(options: dict[str, Any]) -> Any:
    """The kubernetes.client.Configuration for the authentication options.

    options: kubeconfig (path or dict), context, host, api_key, username, password, validate_certs, ca_cert,
    client_cert, client_key, proxy, no_proxy, proxy_headers; None if unset. Options override the kubeconfig. Without
    options the default kubeconfig counts, else the service account of the pod.

    Raises ConnectionFailed with one line if the kubeconfig is unusable or its exec plugin fails. Certificates and keys
    inside a kubeconfig are written to files that only their owner can read; see forget_files.
    """
    from kubernetes.client import Configuration

    configuration = Configuration()
    before = set(_files())
    kubeconfig.load(options, configuration)
    _written.update(set(_files()) - before)
    _override(options, configuration)
    _move_login(configuration)
    return configuration


# The contents of the files that this module wrote.
_written: set[str] = set()


def forget_files() -> None:
    """Removes the files that `configure` wrote, once they have been read.

    The client removes them only when the process ends, and never if the process is killed.
    """
    files = _files()
    while _written:
        name = files.pop(_written.pop(), None)
        if name is not None:
            Path(name).unlink(missing_ok=True)


def _files() -> dict[str, str]:
    """The client's temporary files: content → file name. Empty if the client keeps none."""
    from kubernetes.config import kube_config

    files: dict[str, str] = getattr(kube_config, "_temp_files", {})
    return files


def _override(options: dict[str, Any], configuration: Any) -> None:
    if options.get("host"):
        try:
            # The client parses it, to find the proxy of the environment.
            configuration.host = options["host"].rstrip("/")
        except ValueError as error:
            raise ConnectionFailed(f"cannot reach the API server {options['host']}: {reason_of(error)}") from error
    if options.get("api_key"):
        # A token that is read from a file often ends with a line break.
        configuration.api_key = {"authorization": f"Bearer {options['api_key'].strip()}"}
        configuration.refresh_api_key_hook = None
    names = {
        "username": "username",
        "password": "password",
        "validate_certs": "verify_ssl",
        "ca_cert": "ssl_ca_cert",
        "client_cert": "cert_file",
        "client_key": "key_file",
        "proxy": "proxy",
        "no_proxy": "no_proxy",
    }
    for option, attribute in names.items():
        value = options.get(option)
        if option in _PATHS and "-----BEGIN " in str(value):
            raise ConnectionFailed(f"{option}: expected the path of a file, found the content of one", final=True)
        if value is not None:
            setattr(configuration, attribute, str(Path(value).expanduser()) if option in _PATHS else value)
    if options.get("proxy_headers"):
        from urllib3.util import make_headers

        headers = {name: value for name, value in options["proxy_headers"].items() if value is not None}
        configuration.proxy_headers = make_headers(**headers)


def _move_login(configuration: Any) -> None:
    """Moves user and password from the proxy's URL, where urllib3 passes over them, to the proxy's headers."""
    scheme, separator, rest = str(configuration.proxy or "").rpartition("://")
    login, at, address = rest.rpartition("@")
    if at:
        configuration.proxy = f"{scheme}{separator}{address}"
        headers = urllib3.util.make_headers(proxy_basic_auth=unquote(login))
        configuration.proxy_headers = {**headers, **(configuration.proxy_headers or {})}
