"""The libraries of modules, which a target may lack."""

from __future__ import annotations

import traceback
from typing import Final

__all__ = ["LIBRARIES", "MISSING", "HTTPHeaderDict", "urllib3", "yaml"]

LIBRARIES: Final = "urllib3 and PyYAML"
"""What modules need beside Python."""
MISSING: str | None = None
"""The traceback of the failed import of one of them."""
try:
    import urllib3
    import yaml

    try:
        from urllib3 import HTTPHeaderDict
    except ImportError:  # urllib3 1
        from urllib3._collections import HTTPHeaderDict
except ImportError:
    MISSING = traceback.format_exc()
    urllib3 = yaml = HTTPHeaderDict = None  # type: ignore[assignment, misc]
