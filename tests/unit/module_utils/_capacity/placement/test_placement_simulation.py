"""The placement of manifests, and errors in the manifests."""

from typing import Any

import pytest
from capacity_cluster import launcher, node

from plugins.module_utils._capacity.placement.devices import DeviceObjects
from plugins.module_utils._capacity.placement.simulation import PlacementObjects, placement
from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._resolver.api.release import NEWEST, parse_release
from plugins.module_utils._resolver.kubevirt.config.cluster import KubeVirt, kubevirt_of
from plugins.module_utils._resolver.kubevirt.find.lookup import Objects

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


def test_claims_of_devices_decide_on_nodes() -> None:
    machine = vm()
    machine["metadata"]["namespace"] = "shop"
    machine["spec"]["template"]["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "t"}]
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}
    template = {"metadata": {"name": "t", "namespace": "shop"}, "spec": {"spec": {"devices": devices}}}
    slices = [{"spec": {"driver": "x", "pool": {"name": "p"}, "nodeName": "m", "devices": [{"name": "d"}]}}]

    def simulated(
        expression: str, pods: Any = (), claims: Any = (), running_policy: str = "migrate", **more: Any
    ) -> Any:
        kind = {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
        devices = DeviceObjects([kind], slices, claims, [template])
        objects = PlacementObjects(NODES, pods, devices=devices, **more)
        return placement([machine], Objects([]), KubeVirt(NEWEST), objects, running_policy)

    def vm_result(expression: str, **more: Any) -> dict[str, Any]:
        return dict(simulated(expression, **more)["virtual_machines"][0])

    result = vm_result('device.driver == "x"')
    assert (result["evaluated"], result["fits"], result["nodes"]) == (True, True, ["m"])
    result = vm_result('device.driver == "y"')
    assert (result["evaluated"], result["fits"], result["problem"]) == (
        True,
        False,
        "0 of 2 nodes have free devices for its claims",
    )
    result = vm_result("device.driver.startsWith('x')")
    assert (result["evaluated"], result["fits"]) == (False, False)
    assert "only CEL can evaluate" in result["problem"]

    pod = launcher("web", "m")
    pod["spec"]["resourceClaims"] = [{"name": "g", "resourceClaimTemplateName": "t"}]
    result = {"driver": "x", "pool": "p", "device": "d"}
    own = {"name": "c", "namespace": "shop", "ownerReferences": [{"kind": "Pod", "name": "virt-launcher-web"}]}
    used = {"metadata": own, "status": {"allocation": {"devices": {"results": [result]}}}}
    migrating = vm_result('device.driver == "x"', pods=[pod], claims=[used])
    assert migrating["migration"]["fits"] is False and "evaluated" not in migrating["migration"]
    assert vm_result('device.driver == "x"', pods=[pod], claims=[used], running_policy="restart")["node"] == "m"
    slices.append({"spec": {"driver": "x", "pool": {"name": "q"}, "nodeName": "n", "devices": [{"name": "e"}]}})
    assert vm_result("device.driver.startsWith('x')", pods=[pod])["migration"]["evaluated"] is False
    (guest,) = simulated("device.driver.startsWith('x')", pods=[pod], drain=["m"])["drained"]
    assert (guest["fits"], guest["evaluated"]) == (False, False)
    (guest,) = simulated('device.driver == "x"', pods=[pod], drain=["m"])["drained"]
    assert (guest["target"], "evaluated" in guest) == ("n", False)


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
