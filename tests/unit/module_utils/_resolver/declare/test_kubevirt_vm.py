"""VMs of tasks of kubevirt.core."""

from plugins.module_utils._resolver.declare import kubevirt_vm


def test_all_options_of_a_task() -> None:
    options = {
        "generate_name": "web-",
        "namespace": "shop",
        "labels": {"app": "web"},
        "run_strategy": "Manual",
        "preference": {"name": "fedora"},
        "data_volume_templates": [{"metadata": {"name": "root"}}],
        "spec": {"domain": {}},
    }
    assert kubevirt_vm.manifest_of(options, halted=True) == {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": "web-x", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {
            "runStrategy": "Manual",
            "preference": {"name": "fedora"},
            "dataVolumeTemplates": [{"metadata": {"name": "root"}}],
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"domain": {}}},
        },
    }


def test_defaults_of_a_task() -> None:
    spec = kubevirt_vm.manifest_of({"api_version": "kubevirt.io/v1alpha3"}, halted=True)["spec"]
    assert spec == {"runStrategy": "Halted", "template": {"metadata": {}, "spec": {"domain": {"devices": {}}}}}
    assert kubevirt_vm.manifest_of({}, halted=False)["spec"]["runStrategy"] == "Always"
