"""How to reach an API server, and as whom: a task's options over its kubeconfig or the service account of a pod."""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from . import kubeconfig
from .errors import ConnectionFailed, reason_of
from .kubeconfig import Access, Entry

_FILES: Final = ("ca_cert", "client_cert", "client_key")
_ACCOUNT: Final = "/var/run/secrets/kubernetes.io/serviceaccount"


class Pem(NamedTuple):
    """A certificate or a key. place: what messages call it. Either path or data is set."""

    place: str
    path: str = ""
    data: bytes = b""


def _anonymous() -> str:
    return ""


@dataclass
class Settings:
    """A connection: its address, whom it trusts, and the credentials.

    name: the kubeconfig in messages. authorization: the value of the header Authorization, "" for none; called for each
    request, because tokens expire. verify: whether to check the server's certificate. ca: without it the CAs of the
    system count. server_name: the name in the certificate, if it is not the host's. proxy: without its login;
    "" for none. proxy_login: user:password, or "". proxy_headers: as urllib3's make_headers takes them.
    """

    name: str = "kubeconfig"
    host: str = ""
    authorization: Callable[[], str] = _anonymous
    verify: bool = True
    ca: Pem | None = None
    certificate: Pem | None = None
    key: Pem | None = None
    server_name: str = ""
    proxy: str = ""
    proxy_login: str = ""
    proxy_headers: dict[str, str] = field(default_factory=dict)


def configure(options: dict[str, Any]) -> Settings:
    """The settings of the authentication options.

    options: kubeconfig (path or dict), context, host, api_key, username, password, validate_certs, ca_cert,
    client_cert, client_key, proxy, no_proxy, proxy_headers; None if unset. Options override the kubeconfig. Without
    options the default kubeconfig counts, else the service account of the pod.

    Raises ConnectionFailed with one line if the kubeconfig is unusable or its exec plugin fails.
    """
    settings, failure = _located(options)
    _override(options, settings)
    if failure and not (options.get("api_key") or options.get("username") or settings.certificate):
        raise ConnectionFailed(failure)
    try:
        _choose_proxy(options, settings)
    except ValueError as error:
        raise ConnectionFailed(f"cannot reach the API server {settings.host}: {reason_of(error)}") from error
    return settings


def _located(options: dict[str, Any]) -> tuple[Settings, str]:
    """The settings without the options that override them, and why an exec plugin gave no credentials, or ""."""
    if not options.get("kubeconfig") and options.get("host") and any(map(options.get, kubeconfig.CREDENTIALS)):
        return Settings(), ""
    access = kubeconfig.access_of(options)
    return _of_pod(options) if access is None else _of_kubeconfig(access, options)


def _of_kubeconfig(access: Access, options: dict[str, Any]) -> tuple[Settings, str]:
    cluster, user = access.cluster, access.user
    settings = Settings(access.name, cluster.text("server").rstrip("/"))
    if not settings.host and not options.get("host"):
        raise cluster.error("server", "is not set; set it to the URL of the API server")
    if settings.host.startswith("https"):
        settings.ca = _pem(access, cluster, "certificate-authority")
        settings.certificate = _pem(access, user, "client-certificate")
        settings.key = _pem(access, user, "client-key")
    settings.verify = not cluster.flag("insecure-skip-tls-verify")
    settings.server_name, settings.proxy = cluster.text("tls-server-name"), cluster.text("proxy-url")
    if options.get("api_key"):
        return settings, ""
    return settings, _log_in(access, settings)


def _pem(access: Access, entry: Entry, name: str) -> Pem | None:
    data = entry.data(f"{name}-data")
    if data:
        return Pem(f"{access.name}: {name}-data", data=data)
    path = entry.path(name)
    return Pem(f"{access.name}: {name} {path}", path=path) if path else None


