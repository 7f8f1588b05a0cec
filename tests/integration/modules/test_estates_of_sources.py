"""A thousand random machines of each source become guests of the local cluster.

VIRTSHAPE_TEST_ESTATE is another number of machines.
"""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from estate_samples import proposed
from kubernetes import client, config
from kubernetes.utils.quantity import parse_quantity
from random_estates import COUNT, SOURCES

from modules_support import execute
from plugins.module_utils._estate.readers.reading import Reading

# virt-controller starts so many in minutes, and a failure names machines and not a thousand.
BATCH = 100
GROUP = "instancetype.kubevirt.io"


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
        batch = {"virtual_machines": vms[start : start + BATCH], "wait": True, "wait_timeout": 1800}
        done = execute("virtual_machine", {**where, **batch})
        assert not done.get("failed"), done["msg"]
    with config.new_client_from_config(str(cluster)) as connection:
        objects = client.CustomObjectsApi(connection)
        vmis = objects.list_namespaced_custom_object("kubevirt.io", "v1", namespace, "virtualmachineinstances")
    guests = {item["metadata"]["name"]: item for item in vmis["items"]}
    for machine, row in zip(machines, result["machines"], strict=True):
        vmi = guests[row["virtual_machine"].partition("/")[2]]
        domain = vmi["spec"]["domain"]
        cpu = domain["cpu"]
        assert vmi["status"]["phase"] == "Running"
        assert cpu["sockets"] * cpu["cores"] * cpu["threads"] >= row["source"]["vcpus"]
        assert int(parse_quantity(domain["memory"]["guest"])) >= row["source"]["memory"]
        assert_firmware(machine, domain)
    assert len(guests) == len(machines) > 0


def assert_firmware(machine: dict[str, Any], domain: dict[str, Any]) -> None:
    """The guest has what the source tells of firmware, secure boot and TPM."""
    boot, tpm = domain["firmware"].get("bootloader", {}), domain["devices"].get("tpm")
    if "firmware" in machine:
        assert ("efi" in boot) == (machine["firmware"] == "efi"), (machine, domain)
    if machine.get("firmware") == "efi" and "secure_boot" in machine:
        assert ((boot["efi"] or {}).get("secureBoot") is not False) == machine["secure_boot"], (machine, domain)
    if "tpm" in machine:
        assert (tpm is not None and tpm.get("enabled") is not False) == machine["tpm"], (machine, domain)
