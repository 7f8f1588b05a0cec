"""This collection beside its peers on one API server: ``run.py [--sizes ...] [--rounds N] [--only NAMES]``.

Each round asks every contestant in turn to create VMs, to run again, to change one label and to delete them, up to
1,000 on an API server with KubeVirt's webhooks (the local cluster's), more on one that only stores. What the machine
lacks is left out, with a line. Requests are counted in a round of its own through the local cluster's proxy. With
--kubeconfig (of a user with a token), times are measured on another cluster instead. Writes what was measured as JSON;
`../report.py` draws it. Run it on an idle machine. The peers come with the PyPI package `ansible`, which is fetched
once (55 MB).
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contestants import ALL, FLOOR, LIMIT, NOTHING, OURS, PHASES, Contestant
from kubernetes import client, config
from measure import measure

CHECKOUT = Path(__file__).resolve().parents[3]
COLLECTIONS_HERE = CHECKOUT / ".cache" / "collections"
GROUP = "instancetype.kubevirt.io/v1beta1"
NEEDED = (
    ("VirtualMachineInstancetype", "size", {"cpu": {"guest": 2}, "memory": {"guest": "4Gi"}}),
    ("VirtualMachinePreference", "taste", {"devices": {"preferredDiskBus": "virtio"}}),
)
SETTLED = 10.0  # seconds for which the API server may work off what a contestant left it to do
TIMEOUT = 600.0  # seconds for controllers to delete what a phase has left to them

GIVEN = "given"

Row = dict[str, Any]

# The package `local_cluster` comes before the benchmark of that name.
sys.path[:0] = [
    str(CHECKOUT / "roles" / "local_cluster" / "files"),
    str(Path(__file__).resolve().parents[1]),
    str(CHECKOUT / "tests"),
    str(CHECKOUT / "plugins" / "module_utils"),
]

from cluster_load import cluster, launch  # noqa: E402  (beside this folder)
from peer_collections import PEERS, fetch_peers  # noqa: E402
from results import record  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1,20,200,1000,10000", help="numbers of VMs (default 1,20,200,1000,10000)")
    parser.add_argument("--rounds", type=int, default=1, help="rounds of what does not take minutes (default 1)")
    parser.add_argument("--only", help="names of contestants, separated by semicolons (default all)")
    parser.add_argument("--servers", default="webhooks,stores", help="which API servers (default both)")
    parser.add_argument("--kubeconfig", type=Path, help="a cluster with KubeVirt to measure on, instead of those")
    parser.add_argument("--out", type=Path, help="the file of results to add these to")
    options = parser.parse_args()
    fetch_peers()
    sizes = [int(size) for size in options.sizes.split(",")]
    rows: list[Row] = []
    wanted = [item for item in ALL if not options.only or item.name in options.only.split(";")]
    left_out = {item.name: reason for item in wanted if (reason := item.missing())}
    for name, reason in left_out.items():
        print(f"{name} is left out: {reason}", flush=True)
    # One that took too long takes part in nothing larger.
    stopped: set[str] = set()
    load = round(os.getloadavg()[0], 1)
    for server in [GIVEN] if options.kubeconfig else options.servers.split(","):
        with running(server, options.kubeconfig) as directory, tempfile.TemporaryDirectory() as folder:
            for size, kind, number in schedule(sizes, options.rounds):
                for contestant in wanted:
                    if contestant.name in left_out or contestant.name in stopped:
                        continue
                    if not takes_part(contestant, size, server, kind, number):
                        continue
                    print(f"{server}: {size} VMs, {kind} {number + 1}, {contestant.name}", flush=True)
                    phases = ("again",) if contestant is NOTHING else PHASES
                    if contestant is OURS and server == "webhooks":
                        phases = (*PHASES[:-1], "refresh", PHASES[-1])
                    for row in run(contestant, phases, directory, size, Path(folder), counted=kind == "count"):
                        rows.append({"server": server, "round": number, **row})
                        record(options.out, "peers", {"load_before": load, "left_out": left_out, "rows": rows})
                        if not row["finished"]:
                            stopped.add(contestant.name)
    return 0


def takes_part(contestant: Contestant, size: int, server: str, kind: str, number: int) -> bool:
    """Users have the server with webhooks; thousands of VMs are asked of the other one. A slow measurement runs once.
    Requests grow with the VMs: those of many are counted for this collection only."""
    first = kind == "round" and number == 0
    slow = contestant.slow_from is not None and size >= contestant.slow_from
    if server == GIVEN:
        return kind == "round" and (first or not slow)
    if size > 1000:
        return first and server == "stores"
    if server == "stores":
        return False
    return first or (not slow and (kind == "round" or size <= 200 or contestant is OURS))


def schedule(sizes: list[int], rounds: int) -> Iterator[tuple[int, str, int]]:
    """Size, whether times are measured or requests counted, and the number of the round."""
    for number in range(rounds):
        for size in sizes:
            yield size, "round", number
    for size in sizes:
        yield size, "count", 0


def run(
    contestant: Contestant,
    phases: tuple[str, ...],
    directory: Path,
    size: int,
    folder: Path,
    *,
    counted: bool = False,
    collections: Path = COLLECTIONS_HERE,
) -> Iterator[Row]:
    """One contestant's phases, in a namespace of its own. collections: where Ansible finds this collection."""
    kubeconfig = directory / ("kubeconfig-faults" if counted else "kubeconfig")
    namespace = f"bench-{time.monotonic_ns():x}"
    (folder / "ansible.cfg").write_text("[defaults]\n")
    environment = {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": os.pathsep.join([str(collections), str(PEERS)]),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "False",
    }
    with config.new_client_from_config(str(directory / "kubeconfig")) as connection:
        prepare(connection, namespace)
        for phase in phases:
            if phase == "refresh":
                await_captured(connection, namespace, size, generation="1")
                grow(connection, namespace)
            if counted:
                launch("faults", directory, "--clear-counts")
            command = contestant.command(kubeconfig, namespace, phase, size, folder)
            limited = contestant.slow_from is not None and size >= contestant.slow_from
            result = measure(command, environment, folder / "output", LIMIT if limited else None)
            row = {"contestant": contestant.name, "vms": size, "phase": phase, "counted": counted, **result._asdict()}
            if counted:
                counts = launch("faults", directory)["counts"]
                row |= {name: counts[name] for name in ("requests", "writes", "max_concurrent")}
            if not result.finished:
                subprocess.run(FLOOR.command(kubeconfig, namespace, "delete", size, folder), check=True)
                yield row
                break
            check(connection, namespace, phase, 0 if contestant is NOTHING else size)
            if phase == "refresh":
                await_captured(connection, namespace, size, generation="2")
            yield row
        client.CoreV1Api(connection).delete_namespace(namespace)
    time.sleep(min(SETTLED, size / 50))


