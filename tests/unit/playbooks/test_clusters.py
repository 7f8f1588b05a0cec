"""Playbooks over many clusters: which hosts they accept as clusters."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible_environment import ansible

REACHED = {"virtshape_host": "http://127.0.0.1:9", "virtshape_api_key": "x", "virtshape_retry_timeout": 0}
INVENTORY = {
    "all": {
        "children": {
            "clusters": {"hosts": {"east": REACHED, "west": REACHED}},
            "strangers": {"hosts": {"north": REACHED, "south": {"virtshape_api_key": "x"}}},
            "empty": {},
        }
    }
}


def play(folder: Path, playbook: str, *arguments: str, **variables: Any) -> str:
    """The output of a playbook that fails, on one line."""
    (folder / "hosts.json").write_text(json.dumps(INVENTORY))
    settings = {"KUBECONFIG": "/nonexistent", "ANSIBLE_SHOW_CUSTOM_STATS": "1"}
    options = ("-i", "hosts.json", "-e", json.dumps(variables), *arguments)
    code, printed = ansible(
        folder, "ansible-playbook", f"virtshape.instancetypes.{playbook}", *options, bare=True, **settings
    )
    assert code == 2, printed
    return " ".join(printed.split()).replace("''", "'")


def failed_hosts(output: str, reason: str) -> set[str]:
    """The hosts that the last task fails for a reason."""
    # From ansible-core 2.22 on, further keys come before the message.
    failures = output.partition("Fail with")[2].split("fatal: ")[1:]
    return {failure[1 : failure.index("]")] for failure in failures if f'"msg": "{reason}' in failure}


NO_GROUP = "clusters: cluster is not an inventory group with hosts; its hosts are the clusters"


@pytest.mark.parametrize(
    ("group", "limit", "message"),
    [
        ("cluster", "", NO_GROUP),
        ("empty", "", "clusters: empty is not an inventory group with hosts"),
        ("clusters", "north", "limit: is north, and no cluster of the group clusters is in it; choose other hosts"),
        ("strangers", "", "south: has no virtshape_kubeconfig, virtshape_context or virtshape_host; one of these"),
    ],
)
def test_host_without_a_cluster_is_refused(tmp_path: Path, group: str, limit: str, message: str) -> None:
    arguments = ["--limit", limit] if limit else []
    assert message in play(tmp_path, "deploy_catalog", *arguments, common_instancetypes_clusters=group)


def test_the_report_has_clusters_of_a_group(tmp_path: Path) -> None:
    """The same file of plays refuses other hosts."""
    assert NO_GROUP in play(tmp_path, "fleet_report", fleet_report_clusters="cluster")


def test_each_cluster_fails_for_itself(tmp_path: Path) -> None:
    output = play(tmp_path, "deploy_catalog", common_instancetypes_clusters="clusters")
    reason = "cannot reach the API server http://127.0.0.1:9"
    assert "CLUSTER KUBEVIRT CATALOG CHANGED FAILED" in output and f"east - - - {reason}" in output
    assert f'"common_instancetypes_msg": "east: {reason}' in output.partition("CUSTOM STATS")[2]
    assert '"common_instancetypes_failed": true' in output
    assert failed_hosts(output, reason) == {"east", "west"}
    limited = play(tmp_path, "deploy_catalog", "-l", "west", common_instancetypes_clusters="clusters")
    assert "fatal: [west]" in limited and "[east]" not in limited


def test_without_a_cluster_there_is_no_report(tmp_path: Path) -> None:
    output = play(tmp_path, "fleet_report", fleet_report_clusters="clusters")
    reason = "cannot reach the API server http://127.0.0.1:9"
    assert f'"fleet_report_msg": "east: {reason}' in output.partition("CUSTOM STATS")[2]
    assert "west" in failed_hosts(output, reason)
    assert not (tmp_path / "fleet-report").exists()
