"""Optional libraries: without them a module can still be documented, and fails with a message."""

from __future__ import annotations

import traceback

__all__ = ["MISSING", "RESTClientObject", "urllib3", "yaml"]

MISSING: str | None = None
"""The traceback of the failed import."""
try:
    import urllib3
    import yaml
    from kubernetes.client.rest import RESTClientObject
except ImportError:
    MISSING = traceback.format_exc()
    urllib3 = yaml = RESTClientObject = None  # type: ignore[assignment, misc]
