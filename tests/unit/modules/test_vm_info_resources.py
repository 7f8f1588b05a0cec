"""Resources of VMs in results of virtual_machine_info."""

import pytest
from capacity_cluster import Manifest, Run
from listed_vms import sized, store, vm
from sized_vms import named as named_vm
from sized_vms import with_values


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


def test_expanded_vm_has_the_resources_of_its_values(run: Run) -> None:
    machine = {**with_values(named_vm()), "status": {}}
    [result] = run("virtual_machine_info", store(machine), namespace="shop")["virtual_machines"]
    assert result["resources"]["guest"]["memory"] == "4Gi", result
    assert "problem" not in result