def prepare(connection: Any, namespace: str) -> None:
    client.CoreV1Api(connection).create_namespace({"metadata": {"name": namespace}})
    objects = client.CustomObjectsApi(connection)
    for kind, name, spec in NEEDED:
        body = {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}
        objects.create_namespaced_custom_object(*GROUP.split("/"), namespace, f"{kind.lower()}s", body)


def grow(connection: Any, namespace: str) -> None:
    """Another memory for the instancetype, so that all VMs drift."""
    body = {"spec": {"memory": {"guest": "8Gi"}}}
    kind, name, _spec = NEEDED[0]
    client.CustomObjectsApi(connection).patch_namespaced_custom_object(
        *GROUP.split("/"), namespace, f"{kind.lower()}s", name, body
    )


def vms(connection: Any, namespace: str) -> list[dict[str, Any]]:
    objects = client.CustomObjectsApi(connection)
    listed = objects.list_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachines")
    items: list[dict[str, Any]] = listed["items"]
    return items


def await_captured(connection: Any, namespace: str, size: int, generation: str) -> None:
    """Waits until all VMs have captured a generation of the instancetype; a VM without a capture is not refreshed."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        references = [(item.get("status") or {}).get("instancetypeRef") or {} for item in vms(connection, namespace)]
        names = [(reference.get("controllerRevisionRef") or {}).get("name", "") for reference in references]
        captured = sum(name.rpartition("-")[2] == generation for name in names)
        if captured == size:
            return
        if time.monotonic() > deadline:
            raise SystemExit(f"{captured} of {size} VMs have captured generation {generation} of their instancetype")
        time.sleep(0.5)


def check(connection: Any, namespace: str, phase: str, size: int) -> None:
    """Raises SystemExit unless the cluster is as the phase should have left it."""
    deadline = time.monotonic() + TIMEOUT
    while True:
        items = vms(connection, namespace)
        tier = "one" if phase in ("create", "again") else "two"
        there = [item for item in items if (item["metadata"].get("labels") or {}).get("tier") == tier]
        if len(there) == len(items) == (0 if phase == "delete" else size):
            return
        if phase != "delete" or time.monotonic() > deadline:
            raise SystemExit(f"after {phase} the cluster has {len(items)} VMs, {len(there)} of them as they should be")
        time.sleep(0.2)


@contextmanager
def running(server: str, given: Path | None = None) -> Iterator[Path]:
    """The state directory of a cluster; what only stores has KubeVirt's kinds and no more. given: a kubeconfig."""
    if given:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(given, Path(folder, "kubeconfig"))
            yield Path(folder)
        return
    with cluster() as directory:
        launch("start", directory, "--faults", "--no-kubevirt" if server == "stores" else "--kubevirt")
        if server == "stores":
            create_kinds(directory)
        yield directory


def create_kinds(directory: Path) -> None:
    from local_cluster import build, installation, versions

    programs = build.ProgramSet(versions.default_kubernetes(), versions.default_kubevirt()).kubevirt()
    crds = installation.kinds(json.loads((programs / "kubevirt.json").read_text()))
    with config.new_client_from_config(str(directory / "kubeconfig")) as connection:
        extensions = client.ApiextensionsV1Api(connection)
        for crd in crds:
            extensions.create_custom_resource_definition(crd)
        objects = client.CustomObjectsApi(connection)
        for kind, _name, _spec in NEEDED:
            until_served(objects, *GROUP.split("/"), f"{kind.lower()}s")
        until_served(objects, "kubevirt.io", "v1", "virtualmachines")


def until_served(objects: Any, group: str, version: str, plural: str) -> None:
    for _unused in range(200):
        try:
            objects.list_cluster_custom_object(group, version, plural)
            return
        except client.ApiException:
            time.sleep(0.1)
    raise SystemExit(f"{plural} are not served")


if __name__ == "__main__":
    sys.exit(main())
