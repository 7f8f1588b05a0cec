"""The check reports all errors of an object in one run, not in rounds."""

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from checked_files import instancetype, preference, vm

DISKS = [{"name": "root", "disk": {"bus": "virtoi"}}, {"name": "nowhere", "disk": {}}]
Errors = Callable[..., list[tuple[str, str]]]
VM: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "Web_1", "labels": {"a b": "x", "c d": "x", "team": "a b"}},
    "spec": {
        "runStrategy": "Alwayz",
        "instancetype": {"name": "u1.mediun"},
        "preference": {"name": "fedoraa"},
        "template": {
            "spec": {
                "hostname": "A_b",
                "domain": {
                    "cpu": {"cores": "two"},
                    "memory": {"guest": "4GB!"},
                    "devices": {
                        "disks": DISKS,
                        "interfaces": [{"name": "lan", "bridge": {}}],
                    },
                },
                "networks": [{"name": "default", "pod": {}}],
                "volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "A_B"}}],
            }
        },
    },
}
FIELDS = [
    "metadata.name",
    "metadata.labels",
    "metadata.labels.team",
    "spec.runStrategy",
    "spec.instancetype.name",
    "spec.preference.name",
    "spec.template.spec.hostname",
    "spec.template.spec.domain.cpu.cores",
    "spec.template.spec.domain.memory.guest",
    "spec.template.spec.domain.devices.disks[0].disk.bus",
    "spec.template.spec.domain.devices.disks[1].name",
    "spec.template.spec.domain.devices.interfaces[0].name",
    "spec.template.spec.networks[0].name",
    "spec.template.spec.volumes[0].persistentVolumeClaim.claimName",
]


@pytest.fixture
def errors(findings: Any) -> Errors:
    """(field, message) of each error in a document, several, or a text."""

    def run(content: Any) -> list[tuple[str, str]]:
        found = findings({"file.yml": content})
        return [(item["field"], item["message"]) for item in found if item["level"] == "error"]

    return run


def test_all_errors_of_a_vm(errors: Errors) -> None:
    found = dict(errors(VM))
    assert sorted(found) == sorted(FIELDS)
    assert "the key 'a b'" in found["metadata.labels"] and "the key 'c d'" in found["metadata.labels"]


def test_each_error_is_found_alone(errors: Errors) -> None:
    """Fields do not follow from one another: without the others, each error is still there."""
    manifest = yaml.safe_load(yaml.safe_dump(VM))
    manifest["metadata"] = {"name": "web"}
    manifest["spec"] |= {"runStrategy": "Always", "instancetype": {"name": "u1.medium"}, "preference": None}
    domain = manifest["spec"]["template"]["spec"]["domain"]
    del domain["cpu"], domain["memory"]
    del domain["devices"]["disks"][1]
    rest = [field for field in FIELDS if field.startswith("spec.template")]
    assert sorted(field for field, _message in errors(manifest)) == sorted(
        field for field in rest if "cpu" not in field and "memory" not in field and "disks[1]" not in field
    )


def test_all_errors_of_other_objects(errors: Errors) -> None:
    size = instancetype("X_", "two", "shop", memory={"guest": "4GB!"}, nodeSelector={"a": "b c"})
    size["metadata"]["annotations"] = {"a b": "c"}
    spread = preference("x", "shop", cpu={"preferredCPUTopology": "none", "spreadOptions": {"ratio": "x"}})
    assert sorted(field for field, _message in errors([size, spread])) == [
        "metadata.annotations",
        "metadata.name",
        "spec.cpu.guest",
        "spec.cpu.preferredCPUTopology",
        "spec.cpu.spreadOptions.ratio",
        "spec.memory.guest",
        "spec.nodeSelector.a",
    ]


