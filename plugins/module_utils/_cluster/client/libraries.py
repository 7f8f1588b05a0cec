"""Optional libraries: without them a module can still be documented, and fails with a message."""

from __future__ import annotations

import traceback

__all__ = ["MISSING", "CertificateError", "HTTPHeaderDict", "RESTClientObject", "urllib3", "yaml"]

MISSING: str | None = None
"""The traceback of the failed import."""
try:
    import urllib3
    import yaml
    from kubernetes.client.rest import RESTClientObject

    # Where urllib3 1 and 2 both have them.
    from urllib3._collections import HTTPHeaderDict
    from urllib3.connection import CertificateError  # type: ignore[attr-defined]
except ImportError:
    MISSING = traceback.format_exc()
    urllib3 = yaml = CertificateError = HTTPHeaderDict = RESTClientObject = None  # type: ignore[assignment, misc]
