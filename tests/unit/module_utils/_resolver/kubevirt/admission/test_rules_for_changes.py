"""Rules for VMs that change; recorded answers have those for new ones."""

from plugins.module_utils._resolver.kubevirt.admission import virtual_machine


def test_unchanged_data_volume_templates_keep_foreign_namespaces() -> None:
    vm = {"dataVolumeTemplates": [{"metadata": {"name": "a", "namespace": "other"}}]}
    assert list(virtual_machine.data_volume_namespaces(vm, None, "shop"))
    assert not list(virtual_machine.data_volume_namespaces(vm, vm, "shop"))
