"""From manifests to placement: what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import FieldError
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST, of
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.demand import (
    resources,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubernetes.placement.question import (
    Cluster,
    placement,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    KubeVirt,
    kubevirt_of,
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


def test_claims_of_devices() -> None:
    labels = {
        "kubevirt.io/schedulable": "true",
        "kubernetes.io/arch": "amd64",
        "machine-type.node.kubevirt.io/q35": "true",
    }
    amounts = {"cpu": "8", "memory": "20Gi", "ephemeral-storage": "9Gi", "pods": "9"}
    amounts |= {f"devices.kubevirt.io/{name}": "9" for name in ("kvm", "tun", "vhost-net")}
    nodes = [{"metadata": {"name": name, "labels": labels}, "status": {"allocatable": amounts}} for name in ("m", "n")]
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}
    template = {"metadata": {"name": "t", "namespace": "shop"}, "spec": {"spec": {"devices": devices}}}
    slices = [{"spec": {"driver": "x", "pool": {"name": "p"}, "nodeName": "m", "devices": [{"name": "d"}]}}]

    def answers(expression: str, pods: Any = (), claims: Any = (), of_running: str = "migrate", **more: Any) -> Any:
        kind = {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
        there = resources([kind], slices, claims, [template])
        cluster = Cluster(nodes, pods, devices=there, **more)
        return placement([machine], Objects([]), KubeVirt(NEWEST), cluster, of_running)

    def found(expression: str, **more: Any) -> dict[str, Any]:
        return dict(answers(expression, **more)["virtual_machines"][0])

    one = found('device.driver == "x"')
    assert (one["judged"], one["fits"], one["nodes"]) == (True, True, ["m"])
    one = found('device.driver == "y"')
    assert (one["judged"], one["fits"], one["problem"]) == (
        True,
        False,
        "0 of 2 nodes have free devices for its claims",
    )
    one = found("device.driver.startsWith('x')")
    assert (one["judged"], one["fits"]) == (False, False)
    assert "only CEL can evaluate" in one["problem"]

    running = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": "u", "vmi.kubevirt.io/id": "web"}
    pod = {
        "metadata": {"name": "launcher", "namespace": "shop", "labels": running},
        "spec": {
            "nodeName": "m",
            "containers": [],
            "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
        },
    }
    result = {"driver": "x", "pool": "p", "device": "d"}
    own = {"name": "c", "namespace": "shop", "ownerReferences": [{"kind": "Pod", "name": "launcher"}]}
    used = {"metadata": own, "status": {"allocation": {"devices": {"results": [result]}}}}
    migrating = found('device.driver == "x"', pods=[pod], claims=[used])
    assert migrating["migration"]["fits"] is False and "judged" not in migrating["migration"]
    assert found('device.driver == "x"', pods=[pod], claims=[used], of_running="restart")["node"] == "m"
    slices.append({"spec": {"driver": "x", "pool": {"name": "q"}, "nodeName": "n", "devices": [{"name": "e"}]}})
    assert found("device.driver.startsWith('x')", pods=[pod])["migration"]["judged"] is False
    (guest,) = answers("device.driver.startsWith('x')", pods=[pod], drain=["m"])["drained"]
    assert (guest["fits"], guest["judged"]) == (False, False)
    (guest,) = answers('device.driver == "x"', pods=[pod], drain=["m"])["drained"]
    assert (guest["target"], "judged" in guest) == ("n", False)
