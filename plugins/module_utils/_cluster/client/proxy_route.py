"""The way to an API server through a proxy."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import SplitResult

from ..._resolver.api.name_rules import quoted
from .errors import ConnectionFailed, reason_of
from .settings import Settings
from .sockets import CONNECT_TIMEOUT, PORTS, closed_on_error, dial, endpoint, over_tls, trusting
from .web import urllib3

_HEADER: Final = (
    "the login of the proxy, or a value of proxy_headers, has characters that no HTTP header may have, such as a line"
    " break; correct it"
)
_SOCKS: Final = {"socks4": 1080, "socks4a": 1080, "socks5": 1080, "socks5h": 1080}


class ProxyRoute:
    """How to reach a server through the proxy of the settings.

    dial: opens a connection, at the other end of which is the server, or the proxy if `prefix` is set.
    prefix: what requests have before the path, since the proxy has to read their whole URL; else "".
    headers: those of such requests that are for the proxy. Raises ConnectionFailed for an unusable proxy.
    """

    def __init__(self, settings: Settings, server: SplitResult) -> None:
        self.prefix, self.headers = "", {}
        try:
            proxy = endpoint(settings.proxy, {**PORTS, **_SOCKS})
            if proxy.scheme in _SOCKS:
                self.dial = _socks(proxy, settings.proxy_login, server)
                return
        except (ValueError, ImportError) as error:
            raise ConnectionFailed(
                f"proxy {quoted(settings.proxy)}: cannot be used: {reason_of(error)}; write it as http://HOST:PORT",
                final=True,
            ) from error
        # The client's certificate is not for the proxy.
        context = trusting(settings) if proxy.scheme == "https" else None
        login = {"proxy_basic_auth": settings.proxy_login} if settings.proxy_login else {}
        try:
            headers = urllib3.util.make_headers(**{**login, **settings.proxy_headers})  # type: ignore[arg-type]
            request = _tunnel_request(server.netloc, headers)
        except ValueError:
            # The error contains the header, which may be a secret.
            raise ConnectionFailed(_HEADER, final=True) from None
        if server.scheme == "http":
            self.prefix, self.headers = f"http://{server.netloc}", headers
            self.dial = partial(_dial_proxy, proxy, context)
        else:
            self.dial = partial(_dial_tunnel, proxy, context, request)


def _socks(proxy: SplitResult, login: str, server: SplitResult) -> Callable[[], Any]:
    # A package of its own.
    import socks

    version = socks.SOCKS4 if proxy.scheme.startswith("socks4") else socks.SOCKS5
    user, _colon, password = login.partition(":")
    return partial(
        socks.create_connection,
        (server.hostname, server.port),
        timeout=CONNECT_TIMEOUT,
        proxy_type=version,
        proxy_addr=proxy.hostname,
        proxy_port=proxy.port,
        # Whether the proxy looks the name up.
        proxy_rdns=proxy.scheme in ("socks4a", "socks5h"),
        proxy_username=user or None,
        proxy_password=password or None,
    )


def _dial_proxy(proxy: SplitResult, context: ssl.SSLContext | None) -> Any:
    link = dial(proxy)
    if context is None:
        return link
    with closed_on_error(link):
        return over_tls(link, context, str(proxy.hostname))


def _tunnel_request(authority: str, headers: dict[str, str]) -> bytes:
    """The request for a tunnel to a server. Raises ValueError for a header that is none."""
    if not all(value.isprintable() for value in headers.values()):
        raise ValueError("a header has a line break or another control character")
    lines = [f"CONNECT {authority} HTTP/1.1", f"Host: {authority}", *map(": ".join, headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")


def _dial_tunnel(proxy: SplitResult, context: ssl.SSLContext | None, request: bytes) -> Any:
    link = _dial_proxy(proxy, context)
    with closed_on_error(link):
        link.sendall(request)
        response = http.client.HTTPResponse(link, method="CONNECT")
        response.begin()
        if response.status != HTTPStatus.OK:
            raise OSError(f"the proxy answered {response.status} {response.reason}")
    return link
