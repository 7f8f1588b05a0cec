"""One catalog and one report for three clusters: one has an older KubeVirt, and one dies in the middle."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import flat, surroundings
from waiting import wait_until

from modules_support import execute
from plugins.module_utils._cluster.client.session import Session
from plugins.module_utils._resolver.api.kinds import KINDS

pytestmark = [
    pytest.mark.own_cluster,
    pytest.mark.nightly(
        "three clusters, one with another release; tests/unit/playbooks/test_clusters has the rules each day"
    ),
]

KIND = KINDS["VirtualMachineClusterInstancetype"]
SIZES = [f"s{number:02}" for number in range(16)]
# The old cluster gets v1, in which one size is other and one is missing.
CATALOG = {
    "series": {"web": {"sizes": {name: {"cpu": 2, "memory": "2Gi"} for name in SIZES}}},
    "versions": {
        "v2": {"kubevirt": "1.5"},
        "v1": {"without": ["web.s15"], "series": {"web": {"sizes": {"s00": {"cpu": 1}}}}},
    },
}
LIMIT = {"name": "shop", "namespaces": ["shop"], "require": ["instancetype"]}
RELEASES = {"east": "1.9.0", "old": "1.4.0", "dying": "1.9.0"}


class Clusters:
    """Three clusters, an inventory of them, and the playbooks over its hosts."""

    def __init__(self, started: dict[str, dict[str, Any]], folder: Path) -> None:
        self.started, self.folder = started, folder
        hosts: dict[str, Any] = {name: {"virtshape_kubeconfig": item["kubeconfig"]} for name, item in started.items()}
        # So slow that it can be killed in the middle.
        hosts["dying"] |= {"common_instancetypes_qps": 2, "virtshape_retry_timeout": 2}
        (folder / "clusters.json").write_text(json.dumps({"clusters": {"hosts": hosts}}))
        (folder / "catalog.yml").write_text(yaml.safe_dump(CATALOG, sort_keys=False))

    def begin(self, playbook: str, prefix: str, *arguments: str, **variables: Any) -> subprocess.Popen[str]:
        extra = {f"{prefix}_{name}": value for name, value in {"clusters": "clusters", **variables}.items()}
        command = [str(Path(sys.executable).with_name("ansible-playbook")), f"virtshape.instancetypes.{playbook}"]
        return subprocess.Popen(
            [*command, "-i", "clusters.json", "-e", json.dumps(extra), *arguments],
            cwd=self.folder,
            # None of them is the cluster of the environment.
            env=surroundings("/nonexistent", ANSIBLE_SHOW_CUSTOM_STATS="1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def deploy(self, *arguments: str) -> subprocess.Popen[str]:
        source = {"source": "path", "path": str(self.folder / "catalog.yml"), "limits": [LIMIT]}
        return self.begin("deploy_catalog", "common_instancetypes", *arguments, **source)

    def refused(self, cluster: str) -> str:
        """The refusal of a VM without an instancetype."""
        volumes = [{"name": "root", "container_disk": "registry.example.com/disk:1"}]
        where = {"kubeconfig": self.started[cluster]["kubeconfig"], "namespace": "shop", "name": "own"}
        return str(execute("virtual_machine", {**where, "memory": "1Gi", "volumes": volumes}).get("msg"))

    def names(self, cluster: str) -> set[str]:
        """The instancetypes of the catalog that the cluster has."""
        session = Session({"kubeconfig": self.started[cluster]["kubeconfig"], "retry_timeout": 30})
        items = session.list(KIND, None)
        return {item["metadata"]["name"] for item in items if item["metadata"]["name"].startswith("web.")}


@pytest.fixture(scope="module")
def clusters(launch: Callable[..., dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    folder = tmp_path_factory.mktemp("clusters")

    def start(name: str) -> dict[str, Any]:
        options = ("--kubevirt-version", RELEASES[name], "--namespace", "shop", "--data", "memory")
        return launch("start", *options, "--dir", str(folder / name))

    try:
        with ThreadPoolExecutor() as threads:
            started = dict(zip(RELEASES, threads.map(start, RELEASES)))
        yield Clusters(started, folder)
    finally:
        for name in RELEASES:
            launch("stop", "--remove", "--dir", str(folder / name), check=False)


def recap(output: str, host: str) -> str:
    return next(line for line in output.partition("PLAY RECAP")[2].splitlines() if line.startswith(host))


def test_one_catalog_and_one_report(clusters: Clusters, launch: Callable[..., dict[str, Any]]) -> None:
    status = launch("status", "--dir", str(clusters.folder / "dying"))
    process = clusters.deploy()
    wait_until(lambda: bool(clusters.names("dying")))
    # The supervisor would start the API server again.
    for part in ("supervisor", "control-plane"):
        os.kill(status["processes"][part], signal.SIGKILL)
    output, _nothing = process.communicate()
    assert process.returncode == 2, output
    assert "failed=0" in recap(output, "east") and "failed=0" in recap(output, "old")
    assert "failed=1" in recap(output, "dying")
    table = flat(output).partition("CLUSTER KUBEVIRT CATALOG CHANGED FAILED")[2]
    assert "east v1.9.0 custom v2 16" in table and "old v1.4.0 custom v1 15" in table
    assert "of 16 objects failed: web." in table and "the next run continues from there" in table
    assert clusters.names("east") == {f"web.{name}" for name in SIZES}
    assert clusters.names("old") == {f"web.{name}" for name in SIZES[:-1]}
    for name in ("east", "old"):
        assert "spec.instancetype: missing" in clusters.refused(name)

    # Nothing is left to do for the others, and the limit chooses among clusters.
    again = clusters.deploy("--limit", "east:old")
    output, _nothing = again.communicate()
    assert again.returncode == 0 and "east v1.9.0 custom v2 0" in flat(output), output
    assert "dying" not in output

    for name in ("east", "old"):
        made = execute(
            "virtual_machine",
            {
                "kubeconfig": clusters.started[name]["kubeconfig"],
                "namespace": "shop",
                "name": f"vm-of-{name}",
                "run_strategy": "Halted",
                "instancetype": "web.s01",
                "volumes": [{"name": "root", "container_disk": "registry.example.com/disk:1"}],
            },
        )
        assert made.get("changed"), made
    process = clusters.begin("fleet_report", "fleet_report", namespaces="shop", fail_if="cluster_differences,drifted")
    output, _nothing = process.communicate()
    assert process.returncode == 2, output
    assert "failed=0" in recap(output, "east") and "failed=1" in recap(output, "old"), output
    assert "failed=1" in recap(output, "dying")
    report = json.loads((clusters.folder / "fleet-report" / "fleet-report.json").read_text())
    assert (report["totals"]["clusters"], report["totals"]["failed_clusters"]) == (3, 1)
    assert [(vm["cluster"], vm["name"]) for vm in report["virtual_machines"]] == [
        ("east", "vm-of-east"),
        ("old", "vm-of-old"),
    ]
    rows = {row["cluster"]: row for row in report["clusters"]}
    assert rows["dying"]["failed"] and "cannot reach the API server" in rows["dying"]["msg"]
    assert rows["old"]["catalogs"] == [{"name": "custom", "versions": {"v1": 15}}]
    different = report["differences"]
    assert different["kubevirt"] == [{"cluster": "old", "value": "v1.4.0", "most": "v1.9.0"}]
    assert {"name": "custom", "cluster": "old", "value": ["v1"], "most": ["v2"]} in different["catalogs"]
    objects = {name: row for row in different["objects"] for name in row["names"]}
    assert {row["cluster"] for row in objects.values()} == {"old"}
    assert objects["web.s15"]["difference"] == "missing"
    assert objects["web.s00"]["changes"] == [{"field": "cpu.guest", "before": 2, "after": 1}]
    assert "web.s01" not in objects
    page = (clusters.folder / "fleet-report" / "fleet-report.html").read_text()
    assert '<tr data-cluster="old">' in page and '<label for="cluster-3">dying</label>' in page
    assert f"old: cluster_differences: {rows['old']['totals']['cluster_differences']}; see" in flat(output)
