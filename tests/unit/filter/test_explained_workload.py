"""The filter explain shows what was chosen for a workload."""

from filtered_vms import vm
from loaded_filters import FILTERS

from plugins.module_utils._boot_sources.workload import apply_choice
from plugins.module_utils._resolver.declare.vm.manifest import manifest


def test_explain_shows_why_a_workload_has_its_instancetype() -> None:
    choice = {
        "boot": {"data_source": "golden/fedora"},
        "preference": {"name": "fedora", "kind": "VirtualMachineClusterPreference"},
        "instancetype": {"name": "u1.medium", "kind": "VirtualMachineClusterInstancetype"},
        "reasons": ["instancetype u1.medium: is the smallest"],
        "others": {"boot": [], "instancetype": ["u1.large", "u1.xlarge"]},
    }
    options = {"name": "web", "namespace": "shop", "workload": "fedora"}
    declared = manifest(apply_choice(options, choice, {"name": "medium"}))
    assert FILTERS["explain"](declared)["workload"] == {"workload": "fedora", "size": {"name": "medium"}, **choice}
    assert FILTERS["explain"](declared, form="table")[:2] == [
        "workload fedora: instancetype u1.medium: is the smallest",
        "workload fedora: other instancetype: u1.large, u1.xlarge",
    ]
    assert "workload" not in FILTERS["explain"](vm())
