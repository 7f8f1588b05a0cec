"""The TLS context of urllib3's connections."""

from __future__ import annotations

import ssl

from .libraries import urllib3


def context(ca_file: str | None = None, ca_text: str | None = None, check: bool = True) -> ssl.SSLContext:
    """A context that checks certificates and the names in them, unless `check` is False.

    ca_file, ca_text: the CAs that count, as PEM; without them, those of the system. Raises OSError for unusable ones.
    """
    tls_context = ssl.create_default_context(cafile=ca_file, cadata=ca_text)
    # urllib3 1 does not tell TLS a name that is an IP address; it compares names itself if TLS does not.
    compares_names = urllib3.__version__.startswith("1.")  # type: ignore[attr-defined]
    tls_context.check_hostname = check and not compares_names
    if not check:
        tls_context.verify_mode = ssl.CERT_NONE
    return tls_context
