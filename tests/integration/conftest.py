"""What the tests on a cluster share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.session import Session


@pytest.fixture
def session(cluster: Path) -> Session:
    """Requests to the cluster by the collection's own client."""
    return Session({"kubeconfig": str(cluster), "retry_timeout": 30})
