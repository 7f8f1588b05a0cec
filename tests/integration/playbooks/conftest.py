"""Fixtures of the tests of playbooks."""

from pathlib import Path

import pytest

from fleet_support import Fleet


@pytest.fixture
def fleet(cluster: Path, namespace: str, tmp_path: Path) -> Fleet:
    """A namespace with the instancetype of a fleet that is to be created."""
    made = Fleet(cluster, namespace, tmp_path)
    made.size(1, "2Gi")
    return made
