"""A full disk ends the API server, is reported, and costs nothing that was stored.

The disk is a small file system in memory, mounted in a namespace of its own: no administrator is needed where
the system lets users have such namespaces.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from mounts import OWN_MOUNTS, may_mount

pytestmark = pytest.mark.own_cluster


@pytest.mark.nightly("a disk of its own, filled with a cluster's data")
@pytest.mark.skipif(not may_mount(), reason="users may not have mounts of their own here")
def test_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    script = Path(__file__).with_name("full_disk.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*OWN_MOUNTS, sys.executable, str(script), str(tmp_path)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    assert result["started"]["state"] == "running"
    assert result["written"] < 100
    assert result["full"]["failed"]
    assert "no space left on device" in result["full"]["msg"].lower()
    assert result["freed"]["state"] == "running"
    assert "kept" in result["namespaces"]
