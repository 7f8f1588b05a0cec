"""Simulated nodes beside real ones, on which kubelet, containerd, virt-handler and virt-launcher run.

Both belong to one cluster and run the same scenarios. docs/local_cluster.md has what differs.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from real_node.differences import differences, unexpected
from real_node.requirements import lacking

TESTS = Path(__file__).resolve().parents[1]

pytestmark = [pytest.mark.nightly("nodes with containers need root"), pytest.mark.own_cluster]


def test_simulated_nodes_do_what_real_nodes_do(tmp_path: Path) -> None:
    why = lacking()
    if why:
        pytest.skip(why)
    out = tmp_path / "seen.json"
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    subprocess.run([sys.executable, "-m", "real_node", "compare", str(out)], check=True, cwd=TESTS, env=environment)
    found = unexpected(differences(json.loads(out.read_text())))
    assert not found, "\n".join(found)
