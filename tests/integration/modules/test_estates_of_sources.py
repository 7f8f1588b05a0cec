"""Estates against real servers: a simulated vCenter, and a thousand machines of each source on the local cluster.

VIRTSHAPE_TEST_ESTATE is another number of machines.
"""

import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from estate_samples import proposed
from kubernetes import client, config
from random_estates import COUNT, SOURCES

from local_cluster.toolchain import find_go
from modules_support import execute
from plugins.module_utils._estate.readers.reading import Reading

VCENTER = Path(__file__).parents[2] / "vcenter"
MIB = 1 << 20
# A few at a time, so that a failure names machines and not a thousand.
BATCH = 25
GROUP = "instancetype.kubevirt.io"


@pytest.fixture(scope="module")
def vcenter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A vCenter with 500 machines: its address, and their sizes by name."""
    program = tmp_path_factory.mktemp("vcenter") / "vcenter"
    subprocess.run([find_go((1, 26)), "build", "-o", str(program), "."], cwd=VCENTER, check=True)
    with subprocess.Popen([program, "500"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield json.loads(process.stdout.readline())
        process.stdin.close()


@pytest.mark.nightly("builds govmomi's simulator")
def test_machines_of_a_vcenter(vcenter: dict[str, Any]) -> None:
    login = {"source": vcenter["address"], "source_username": "reader"}
    result = execute("estate_info", {**login, "source_password": "secret"})
    assert not result.get("failed"), result
    found = {item["name"]: (item["vcpus"], item["memory"] // MIB) for item in result["machines"]}
    assert found == {name: (size["cpus"], size["memory"]) for name, size in vcenter["sizes"].items()}
    assert len(found) == 500 and result["kind"] == "vsphere"
    assert {nic["network"] for item in result["machines"] for nic in item["nics"]} == {"DC0_DVPG0"}
    assert "secret" not in json.dumps(result)
    rows = proposed(result["machines"])["machines"]
    assert all(row["guest"]["memory"] >= row["source"]["memory"] for row in rows)
    # Without a password, the server does not let one in.
    refused = execute("estate_info", login)
    assert refused["failed"] and refused["msg"].startswith(f"source: '{vcenter['address']}': ")


@pytest.fixture
def sizes(cluster: Path, namespace: str) -> Iterator[str]:
    """A series of instancetypes, which are removed after the test."""
    yield namespace
    with config.new_client_from_config(str(cluster)) as connection:
        objects, plural = client.CustomObjectsApi(connection), "virtualmachineclusterinstancetypes"
        for item in objects.list_cluster_custom_object(GROUP, "v1beta1", plural)["items"]:
            if item["metadata"]["name"].startswith(namespace):
                objects.delete_cluster_custom_object(GROUP, "v1beta1", plural, item["metadata"]["name"])


@pytest.mark.nightly("a thousand VMs of each source")
@pytest.mark.parametrize("read", SOURCES)
def test_random_machines_become_guests(
    cluster: Path, namespace: str, sizes: str, read: Callable[[random.Random], Reading]
) -> None:
    count = int(os.environ.get("VIRTSHAPE_TEST_ESTATE", COUNT))
    machines = [
        {**item, "power": "on", "disks": [], "nics": [], "passthrough": [], "tags": {}}
        for item in read(random.Random(31)).machines[:count]
    ]
    result = proposed(machines, rules={"series": sizes, "namespace": namespace, "start": True})
    where = {"kubeconfig": str(cluster)}
    catalog = {"source": "definitions", "definitions": [result["catalog"]], "catalog": sizes}
    deployed = execute("catalog", {**where, **catalog})
    assert not deployed.get("failed"), deployed["msg"]
    vms = result["virtual_machines"]
    for start in range(0, len(vms), BATCH):
        batch = {"virtual_machines": vms[start : start + BATCH], "wait": True, "wait_timeout": 600}
        done = execute("virtual_machine", {**where, **batch})
        assert not done.get("failed"), done["msg"]
    with config.new_client_from_config(str(cluster)) as connection:
        objects = client.CustomObjectsApi(connection)
        vmis = objects.list_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachineinstances")
    guests = {item["metadata"]["name"]: item for item in vmis["items"]}
    for row in result["machines"]:
        vmi = guests[row["virtual_machine"].partition("/")[2]]
        cpu = vmi["spec"]["domain"]["cpu"]
        assert vmi["status"]["phase"] == "Running"
        assert cpu["sockets"] * cpu["cores"] * cpu["threads"] >= row["source"]["vcpus"]
    assert len(guests) == len(machines) > 0
