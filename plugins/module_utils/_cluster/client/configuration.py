"""Turns authentication options, named as in kubernetes.core, into a configuration of the official client."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from .errors import ConnectionFailed

_FILES: Final = ("ca_cert", "client_cert", "client_key")
_CREDENTIALS: Final = ("api_key", "username", "client_cert")
# Seconds for which an exec plugin may run.
_PLUGIN: Final = 60
_HANGS: Final = (
    "{} did not end within {} s and was stopped; run it in a terminal to see what it waits for, or set api_key"
)


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
            setattr(configuration, attribute, str(Path(value).expanduser()) if option in _FILES else value)
    if options.get("proxy_headers"):
        from urllib3.util import make_headers

        headers = {name: value for name, value in options["proxy_headers"].items() if value is not None}
        configuration.proxy_headers = make_headers(**headers)


def _one_line(error: Exception | str) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