TASKS = """
- virtshape.instancetypes.virtual_machine:
    name: Web_1
    instance_type: u1.medium
    serie: u
    labels: {team: "a b"}
    run_strategy: Alwayz
    networks: [{mac: "02:00:00:00:00:01"}]
- virtshape.instancetypes.virtual_machine:
    stat: present
    virtual_machines:
    - name: x
      boot: {containerdisk: quay.io/a/b}
      instancetype: u1.medium
      cpu: "cores=2, thread=1"
- virtshape.instancetypes.virtual_machine_power:
    names: [web]
    namespace: shop
    stat: running
- virtshape.instancetypes.virtual_machin:
    name: web
"""


def test_all_errors_of_tasks(errors: Errors) -> None:
    assert errors(TASKS) == [
        (
            "",
            "value of run_strategy must be one of: Always, RerunOnFailure, Manual, Halted, Once, got: Alwayz",
        ),
        (
            "name",
            "'Web_1' must consist of a-z, 0-9, '-' and '.', with a letter or digit at both ends and around each dot;"
            " write a name such as web-1",
        ),
        ("instance_type", "unknown option of virtual_machine; did you mean instancetype?"),
        ("serie", "unknown option of virtual_machine; check the spelling"),
        (
            "labels.team",
            "'a b' must consist of letters, digits, '-', '_' and '.', with a letter or digit at both ends; write a"
            " value such as shop-1, or put the text into an annotation",
        ),
        ("networks[0].mac", "unknown option; did you mean mac_address?"),
        ("stat", "unknown option of virtual_machine; did you mean state?"),
        ("boot.containerdisk", "unknown option; did you mean container_disk?"),
        ("cpu.thread", "unknown option; did you mean threads?"),
        ("stat", "unknown option of virtual_machine_power; did you mean state?"),
        ("", "this collection has no module virtual_machin; did you mean virtual_machine or virtual_machine_info?"),
    ]


@pytest.mark.parametrize("owners", [["pool"], [{"kind": "Pod"}], "pool"])
def test_an_owner_does_not_hide_the_rest(errors: Errors, owners: Any) -> None:
    manifest = yaml.safe_load(yaml.safe_dump(VM))
    manifest["metadata"]["ownerReferences"] = owners
    found = [field for field, _message in errors(manifest)]
    assert any(field.startswith("metadata.ownerReferences") for field in found)
    assert set(FIELDS) <= set(found)


def user(**spec: Any) -> dict[str, Any]:
    return vm(instancetype={"name": "u1.mediun"}, **spec)


@pytest.mark.parametrize(
    ("manifest", "field"),
    [
        (user(template={"volumes": ["data"]}), "spec.template.spec.volumes[0]"),
        (user(template={"networks": [[]]}), "spec.template.spec.networks[0]"),
        (user(dataVolumeTemplates=["data"]), "spec.dataVolumeTemplates[0]"),
    ],
)
def test_a_wrong_entry_hides_no_other_error(errors: Errors, manifest: Any, field: str) -> None:
    found = sorted(field for field, _message in errors(manifest))
    assert found == sorted([field, "spec.instancetype.name"])


@pytest.mark.parametrize(
    ("module", "options", "field"),
    [
        ("virtual_machine", {"name": True, "namespace": "shop", "instancetype": "u1.small"}, "name"),
        (
            "virtual_machine",
            {"name": "web", "namespace": "shop", "tolerations": [{"effect": "NoSchedule"}]},
            "tolerations[0].operator",
        ),
        (
            "instancetype",
            {
                "name": "small",
                "kind": "VirtualMachineInstancetype",
                "namespace": "My_NS",
                "cpu": {"guest": 1},
                "memory": {"guest": "1Gi"},
            },
            "namespace",
        ),
    ],
)
def test_options_that_nothing_can_do_without(errors: Errors, module: str, options: Any, field: str) -> None:
    task = [{f"virtshape.instancetypes.{module}": options}]
    assert [found for found, _message in errors([task])] == [field]


def test_objects_of_misnamed_namespaces_are_found(errors: Errors) -> None:
    machine = vm(instancetype={"name": "small", "kind": "VirtualMachineInstancetype"})
    machine["metadata"]["namespace"] = "Shop"
    found = [field for field, _message in errors([instancetype("small", 1, "Shop"), machine])]
    assert found == ["metadata.namespace", "metadata.namespace"]
