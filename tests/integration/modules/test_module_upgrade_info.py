"""upgrade_info: an upgrade is rehearsed, then done, and each random VM becomes what was foreseen.

VIRTSHAPE_UPGRADE_VMS=200 takes more VMs than the usual ones, VIRTSHAPE_UPGRADE_FROM=1.6.6 another release.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes.utils.quantity import parse_quantity
from upgrade_support import NAMESPACE, Cluster, mismatches, over_quota, template_mismatches

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
        cluster.create_templates(COUNT // 4, seed=23)
        limited = quota_mismatches(cluster)
        templates = cluster.run("upgrade_info", namespace=NAMESPACE, kubevirt_version=NEW)["templates"]
        wrong, figures = mismatches(cluster, lambda: start(NEW), NEW)
        wrong += limited + template_mismatches(cluster, templates)
    finally:
        launch("stop", "--remove", *where, check=False)
    print(figures)
    assert not wrong, "\n".join(wrong[:20])
    assert figures["with changes"] and figures["running"] > COUNT // 3, figures


def quota_mismatches(cluster: Cluster) -> list[str]:
    """VMs of which upgrade_info says something else than a sum of the pods' memory. A local cluster has no pods."""

    def rehearse(room: int) -> list[dict[str, Any]]:
        cluster.limit_memory(room)
        found = cluster.run("upgrade_info", namespace=NAMESPACE, kubevirt_version=NEW)["virtual_machines"]
        return [{**one, "runs": one["name"] in running} for one in found]

    running = cluster.instances().keys()
    whole = sum(_memory(one["pod_before"]) for one in rehearse(2**60))
    found = rehearse(whole)
    wrong = []
    for said, side in (("quota_before", "pod_before"), ("quota", "pod_after")):
        over = over_quota(found, side, whole)
        wrong += [f"{one['name']}: {said} {one.get(said)}" for one in found if (said in one) != (one["name"] in over)]
        assert bool(over) == (side == "pod_after"), "the pods need as much as before"
    cluster.limit_memory(2**60)
    return wrong


def _memory(pod: dict[str, Any]) -> int:
    return int(parse_quantity(pod["requests"]["memory"])) if pod else 0
