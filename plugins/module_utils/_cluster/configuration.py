"""From authentication options, named as in kubernetes.core, to the official client's configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .errors import ConnectionFailed

__all__ = ["configure"]


def configure(options: dict[str, Any]) -> Any:
    """A kubernetes.client.Configuration from the authentication options.

    options: kubeconfig (path or dict), context, host, api_key, username, password, validate_certs, ca_cert,
    client_cert, client_key, proxy, no_proxy, proxy_headers; None where not given. Explicit values override those of
    the kubeconfig; without any the default kubeconfig is read, else the service account of the pod.
    Raises ConnectionFailed with one line for a kubeconfig that cannot be used.
    """
    from kubernetes.client import Configuration

    configuration = Configuration()
    _load(options, configuration)
    _override(options, configuration)
    return configuration


def _load(options: dict[str, Any], configuration: Any) -> None:
    from kubernetes import config as kubernetes_config

    config: Any = kubernetes_config
    source, context = options.get("kubeconfig"), options.get("context")
    # A wrong file shows in many forms: YAML errors, missing keys, wrong types, failing exec plugins.
    try:
        if isinstance(source, dict):
            config.load_kube_config_from_dict(source, context=context, client_configuration=configuration)
        elif source:
            path = Path(source).expanduser()
            if not path.is_file():
                raise ConnectionFailed(f"kubeconfig {path}: no such file; set kubeconfig or K8S_AUTH_KUBECONFIG")
            config.load_kube_config(str(path), context=context, client_configuration=configuration)
        elif not _explicit(options):
            _load_default(config, context, configuration)
    except ConnectionFailed:
        raise
    except Exception as error:
        name = "kubeconfig" if isinstance(source, dict) else f"kubeconfig {source or '(default)'}"
        raise ConnectionFailed(f"{name} cannot be used: {_one_line(error)}") from error


def _load_default(config: Any, context: str | None, configuration: Any) -> None:
    try:
        config.load_kube_config(context=context, client_configuration=configuration)
    except config.ConfigException as error:
        try:
            config.load_incluster_config(client_configuration=configuration)
        except config.ConfigException:
            raise ConnectionFailed(
                f"no cluster is given ({_one_line(error)}): set kubeconfig, or host and api_key, or K8S_AUTH_KUBECONFIG"
            ) from error


def _explicit(options: dict[str, Any]) -> bool:
    """Whether the options alone say where the cluster is and who asks."""
    return bool(options.get("host")) and any(options.get(name) for name in ("api_key", "username", "client_cert"))


def _override(options: dict[str, Any], configuration: Any) -> None:
    if options.get("host"):
        configuration.host = options["host"].rstrip("/")
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
            setattr(configuration, attribute, str(Path(value).expanduser()) if _is_file(option) else value)
    if options.get("proxy_headers"):
        from urllib3.util import make_headers

        wanted = {name: value for name, value in options["proxy_headers"].items() if value is not None}
        configuration.proxy_headers = make_headers(**wanted)


def _is_file(option: str) -> bool:
    return option in ("ca_cert", "client_cert", "client_key")


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text or type(error).__name__
