"""The playbook estate on a cluster with nodes: what finds room there, and right-sizing by a real Prometheus.

The cluster is one of the tests' own, so that no other test adds instancetypes to it.
"""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_environment import played
from kubernetes import client, config
from made_estate import write_csv
from waiting import wait_until

from local_cluster.toolchain import find_go
from modules_support import Task

pytestmark = [pytest.mark.own_cluster, pytest.mark.nightly("a cluster of its own, and Prometheus is built")]

CHECKOUT = Path(__file__).parents[3]
GIB = 1 << 30
WEEK = 7 * 24 * 60
NODES = [{"name": "large", "cpu": 64, "memory": "128Gi"}, {"name": "little", "cpu": 8, "memory": "16Gi"}]
# Minute → (vCPUs, bytes) of a VM. Peaks of 2 % of the time do not count, those of 8 % do.
LOADS: dict[str, Callable[[int], tuple[float, int]]] = {
    "shop/idle": lambda minute: (3.0, 14 * GIB) if minute % 600 < 12 else (0.5, GIB),
    "shop/busy": lambda minute: (3.0, 6 * GIB) if minute % 600 < 48 else (0.5, GIB),
    "office/idle": lambda _minute: (0.25, GIB),
    "office/windows": lambda _minute: (0.25, GIB),
}


@pytest.fixture(scope="module")
def kubeconfig(start_cluster: Callable[..., dict[str, str]]) -> str:
    namespaces = [part for name in ("room", "shop", "office") for part in ("--namespace", name)]
    return start_cluster("--nodes", json.dumps(NODES), *namespaces)["kubeconfig"]


def play(name: str, folder: Path, kubeconfig: str, **variables: Any) -> str:
    return played(folder, f"virtshape.instancetypes.{name}", variables=variables, kubeconfig=kubeconfig)


def listed(kubeconfig: str, namespace: str, plural: str) -> dict[str, Any]:
    with config.new_client_from_config(kubeconfig) as connection:
        objects = client.CustomObjectsApi(connection)
        items = objects.list_namespaced_custom_object("kubevirt.io", "v1", namespace, plural)["items"]
    return {item["metadata"]["name"]: item for item in items}


def test_report_says_what_finds_room(kubeconfig: str, tmp_path: Path) -> None:
    sizes = [(4, 48), (4, 48), (4, 48), (2, 4), (2, 500)]
    rows = [[f"vm-{number}", "poweredOn", cpus, gib * 1024] for number, (cpus, gib) in enumerate(sizes)]
    write_csv(tmp_path, {"vInfo": [["VM", "Powerstate", "CPUs", "Memory"], *rows]})
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"namespace": "room", "start": True}))
    options = {"estate_source": str(tmp_path), "estate_directory": "out", "estate_rules": "rules.yml"}
    printed = play("estate", tmp_path, kubeconfig, **options)
    assert "3 of 5 VMs find room on the cluster; not: vm-2, vm-4" in printed
    room = json.loads((tmp_path / "out" / "estate.json").read_text())["room"]
    found = {vm["name"]: vm["placement"].get("node") for vm in room["virtual_machines"]}
    assert found == {"vm-0": "large", "vm-1": "large", "vm-2": None, "vm-3": "little", "vm-4": None}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "3 of 5 VMs find room" in page and "<strong>little</strong>" in page
    # The real scheduler is of the same opinion.
    play("estate", tmp_path, kubeconfig, **options, estate_state="present", virtual_machines_wait=False)

    def decided() -> bool:
        vmis = listed(kubeconfig, "room", "virtualmachineinstances").values()
        phases = [vmi.get("status", {}).get("phase") for vmi in vmis]
        return phases.count("Running") == 3 and sum(map(unschedulable, vmis)) == 2

    wait_until(decided)
    vmis = listed(kubeconfig, "room", "virtualmachineinstances")
    assert vmis["vm-3"]["status"]["phase"] == "Running" and unschedulable(vmis["vm-4"])
    Task(kubeconfig, "room")("virtual_machine", names=list(found), state="absent", wait=True)


