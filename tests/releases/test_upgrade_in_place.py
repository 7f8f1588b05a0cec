"""upgrade_info: an upgrade is rehearsed, then done, and each random VM becomes what was foreseen.

VIRTSHAPE_TEST_RELEASES=all takes 200 VMs and upgrades from two releases; VIRTSHAPE_UPGRADE_VMS=24 takes as many VMs.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kubernetes.utils.quantity import parse_quantity

from chosen_releases import ALL
from upgrade_support import Cluster, mismatches, over_quota, template_mismatches

Launch = Callable[..., dict[str, Any]]

COUNT = int(os.environ.get("VIRTSHAPE_UPGRADE_VMS", "200" if ALL else "20"))
NEW = "1.9.0"


@pytest.mark.own_cluster
@pytest.mark.nightly("another release of KubeVirt")
@pytest.mark.parametrize("old", ["1.4.0", "1.8.4"] if ALL else ["1.4.0"])
def test_upgraded_vms_match_the_prediction(launch: Launch, tmp_path: Path, old: str) -> None:
    where = ("--dir", str(tmp_path / "cluster"))

    def start(version: str) -> Path:
        return Path(launch("start", "--kubevirt-version", version, *where)["kubeconfig"])

    try:
        cluster = Cluster(start(old))
        cluster.create(COUNT, seed=22)
        cluster.create_templates(COUNT // 4, seed=23)
        limited = quota_mismatches(cluster)
        templates = cluster.run("upgrade_info", kubevirt_version=NEW)["templates"]
        wrong, figures = mismatches(cluster, lambda: start(NEW), NEW)
        wrong += limited + template_mismatches(cluster, templates)
    finally:
        launch("stop", "--remove", *where, check=False)
    print(figures)
    assert not wrong, "\n".join(wrong[:20])
    assert figures["with changes"] and figures["running"] > COUNT // 3, figures


def quota_mismatches(cluster: Cluster) -> list[str]:
    """VMs of which upgrade_info says something else than a sum of the pods' memory."""

    def rehearse(room: int) -> list[dict[str, Any]]:
        cluster.limit_memory(room)
        result: list[dict[str, Any]] = cluster.run("upgrade_info", kubevirt_version=NEW)["virtual_machines"]
        return result

    pods = {name: int(requests["memory"]) for name, requests in cluster.pods().items()}
    # A byte too little, so that one VM at least has no room.
    room = sum(_memory(item["pod_before"]) for item in rehearse(2**60)) - 1
    result = rehearse(room)
    wrong = []
    for said, side in (("quota_before", "pod_before"), ("quota_after", "pod_after")):
        over = over_quota(result, pods, side, room)
        wrong += [
            f"{item['name']}: {said} {item.get(said)}" for item in result if (said in item) != (item["name"] in over)
        ]
    assert any("quota_before" in item for item in result)
    cluster.limit_memory(2**60)
    return wrong


def _memory(pod: dict[str, Any]) -> int:
    return int(parse_quantity(pod["requests"]["memory"])) if pod else 0
