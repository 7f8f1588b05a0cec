"""From manifests to placement: what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.instancetype.vmi.cluster import (
    KubeVirt,
    kubevirt_of,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.placement.question import (
    Cluster,
    placement,
)

NODE = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8", "pods": "9"}}}
GPU = {
    "metadata": {"name": "large"},
    "spec": {"cpu": {"guest": 1}, "memory": {"guest": "1Gi"}, "gpus": [{"name": "g", "deviceName": "x/gpu"}]},
}
TWO = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "two"},
    "spec": {"cpu": {"guest": 2}, "memory": {"guest": "1Gi"}},
}
SPREAD = {
    "kind": "VirtualMachineClusterPreference",
    "metadata": {"name": "spread"},
    "spec": {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}},
}


def answer(vm: Any, kubevirt: KubeVirt | None = None, **cluster: Any) -> str:
    found = placement([vm], Objects([SPREAD, TWO]), kubevirt or KubeVirt(NEWEST), Cluster([NODE], **cluster))
    return str(found["virtual_machines"][0]["problem"])


def vm(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"template": {"spec": {"domain": {"devices": {}}}}, **spec}}


def test_vms_without_a_pod() -> None:
    assert answer({"metadata": {"name": "web"}}) == "spec: is missing; a VirtualMachine's manifest is needed"
    assert "expected" in answer(vm(template=5))
    missing = answer(vm(instancetype={"name": "gone"}), KubeVirt(of("1.6")))
    assert missing.endswith('"gone" not found')


def test_an_instancetype_of_which_no_vm_can_run() -> None:
    permitted = {"spec": {"configuration": {"permittedHostDevices": {}}}}
    found = placement([], Objects([]), kubevirt_of(permitted, "1.9"), Cluster([NODE], instancetypes=[GPU, TWO]))
    large, two = found["instancetypes"]
    assert (large["name"], large["fits"], large["more"]) == ("large", False, 0)
    assert "GPU x/gpu is not permit" in large["problem"]
    assert "1 of 1 nodes lacks the label kubevirt.io/schedulable=true" in two["problem"]


def test_what_is_no_metadata() -> None:
    with pytest.raises(FieldError, match="metadata: expected a mapping, found 5"):
        placement([], Objects([]), KubeVirt(NEWEST), Cluster([{"metadata": 5}]))


def test_networks_that_are_known() -> None:
    off = {
        "spec": {
            "configuration": {"developerConfiguration": {"disabledFeatureGates": ["ExternalNetResourceInjection"]}}
        }
    }
    multus = {"name": "lan", "multus": {"networkName": "lan"}}
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"] |= {"networks": [multus]}
    machine["spec"]["template"]["spec"]["domain"]["devices"] = {"interfaces": [{"name": "lan", "bridge": {}}]}
    resource = {"k8s.v1.cni.cncf.io/resourceName": "x/nic"}
    networks = [{"metadata": {"name": "lan", "namespace": "shop", "annotations": resource}}]
    assert "0 of 1 nodes have x/nic" in answer(machine, kubevirt_of(off, "1.9"), networks=networks)


def test_a_vm_that_kubevirt_cannot_expand() -> None:
    machine = vm(instancetype={"name": "two"}, preference={"name": "spread"})
    assert answer(machine) == "a spread ratio of 0 divides by zero"
