"""The placement of manifests, and errors in the manifests."""

from typing import Any

import pytest
from capacity_cluster import launcher, node

from plugins.module_utils._capacity.placement.simulation import PlacementObjects, placement
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.cluster import KubeVirt, kubevirt_of
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

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
BOUND = "pv.kubernetes.io/bind-completed"


def problem_of(vm: Any, kubevirt: KubeVirt | None = None, **objects: Any) -> str:
    result = placement([vm], Objects([SPREAD, TWO]), kubevirt or KubeVirt(NEWEST), PlacementObjects([NODE], **objects))
    return str(result["virtual_machines"][0]["problem"])


def vm(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"template": {"spec": {"domain": {"devices": {}}}}, **spec}}


def test_unreadable_vms_have_a_problem() -> None:
    assert problem_of({"metadata": {"name": "web"}}) == "spec: is missing; a VirtualMachine's manifest is needed"
    assert "expected" in problem_of(vm(template=5))
    missing = problem_of(vm(instancetype={"name": "gone"}), KubeVirt(parse_release("1.6")))
    assert missing.endswith('"gone" not found')


def test_instancetypes_that_fit_nowhere_have_a_problem() -> None:
    permitted = {"spec": {"configuration": {"permittedHostDevices": {}}}}
    objects = PlacementObjects([NODE], instancetypes=[GPU, TWO])
    result = placement([], Objects([]), kubevirt_of(permitted, "1.9"), objects)
    large, two = result["instancetypes"]
    assert (large["name"], large["fits"], large["additional_vms"]) == ("large", False, 0)
    assert "GPU x/gpu is not permit" in large["problem"]
    assert "1 of 1 nodes lacks the label kubevirt.io/schedulable=true" in two["problem"]


def test_malformed_metadata_is_an_error() -> None:
    with pytest.raises(FieldError, match="metadata: expected a mapping, found 5"):
        placement([], Objects([]), KubeVirt(NEWEST), PlacementObjects([{"metadata": 5}]))


def test_networks_add_their_resources() -> None:
    gates = {"disabledFeatureGates": ["ExternalNetResourceInjection"]}
    off = {"spec": {"configuration": {"developerConfiguration": gates}}}
    multus = {"name": "lan", "multus": {"networkName": "lan"}}
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"] |= {"networks": [multus]}
    machine["spec"]["template"]["spec"]["domain"]["devices"] = {"interfaces": [{"name": "lan", "bridge": {}}]}
    resource = {"k8s.v1.cni.cncf.io/resourceName": "x/nic"}
    networks = [{"metadata": {"name": "lan", "namespace": "shop", "annotations": resource}}]
    assert "0 of 1 nodes have x/nic" in problem_of(machine, kubevirt_of(off, "1.9"), networks=networks)


def test_a_vm_that_kubevirt_cannot_expand() -> None:
    machine = vm(instancetype={"name": "two"}, preference={"name": "spread"})
    assert problem_of(machine) == "a spread ratio of 0 divides by zero"


NODES = [node(name, memory="20Gi", **{"devices.kubevirt.io/pr-helper": "9"}) for name in ("m", "n")]


def test_resource_claims_are_not_evaluated() -> None:
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    why = "its resource claims are not evaluated: only kube-scheduler can choose their devices"

    def simulated(*nodes: Any, pods: Any = (), **more: Any) -> dict[str, Any]:
        return placement([machine], Objects([]), KubeVirt(NEWEST), PlacementObjects(nodes, pods, **more))

    (result,) = simulated(*NODES)["virtual_machines"]
    unknown = {"fits": False, "node_count": 0, "nodes": [], "problem": why}
    assert result == {"name": "web", "namespace": "shop", "evaluated": False, **unknown}
    # Devices do not change the answer where nothing else fits.
    (result,) = simulated(node("m", memory="1Mi"))["virtual_machines"]
    assert (result["evaluated"], result["fits"]) == (True, False)
    assert "m lacks" in result["problem"]

    pod = launcher("web", "m")
    pod["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "t"}]
    (result,) = simulated(*NODES, pods=[pod])["virtual_machines"]
    assert (result["evaluated"], result["fits"]) == (True, True)
    assert result["migration"] == {"evaluated": False, **unknown}
    (guest,) = simulated(*NODES, pods=[pod], drain=["m"])["drained"]
    assert (guest["evaluated"], guest["fits"], guest["problem"]) == (False, False, why)


@pytest.mark.parametrize(("version", "placed"), [("1.9", ["m", "n", None]), ("1.8", ["m", "n", "m"])])
def test_guests_reserving_a_volume_stay_apart(version: str, placed: list[str | None]) -> None:
    machines = [vm(name) for name in ("a", "b", "c")]
    for machine in machines:
        machine["metadata"]["namespace"] = "shop"
        machine["spec"]["template"]["spec"] = {
            "domain": {"devices": {"disks": [{"name": "d", "lun": {"reservation": True}}]}},
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "shared"}}],
        }
    claim = {"metadata": {"name": "shared", "namespace": "shop", "uid": "u", "annotations": {BOUND: "yes"}}}
    objects = PlacementObjects(NODES, claims=[{**claim, "spec": {"volumeName": "v"}}])
    result = placement(machines, Objects([]), KubeVirt(parse_release(version)), objects)
    assert [machine.get("node") for machine in result["virtual_machines"]] == placed


def test_migration_keeps_cpu_model_of_first_node() -> None:
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"]["domain"]["cpu"] = {"model": "host-model"}
    pod = launcher("web", "m")
    pod["spec"]["nodeSelector"] = {"cpu-model-migration.node.kubevirt.io/Skylake": "true"}
    result = placement([machine], Objects([]), KubeVirt(NEWEST), PlacementObjects(NODES, [pod]))
    assert result["virtual_machines"][0]["migration"]["problem"] == (
        "2 of 2 nodes lack the label cpu-model-migration.node.kubevirt.io/Skylake=true"
    )
