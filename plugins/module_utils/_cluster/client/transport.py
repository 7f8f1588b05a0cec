"""From options to connections: the configuration of the official client, its TLS, and pools of connections."""

from __future__ import annotations

import contextvars
import http.client
import io
import logging
import ssl
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Final

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

_PATHS: Final = ("ca_cert", "client_cert", "client_key")
_CREDENTIALS: Final = ("api_key", "username", "client_cert")
# Seconds for which an exec plugin may run.
_PLUGIN: Final = 60
_HANGS: Final = (
    "{} did not end within {} s and was stopped; run it in a terminal to see what it waits for, or set api_key"
)


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


def configure(options: dict[str, Any]) -> Any:
    """The kubernetes.client.Configuration for the authentication options.

    options: kubeconfig (path or dict), context, host, api_key, username, password, validate_certs, ca_cert,
    client_cert, client_key, proxy, no_proxy, proxy_headers; None if unset. Options override the kubeconfig. Without
    options the default kubeconfig counts, else the service account of the pod.

    Raises ConnectionFailed with one line if the kubeconfig is unusable or its exec plugin fails. Certificates and keys
    inside a kubeconfig are written to files that only their owner can read; see forget_files.
    """
    from kubernetes.client import Configuration
    from kubernetes.config import exec_provider

    # The client starts plugins with this module of Python, also later, when a token expires.
    provider: Any = exec_provider
    provider.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": _Plugin})
    configuration = Configuration()
    before = set(_files())
    _load(options, configuration)
    _written.update(set(_files()) - before)
    _override(options, configuration)
    return configuration


class _Plugin(subprocess.Popen[str]):
    """An exec plugin, which has an end, unless it can ask the user at a terminal."""

    # The commands that hung. They are not tried again for each token and each object of a task.
    _hung: ClassVar[list[list[str]]] = []

    def __init__(self, command: list[str], **kwargs: Any) -> None:
        self._command, self._seconds = command, None if kwargs.get("stdin") else _PLUGIN
        if command in self._hung:
            raise self._hangs()
        super().__init__(command, **kwargs)

    def communicate(self, input: str | None = None, timeout: float | None = None) -> tuple[str, str]:
        try:
            return super().communicate(input, timeout or self._seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            self.wait()
            self._hung.append(self._command)
            raise self._hangs() from None

    def _hangs(self) -> ConnectionFailed:
        # Its arguments may be secret.
        return ConnectionFailed(_HANGS.format(self._command[0], _PLUGIN))


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


def _load(options: dict[str, Any], configuration: Any) -> None:
    from kubernetes import config as kubernetes_config

    config: Any = kubernetes_config
    source = options.get("kubeconfig")
    # An invalid file raises many types of errors: YAML errors, missing keys, wrong types, failing exec plugins.
    name = "kubeconfig" if isinstance(source, dict) else f"kubeconfig {source or '(default)'}"
    try:
        with _logged_errors() as logged_errors:
            _read(config, options, configuration)
    except ConnectionFailed:
        raise
    except Exception as error:
        raise ConnectionFailed(f"{name} cannot be used: {_one_line(error)}") from error
    given = any(options.get(name) for name in _CREDENTIALS)
    if logged_errors and not (given or configuration.api_key or configuration.cert_file or configuration.username):
        raise ConnectionFailed(f"{name}: the credential plugin returned no credentials: {_one_line(logged_errors[-1])}")


def _read(config: Any, options: dict[str, Any], configuration: Any) -> None:
    source, context = options.get("kubeconfig"), options.get("context")
    if isinstance(source, dict):
        config.load_kube_config_from_dict(source, context=context, client_configuration=configuration)
    elif source:
        path = Path(source).expanduser()
        if not path.is_file():
            raise ConnectionFailed(f"kubeconfig {path}: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG")
        config.load_kube_config(str(path), context=context, client_configuration=configuration)
    elif not (options.get("host") and any(options.get(name) for name in _CREDENTIALS)):
        try:
            config.load_kube_config(context=context, client_configuration=configuration)
        except config.ConfigException as error:
            try:
                config.load_incluster_config(client_configuration=configuration)
            except config.ConfigException:
                raise ConnectionFailed(
                    f"no cluster is configured ({_one_line(error)}); set kubeconfig, or host and api_key, or"
                    " K8S_AUTH_KUBECONFIG"
                ) from error


@contextmanager
def _logged_errors() -> Iterator[list[str]]:
    """Collects logged errors: if an exec plugin fails, the client only logs that and continues without credentials."""
    messages: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            messages.append(record.getMessage())

    listener = Listener(logging.ERROR)
    logging.getLogger().addHandler(listener)
    try:
        yield messages
    finally:
        logging.getLogger().removeHandler(listener)


def _override(options: dict[str, Any], configuration: Any) -> None:
    if options.get("host"):
        try:
            # The client parses it, to find the proxy of the environment.
            configuration.host = options["host"].rstrip("/")
        except ValueError as error:
            raise ConnectionFailed(f"cannot reach the API server {options['host']}: {_one_line(error)}") from error
    if options.get("api_key"):
        configuration.api_key = {"authorization": f"Bearer {options['api_key']}"}
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
        if value is not None:
            setattr(configuration, attribute, str(Path(value).expanduser()) if option in _PATHS else value)
    if options.get("proxy_headers"):
        from urllib3.util import make_headers

        headers = {name: value for name, value in options["proxy_headers"].items() if value is not None}
        configuration.proxy_headers = make_headers(**headers)


def _one_line(error: Exception | str) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
