"""Resources of VMs in results of virtual_machine_info."""

import pytest
from capacity_cluster import Manifest, Run
from listed_vms import sized, store, vm


@pytest.mark.parametrize(
    ("machine", "problem"),
    [
        (vm("a", sized("small", "Flavor")), "instancetype.kind: KubeVirt has no kind Flavor"),
        (vm("a", sized("small"), revision="a-small-1"), 'controllerrevisions.apps "a-small-1" not found'),
    ],
)
def test_unresolvable_vm_has_a_problem_without_resources(run: Run, machine: Manifest, problem: str) -> None:
    [result] = run("virtual_machine_info", store(machine), namespace="shop")["virtual_machines"]
    assert (result["problem"], "resources" in result) == (problem, False)
