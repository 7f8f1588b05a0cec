"""upgrade_info: an upgrade is rehearsed, then done, and each random VM becomes what was foreseen.

VIRTSHAPE_UPGRADE_VMS=200 takes more VMs than the usual ones, VIRTSHAPE_UPGRADE_FROM=1.6.6 another release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from upgrade_support import Cluster, mismatches

Launch = Callable[..., dict[str, Any]]

COUNT = int(os.environ.get("VIRTSHAPE_UPGRADE_VMS", "24"))
OLD, NEW = os.environ.get("VIRTSHAPE_UPGRADE_FROM", "1.4.1"), "1.9.0"


@pytest.mark.own_cluster
def test_vms_become_what_was_foreseen(launch: Launch, tmp_path: Path) -> None:
    where = ("--dir", str(tmp_path / "cluster"))

    def start(version: str) -> Path:
        return Path(launch("start", "--kubevirt-version", version, *where)["kubeconfig"])

    try:
        cluster = Cluster(start(OLD))
        cluster.create(COUNT, seed=22)
        wrong, figures = mismatches(cluster, lambda: start(NEW), NEW)
    finally:
        launch("stop", "--remove", *where, check=False)
    print(figures)
    assert not wrong, "\n".join(wrong[:20])
    assert figures["with changes"] and figures["running"] > COUNT // 3, figures