def unschedulable(vmi: dict[str, Any]) -> bool:
    return any(item.get("reason") == "Unschedulable" for item in vmi.get("status", {}).get("conditions", []))


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[str]:
    """The address of a Prometheus with a week of the loads."""
    programs = CHECKOUT / ".cache" / "prometheus"
    packages = [f"github.com/prometheus/prometheus/cmd/{name}" for name in ("prometheus", "promtool")]
    build = [find_go((1, 26)), "build", "-tags", "remove_all_sd", "-o", f"{programs}/", *packages]
    subprocess.run(build, cwd=CHECKOUT / "tests" / "prometheus", check=True)
    write_samples(tmp_path / "samples.txt")
    blocks = [programs / "promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet"]
    subprocess.run([*blocks, tmp_path / "samples.txt", tmp_path / "data"], check=True)
    (tmp_path / "prometheus.yml").write_text("{}")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [
        programs / "prometheus",
        f"--config.file={tmp_path}/prometheus.yml",
        f"--storage.tsdb.path={tmp_path}/data",
        f"--web.listen-address={address}",
    ]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: answers(f"http://{address}/-/ready"))
            yield f"http://{address}"
        finally:
            process.terminate()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except urllib.error.URLError:
        return False


def write_samples(file: Path) -> None:
    """A sample of each minute of the last week, in the text format of OpenMetrics."""
    start = (int(time.time()) // 60 - WEEK) * 60
    lines = ["# TYPE kubevirt_vmi_cpu_usage_seconds counter"]
    for key, load in LOADS.items():
        total = 0.0
        for minute in range(WEEK + 1):
            lines.append(f"kubevirt_vmi_cpu_usage_seconds_total{labels(key)} {total} {start + 60 * minute}")
            total += 60 * load(minute)[0]
    lines.append("# TYPE kubevirt_vmi_memory_used_bytes gauge")
    for key, load in LOADS.items():
        samples = (f"{load(minute)[1]} {start + 60 * minute}" for minute in range(WEEK + 1))
        lines += [f"kubevirt_vmi_memory_used_bytes{labels(key)} {sample}" for sample in samples]
    file.write_text("\n".join([*lines, "# EOF\n"]))


def labels(key: str) -> str:
    namespace, _slash, name = key.partition("/")
    return f'{{namespace="{namespace}",name="{name}",node="large"}}'


def test_vms_get_what_prometheus_measured(kubeconfig: str, prometheus: str, tmp_path: Path) -> None:
    vms = [
        {"name": "idle", "namespace": "shop", "labels": {"team": "web"}},
        {"name": "busy", "namespace": "shop", "labels": {"team": "web"}},
        {"name": "unmeasured", "namespace": "shop", "labels": {"team": "web"}},
        {"name": "idle", "namespace": "office"},
        {"name": "windows", "namespace": "office", "preference": {"name": "windows.11"}},
    ]
    Task(kubeconfig)("virtual_machine", virtual_machines=vms, instancetype={"name": "u1.xlarge"}, wait=True)
    options = {"estate_source": "cluster", "estate_directory": "out", "estate_use": prometheus}
    play("estate", tmp_path, kubeconfig, **options)
    estate = json.loads((tmp_path / "out" / "estate.json").read_text())
    rows = {row["id"]: row for row in estate["machines"]}
    assert {"it uses 0.5 vCPUs of cpu", "it uses 1 GiB of memory"} <= set(rows["shop/idle"]["reasons"])
    assert {"it uses all its cpu at times", "it uses 6 GiB of memory"} <= set(rows["shop/busy"]["reasons"])
    found = {
        key: (row["instancetype"], row["guest"]["vcpus"], row["guest"]["memory"] / GIB) for key, row in rows.items()
    }
    assert found == {
        "shop/idle": ("u1.small", 1, 2),
        # Three vCPUs with 20 % more are four: no smaller instancetype has them.
        "shop/busy": ("u1.xlarge", 4, 16),
        "shop/unmeasured": ("u1.xlarge", 4, 16),
        "office/idle": ("u1.small", 1, 2),
        "office/windows": ("u1.2xmedium", 2, 4),
    }
    moves = [(group["team"], group["names"], group["vcpus"], group["memory"] / GIB) for group in estate["rightsizing"]]
    assert moves == [
        ("office", ["office/windows"], 2, 12),
        ("office", ["office/idle"], 3, 14),
        ("web", ["shop/idle"], 3, 14),
    ]
    for group in estate["rightsizing"]:
        move = {"revision_refresh_names": group["names"], "revision_refresh_replace": group["replace"]}
        play("refresh_revisions", tmp_path, kubeconfig, **move)
    for key, (instancetype, vcpus, _memory) in found.items():
        namespace, _slash, name = key.partition("/")
        assert listed(kubeconfig, namespace, "virtualmachines")[name]["spec"]["instancetype"]["name"] == instancetype
        cpu = listed(kubeconfig, namespace, "virtualmachineinstances")[name]["spec"]["domain"]["cpu"]
        assert cpu["sockets"] * cpu["cores"] == vcpus
    # Moved machines stay: the next run frees nothing.
    play("estate", tmp_path, kubeconfig, **options)
    assert json.loads((tmp_path / "out" / "estate.json").read_text())["rightsizing"] == []
