"""Optional libraries: without them a module can still be documented, and fails with a message."""

from __future__ import annotations

import traceback

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
