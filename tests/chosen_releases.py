"""Chooses the releases of KubeVirt for a test run."""

import os

ALL = os.environ.get("VIRTSHAPE_TEST_RELEASES") == "all"
"""Whether every release is tested, or only the oldest; the default one is that of all other tests."""
