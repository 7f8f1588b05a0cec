"""Which releases of KubeVirt a test run takes."""

from __future__ import annotations

import os

ALL = os.environ.get("VIRTSHAPE_TEST_RELEASES") == "all"
"""Whether every release is tested, or only the oldest; the default one is that of all other tests."""
