"""Requests to servers other than the API server, by urllib3."""

from __future__ import annotations

from typing import Any

from .sockets import tls_context

try:
    import urllib3
except ImportError:
    # `libraries` says so.
    urllib3 = None  # type: ignore[assignment]

__all__ = ["urllib3", "web_pool"]


def web_pool(
    ca_file: str | None = None, ca_text: str | None = None, check: bool = True, proxy: str = "", **options: Any
) -> Any:
    """A pool manager for servers other than the API server.

    ca_file: the CAs that count instead of the system's. ca_text: PEM of CAs that count besides the system's. check:
    whether to check certificates. options: arguments for urllib3's PoolManager. Raises OSError for unusable CAs, and
    urllib3's HTTPError for an unusable proxy.
    """
    context = tls_context(ca_file, ca_text, check)
    if urllib3.__version__.startswith("1."):  # type: ignore[attr-defined]
        # It does not tell TLS a name that is an IP address; it compares names itself if TLS does not.
        context.check_hostname = False
    if ca_text:
        context.load_default_certs()
    if not check:
        # The user requested it; urllib3 would warn for every request.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    if proxy:
        return urllib3.ProxyManager(proxy, ssl_context=context, proxy_ssl_context=context, **options)
    return urllib3.PoolManager(ssl_context=context, **options)
