"""virtual_machine_template and virtual_machine_template_info: declared, unchanged, changed, refused, read, deleted."""

from typing import Any

import pytest

from modules_support import Task, warned

pytestmark = pytest.mark.needs("templates")

Options = dict[str, Any]

USER_DATA = "#cloud-config\npassword: ${ROOT_PASSWORD}\n# keep: userdata-secret\n"


@pytest.fixture
def options(shop: str) -> Options:
    """A template without findings."""
    return {
        "name": "linux",
        "namespace": shop,
        "instructions": "Hello ${NAME}",
        "labels": {"team": "a"},
        "parameters": [
            {"name": "NAME", "required": True},
            {"name": "SIZE", "value": "small", "display_name": "Size"},
            {"name": "ROOT_PASSWORD", "value": "default-secret"},
        ],
        "virtual_machine": {
            "metadata": {"name": "${NAME}", "creationTimestamp": None},
            "spec": {
                "runStrategy": "Halted",
                "instancetype": {"name": "${SIZE}", "kind": "VirtualMachineInstancetype"},
                "preference": {"name": "linux", "kind": "VirtualMachinePreference"},
                "template": {
                    "spec": {
                        "domain": {"devices": {}},
                        "volumes": [
                            {"name": "root", "containerDisk": {"image": "example.com/disk"}},
                            {"name": "init", "cloudInitNoCloud": {"userData": USER_DATA}},
                        ],
                    },
                },
            },
        },
    }


def test_template_is_created_unchanged_changed_and_deleted(task: Task, shop: str, options: Options) -> None:
    assert task("virtual_machine_template", check=True, **options)["changed"]
    result = task("virtual_machine_template", **options)
    assert result["result"]["action"] == "create" and "warnings" not in result["result"], result
    for check in (True, False):
        assert not task("virtual_machine_template", check=check, **options)["changed"]
    changed = task("virtual_machine_template", **{**options, "instructions": "Bye ${NAME}"})
    assert changed["diff"][0]["after"] == {"spec": {"message": "Bye ${NAME}"}}
    del options["labels"]
    changed = task("virtual_machine_template", **options)
    assert changed["diff"][0]["before"]["metadata"] == {"labels": {"team": "a"}}
    vm = task("virtual_machine", name="web", from_template={"name": "linux"})
    assert vm["changed"] and vm["result"]["from_template"]["message"] == "Hello web", vm
    gone = task("virtual_machine_template", name="linux", state="absent")
    assert gone["result"]["action"] == "delete"
    assert not task("virtual_machine_template", name="linux", state="absent")["changed"]


def test_template_is_read_without_secrets(task: Task, shop: str, options: Options) -> None:
    made = task("virtual_machine_template", **options)
    options["parameters"][2]["value"] = "other-secret"
    changed = task("virtual_machine_template", **options)
    assert changed["changed"], changed
    result = task("virtual_machine_template_info")
    for secret in ("default-secret", "other-secret", "userdata-secret"):
        shown = [
            name for name, value in (("made", made), ("changed", changed), ("found", result)) if secret in str(value)
        ]
        assert not shown, (secret, changed["diff"], made["invocation"])
    (template,) = result["virtual_machine_templates"]
    assert [parameter["name"] for parameter in template["parameters"]] == ["NAME", "SIZE", "ROOT_PASSWORD"]
    assert template["virtual_machine"]["metadata"] == {"name": "${NAME}"}
    assert (template["name"], template["message"], template["findings"]) == ("linux", "Hello ${NAME}", [])
    none = task("virtual_machine_template_info", names=["windows"])
    assert warned(none) == [f"names: no such virtual machine template in {shop}: windows"]


def changed(options: Options, spec: Options) -> Options:
    vm = options["virtual_machine"]
    return {**options, "virtual_machine": {**vm, "spec": {**vm["spec"], **spec}}}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"preference": {"name": "missing"}}, "a VM of the template: spec.preference.name: "),
        ({"instancetype": {"name": "tiny", "kind": "VirtualMachineInstancetype"}}, "a VM of the template: "),
        ({"instancetype": {"name": "missing"}}, "a VM of the template: spec.instancetype.name: "),
        ({"instancetype": {"name": "small", "kind": "VirtualMachineInstancetype"}}, "SIZE is defined but never ref"),
    ],
)
def test_task_warns_of_references(task: Task, options: Options, spec: Options, words: str) -> None:
    result = task("virtual_machine_template", **changed(options, spec))
    assert result["changed"] and any(words in text for text in warned(result)), warned(result)


def test_template_that_makes_no_vm_is_refused(task: Task, options: Options) -> None:
    refused = task.refused("virtual_machine_template", **changed(options, {"hostname": "${HOSTNAME}"}))
    assert "references undefined parameter HOSTNAME; define it in spec.parameters" in refused["msg"]
