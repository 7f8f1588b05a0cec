"""Fixtures of the tests beside the running KubeVirt."""

import sys
from pathlib import Path

import pytest

from plugins.module_utils._cluster.client.session import Session

sys.path.append(str(Path(__file__).parents[1] / "modules"))


@pytest.fixture(scope="session")
def session(cluster: Path) -> Session:
    """One for all, since the requests are many and small."""
    return Session({"kubeconfig": str(cluster), "retry_timeout": 30})
