"""The filter resources: requests of a VM's pod."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from filtered_vms import LARGE, kubevirt, vm
from loaded_filters import FILTERS


def test_resources_in_a_cluster() -> None:
    ratio = kubevirt(developerConfiguration={"cpuAllocationRatio": 4})
    assert FILTERS["resources"](vm(), LARGE, kubevirt=ratio)["pod"]["cpu"] == "1005m"
    # The log of the console is a container of its own, and the page tables count.
    old = FILTERS["resources"](vm(), LARGE, kubevirt=kubevirt("v1.5.3"))["pod"]
    assert ([item["name"] for item in old["containers"]], old["overhead_bytes"]) == (
        ["compute", "guest-console-log"],
        (220 + 32 + 8 + 16) * 2**20 + 8589935000 // 512,
    )
    other = FILTERS["resources"](vm(), LARGE, kubevirt=kubevirt("v1.5.3"), kubevirt_version="1.9")
    assert other == FILTERS["resources"](vm(), LARGE)


def test_resources_in_a_namespace() -> None:
    quota = {"kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": {"limits.memory": "1Ti"}}}
    labels = {"alpha.kubevirt.io/auto-memory-limits-ratio": "1"}
    space = {"kind": "Namespace", "metadata": {"name": "shop", "labels": labels}}
    for quotas in ([quota], quota, [None, quota]):
        pod = FILTERS["resources"](vm(), LARGE, quotas=quotas, namespace=space)["pod"]
        compute = pod["containers"][0]
        assert compute["limits"]["memory"] == compute["requests"]["memory"]


def test_resources_of_networks_and_of_a_migration() -> None:
    lan = {"name": "lan", "multus": {"networkName": "lan"}}
    machine = vm(devices={"interfaces": [{"name": "lan", "sriov": {}}]})
    machine["spec"]["template"]["spec"]["networks"] = [lan]
    annotations = {"k8s.v1.cni.cncf.io/resourceName": "example.com/nic"}
    network = {"metadata": {"name": "lan", "namespace": "shop", "annotations": annotations}}
    node = {"metadata": {"name": "n", "labels": {"cpu-vendor.node.kubevirt.io/Intel": "true"}}}
    result = FILTERS["resources"](machine, LARGE, networks=[network], migrates_from=node, kubevirt_version="1.7")["pod"]
    assert result["devices"]["example.com/nic"] == 1
    assert result["node_selector"]["cpu-vendor.node.kubevirt.io/Intel"] == "true"
    with pytest.raises(AnsibleFilterError, match="failed to locate network attachment definition shop/lan"):
        FILTERS["resources"](machine, LARGE, networks=[], kubevirt_version="1.7")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"kubevirt": 5}, "kubevirt: expected a manifest, found 5"),
        ({"kubevirt": kubevirt(developerConfiguration=5)}, "kubevirt: .*malformed"),
        ({"kubevirt": kubevirt(supportContainerResources=[5])}, "kubevirt: its configuration cannot be read"),
        (
            {"kubevirt": kubevirt(liveUpdateConfiguration={"maxHotplugRatio": True})},
            "maxHotplugRatio: expected a whole number, found True",
        ),
        ({"quotas": "q"}, "quotas: expected a list of manifests, found 'q'"),
        ({"quotas": [5]}, r"quotas\[0\]: expected a manifest, found 5"),
    ],
)
def test_invalid_cluster_options_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(AnsibleFilterError, match=problem):
        FILTERS["resources"](vm(), LARGE, **options)
