"""Fixtures of the tests on a cluster; some tests need only a server that answers as they say."""

import sys
from pathlib import Path

import pytest

from plugins.module_utils._cluster.client.session import Session

sys.path.append(str(Path(__file__).parents[1] / "unit" / "support"))


@pytest.fixture
def session(cluster: Path) -> Session:
    """Requests to the cluster by the collection's own client."""
    return Session({"kubeconfig": str(cluster), "retry_timeout": 30})
