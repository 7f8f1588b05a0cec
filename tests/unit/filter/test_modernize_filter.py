"""The filter modernize: one or many, options, errors in one line. The resolver's tests have its changes."""

from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from loaded_filters import FILTERS

modernize = FILTERS["modernize"]

VM = {
    "apiVersion": "kubevirt.io/v1",
    "kind": "VirtualMachine",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {"running": True, "template": {"spec": {"domain": {"devices": {}}}}},
}
PREFERENCE = {
    "apiVersion": "instancetype.kubevirt.io/v1beta1",
    "kind": "VirtualMachinePreference",
    "metadata": {"name": "linux"},
    "spec": {"cpu": {"preferredCPUTopology": "preferCores"}},
}


def test_single_manifest_gives_manifest_and_changes() -> None:
    assert modernize(VM) == {
        "manifest": {**VM, "spec": {"runStrategy": "Always", "template": VM["spec"]["template"]}},
        "changes": [
            {
                "path": "spec.running",
                "before": True,
                "new_path": "spec.runStrategy",
                "after": "Always",
                "note": "Deprecated since KubeVirt 1.3.",
            }
        ],
        "remaining": [],
    }


def test_list_gives_a_list() -> None:
    answers = modernize([VM, PREFERENCE, {"kind": "ConfigMap"}])

    assert [len(answer["changes"]) for answer in answers] == [1, 1, 0]
    assert answers[1]["manifest"]["spec"]["cpu"] == {"preferredCPUTopology": "cores"}


@pytest.mark.parametrize(
    ("value", "version", "message"),
    [
        ("running: true", None, "modernize: expected a manifest or a list of them, found 'running: true'"),
        (
            {**VM, "spec": {**VM["spec"], "runStrategy": "Manual"}},
            None,
            "modernize: shop/web: spec.running: is set together with spec.runStrategy, which KubeVirt rejects; remove"
            " spec.running",
        ),
        (
            VM,
            1.6,
            "modernize: kubevirt_version: 1.6 is not a version of KubeVirt; write 1.4 or later, such as 1.6 or v1.6.2,"
            " in quotes",
        ),
        (
            VM,
            "0.58",
            "modernize: kubevirt_version: KubeVirt 0.58 is not supported; write 1.4 or later, such as 1.6 or v1.6.2",
        ),
    ],
)
def test_invalid_input_is_refused(value: Any, version: Any, message: str) -> None:
    with pytest.raises(AnsibleFilterError) as caught:
        modernize(value, version)

    assert str(caught.value) == message


def test_a_vm_of_a_preset() -> None:
    preset = {
        "kind": "VirtualMachineInstancePreset",
        "metadata": {"name": "all", "namespace": "shop"},
        "spec": {"selector": {}, "domain": {"resources": {"requests": {"memory": "2Gi"}}}},
    }
    (result,) = modernize([VM], presets=[preset], catalog="builtin")
    assert result["manifest"]["spec"]["instancetype"]["name"] == "u1.small"
    assert result["differences"] == [] and result["guest_before"] == result["guest_after"]
    assert "guest_before" not in modernize(VM, presets=preset)
    with pytest.raises(
        AnsibleFilterError, match=r"^modernize: catalog: expected builtin or a list of manifests, found"
    ):
        modernize(VM, catalog="u1")
    with pytest.raises(AnsibleFilterError, match=r"^modernize: presets\[0\]: expected a manifest, found 1"):
        modernize(VM, presets=[1])
