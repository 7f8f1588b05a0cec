"""The filter diagnosis: from what kubectl prints to the first broken link."""

import json
from pathlib import Path
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

diagnosis = FILTERS["diagnosis"]
RECORDED = Path(__file__).parents[1] / "module_utils" / "_diagnosis" / "recorded_faults.json"
MISSING = 'virtualmachineclusterinstancetypes.instancetype.kubevirt.io "large" not found'
FAILURE = {"type": "Failure", "status": "True", "reason": "FailedFindInstancetype", "message": MISSING}
VM: dict[str, Any] = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "runStrategy": "Always",
        "instancetype": {"name": "large"},
        "template": {"spec": {"domain": {"devices": {}}}},
    },
    "status": {"printableStatus": "Stopped", "conditions": [FAILURE]},
}
KUBEVIRT = {"kind": "KubeVirt", "metadata": {"name": "kubevirt"}, "status": {"observedKubeVirtVersion": "v1.8.0"}}


@pytest.mark.parametrize("value", [VM, [VM, KUBEVIRT], {"kind": "List", "items": [VM]}])
def test_lists_and_single_objects_are_read(value: Any) -> None:
    [found] = diagnosis(value, at="2026-03-01T08:00:00Z")
    assert (found["namespace"], found["name"], found["diagnosis"]["link"]) == ("shop", "web", "instancetype")
    assert found["diagnosis"]["evidence"][0]["message"] == MISSING


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        ("VM", {}, "expected a list of manifests"),
        ({**VM, "spec": {"runStrategy": "Always"}, "status": {}}, {}, "an object does not match its schema"),
        (VM, {"at": 7}, "at: expected a string"),
    ],
)
def test_other_input_is_one_line(value: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(AnsibleFilterError, match=message):
        diagnosis(value, **options)


def test_a_bad_quantity_is_one_line() -> None:
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    objects = [*recorded["common"], *recorded["faults"]["taint"]]
    [pod] = (item for item in objects if item["kind"] == "Pod")
    pod["spec"]["containers"][0]["resources"]["requests"] = {"memory": "much"}
    with pytest.raises(AnsibleFilterError, match=r"does not match its schema \(quantities must match"):
        diagnosis(objects)