def _log_in(access: Access, settings: Settings) -> str:
    """Sets the credentials of the access' user, in the order of the official client.

    Returns why an exec plugin gave no credentials, or "".
    """
    user, failure = access.user, ""
    if user.fields.get("auth-provider"):
        # Loads the official client.
        from .auth_providers import AuthProviderLogin

        login = AuthProviderLogin(access)
        if login.authorization():
            settings.authorization = login.authorization
            return ""
    token, path = user.text("token").strip(), user.path("tokenFile")
    if token or path:
        settings.authorization = (lambda: f"Bearer {token}") if token else _token_file(path, user.place)
        return ""
    if user.fields.get("exec"):
        from .exec_plugins import ExecLogin, PluginFailed, failure_text

        try:
            plugin = ExecLogin(access)
        except PluginFailed as error:
            failure = failure_text(access, error)
        else:
            settings.authorization = plugin.authorization
            if plugin.certificate:
                place = f"{access.name}: the certificate of the credential plugin"
                settings.certificate = Pem(place, data=plugin.certificate.encode())
                settings.key = Pem(f"{access.name}: its key", data=plugin.key.encode())
            return ""
    name, password = user.text("username"), user.text("password")
    if name and user.fields.get("password") is not None:
        settings.authorization = _basic(name, password)
        return ""
    return failure


def _token_file(path: str, place: str) -> Callable[[], str]:
    from .token_file import TokenFile

    return TokenFile(path, place).authorization


def _basic(name: str, password: str) -> Callable[[], str]:
    login = f"{name}:{password}"
    try:
        data = login.encode("latin-1")
    except UnicodeEncodeError:
        data = login.encode()
    value = f"Basic {b64encode(data).decode()}"
    return lambda: value


def _of_pod(options: dict[str, Any]) -> tuple[Settings, str]:
    """The settings of the service account of the pod in which the task runs."""
    host, port = (os.environ.get(f"KUBERNETES_SERVICE_{name}", "") for name in ("HOST", "PORT"))
    token, ca = (Path(_ACCOUNT, name) for name in ("token", "ca.crt"))
    if not (host and port):
        problem = "this is no pod"
    elif not (token.is_file() and ca.is_file() and ca.stat().st_size):
        problem = f"the pod has no service account in {_ACCOUNT}"
    else:
        url = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        account = Settings("service account", url, ca=Pem(f"ca_cert {ca}", str(ca)))
        if not options.get("api_key"):
            account.authorization = _token_file(str(token), "service account")
        return account, ""
    named = "does not exist" if kubeconfig.is_missing(options) else "names none"
    raise ConnectionFailed(
        f"no cluster is configured ({kubeconfig.name_of(options)} {named}, and {problem}); set kubeconfig, or host"
        " and api_key, or K8S_AUTH_KUBECONFIG",
        final=True,
    )


def _override(options: dict[str, Any], settings: Settings) -> None:
    if options.get("host"):
        settings.host = options["host"].rstrip("/")
    if options.get("api_key"):
        # A token that is read from a file often ends with a line break.
        token = options["api_key"].strip()
        settings.authorization = lambda: f"Bearer {token}"
    elif options.get("username") and settings.authorization is _anonymous:
        settings.authorization = _basic(options["username"], options.get("password") or "")
    if options.get("validate_certs") is not None:
        settings.verify = options["validate_certs"]
    for option, attribute in zip(_FILES, ("ca", "certificate", "key")):
        value = options.get(option)
        if "-----BEGIN " in str(value):
            raise ConnectionFailed(f"{option}: expected the path of a file, found the content of one", final=True)
        if value is not None:
            path = str(Path(value).expanduser())
            setattr(settings, attribute, Pem(f"{option} {path}", path) if value else None)


def _names_proxies() -> bool:
    """Whether the environment may name a proxy, or on macOS the settings of the system."""
    return sys.platform == "darwin" or any(name.lower().endswith("_proxy") for name in os.environ)


def _choose_proxy(options: dict[str, Any], settings: Settings) -> None:
    """Sets the proxy of the options, the kubeconfig or the environment, unless the host is excepted from proxies."""
    given, of_kubeconfig, settings.proxy = options.get("proxy"), settings.proxy, ""
    if given == "" or not (given or of_kubeconfig or _names_proxies()):
        return
    # Most clusters are reached without one.
    from .proxies import environment_exceptions, environment_proxy, is_excepted

    proxy = given or of_kubeconfig or environment_proxy(settings.host)
    excepted = options.get("no_proxy")
    if not proxy or is_excepted(settings.host, environment_exceptions() if excepted is None else excepted):
        return
    scheme, separator, rest = proxy.rpartition("://")
    login, _at, address = rest.rpartition("@")
    settings.proxy, settings.proxy_login = f"{scheme}{separator}{address}", unquote(login)
    headers = options.get("proxy_headers") or {}
    settings.proxy_headers = {name: value for name, value in headers.items() if value is not None}
