"""Preferences that give what a VM writes by hand."""

from typing import Any

import pytest

from plugins.module_utils._conversion.replacing_preference import replacing_preference
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects


def preference(name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


RNG = {"devices": {"preferredRng": {}}}
TYPE = {
    "kind": "VirtualMachineClusterInstancetype",
    "metadata": {"name": "small"},
    "spec": {"cpu": {"guest": 3}, "memory": {"guest": "1Gi"}},
}


def vm(**spec: Any) -> dict[str, Any]:
    domain = {"devices": {"rng": {}}, **({} if "instancetype" in spec else {"memory": {"guest": "1Gi"}})}
    template = {"spec": {"domain": domain}}
    metadata = {"name": "web", "namespace": "shop"}
    return {"kind": "VirtualMachine", "metadata": metadata, "spec": {"template": template, **spec}}


def chosen(machine: dict[str, Any], *preferences: dict[str, Any]) -> str:
    cluster = Cluster(Objects([*preferences, TYPE]), KubeVirt(NEWEST))
    result = replacing_preference(machine, preferences, cluster)
    return "" if result is None else f"{result.name} {list(result.removed)} {len(result.differences)} {result.refusal}"


def test_the_fewest_differences_win() -> None:
    more = {"devices": {**RNG["devices"], "preferredAutoattachMemBalloon": False}}
    assert chosen(vm(), preference("a", **more), preference("b", **RNG)) == "b ['domain.devices.rng'] 0 "


def test_then_the_most_fields_and_the_name_win() -> None:
    machine = vm()
    machine["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 5
    more = {**RNG, "preferredTerminationGracePeriodSeconds": 5}
    assert chosen(machine, preference("a", **RNG), preference("c", **more), preference("b", **more)).startswith("b ")


def test_a_refused_preference_is_the_last_choice() -> None:
    picky = preference("a", **RNG, requirements={"cpu": {"guest": 8}})
    worse = preference("b", devices={**RNG["devices"], "preferredAutoattachMemBalloon": False})
    assert chosen(vm(), picky, worse).startswith("b ")
    assert "insufficient CPU resources" in chosen(vm(), picky)


@pytest.mark.parametrize(
    ("machine", "spec"),
    [
        (vm(), {}),
        # Three vCPUs cannot be spread over two threads.
        (vm(instancetype={"name": "small"}), {**RNG, "cpu": {"preferredCPUTopology": "spread"}}),
        (vm(), {**RNG, "firmware": {"preferredUseEfi": "maybe"}}),
        (vm(instancetype={"name": "gone"}), RNG),
        (vm(instancetype={"inferFromVolume": "gone"}), RNG),
    ],
)
def test_no_preference_gives_anything(machine: dict[str, Any], spec: dict[str, Any]) -> None:
    assert chosen(machine, preference("a", **spec)) == ""


def test_vms_may_have_an_instancetype() -> None:
    assert chosen(vm(instancetype={"name": "small"}), preference("a", **RNG)) == "a ['domain.devices.rng'] 0 "
