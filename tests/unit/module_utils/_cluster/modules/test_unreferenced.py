"""Unreferenced revisions in many namespaces."""

from captured_vms import unknown_drift

from growth import growth
from plugins.module_utils._cluster.modules import virtual_machine_info
from plugins.module_utils._resolver.change.drift import Drift
from plugins.module_utils._resolver.kubevirt.instancetype import revision_names

EVERYTHING = {"names": None, "label_selectors": []}


def inspected_vms(namespaces: int) -> list[Drift]:
    """A VM and an unreferenced revision in each namespace."""
    names = sorted(f"ns-{number}" for number in range(namespaces))
    idle = [{"metadata": {"name": f"idle-{name}", "labels": {revision_names.NAME_LABEL: "big"}}} for name in names]
    vms = [{"metadata": {"name": "web", "namespace": name}, "spec": {}} for name in names]
    return [unknown_drift(vm)._replace(revisions=[item]) for vm, item in zip(vms, idle)]


def test_unreferenced_revisions_are_found_per_namespace() -> None:
    message = virtual_machine_info._unreferenced(EVERYTHING, inspected_vms(2))
    assert [(item["namespace"], item["name"]) for item in message] == [("ns-0", "idle-ns-0"), ("ns-1", "idle-ns-1")]


def test_namespaces_do_not_iterate_over_each_others_vms() -> None:
    def work(count: int) -> object:
        every = inspected_vms(count)
        return lambda: virtual_machine_info._unreferenced(EVERYTHING, every)

    assert growth(work) < 5
