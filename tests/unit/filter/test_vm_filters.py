"""The filters over VMs: one or many, options, and errors that name filter, object and field in one line."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError


def load(name: str) -> Any:
    module = import_module(f"ansible_collections.virtshape.instancetypes.plugins.filter.{name}")
    return module.FilterModule().filters()[name]


NAMES = ("expand", "conflicts", "requirements", "resources", "explain")
LARGE = {"cpu": {"guest": 4}, "memory": {"guest": "8Gi"}}


def vm(name: str = "web", **domain: Any) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"template": {"spec": {"domain": {"devices": {}, **domain}}}},
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_list_gives_a_list_and_nothing_is_changed(name: str) -> None:
    given = [vm(), vm("db", machine={"type": "q35"})]
    before = copy.deepcopy(given)
    answers = load(name)(given, instancetype=LARGE)
    assert answers == [load(name)(one, LARGE) for one in given]
    assert given == before
    assert load(name)([]) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("value", "options", "told"),
    [
        ("web", {}, "expected a manifest or a list of them, found 'web'"),
        ([1], {}, "expected a manifest, found 1"),
        ({"kind": "Pod"}, {}, "Pod: spec: is missing; a VirtualMachine's manifest is needed"),
        (vm(), {"instancetype": "u1"}, "instancetype: expected a manifest or a spec, found 'u1'"),
        (vm(), {"objects": "u1"}, "objects: expected a list of manifests, found 'u1'"),
        (vm(), {"objects": [None, 3]}, "objects[0]: expected a manifest, found 3"),
        (vm(), {"size": 1}, "size: there is no such option"),
        (vm(), {"kubevirt_version": "one"}, "kubevirt_version: 'one' is no version of KubeVirt"),
        (vm(cpu={"cores": "two"}), {}, "shop/web: spec.template.spec.domain.cpu.cores: expected a whole number"),
    ],
)
def test_errors(name: str, value: Any, options: dict[str, Any], told: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        load(name)(value, **options)
    assert str(error.value).startswith(f"{name}: {told}")
    assert "\n" not in str(error.value)


def test_objects_may_be_one_manifest_and_hold_empty_documents() -> None:
    named = vm()
    named["spec"]["instancetype"] = {"name": "large"}
    large = {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "large"}, "spec": LARGE}
    expanded = load("expand")(named, objects=large)
    assert expanded["spec"]["template"]["spec"]["domain"]["memory"]["guest"] == "8Gi"
    assert expanded == load("expand")(named, objects=[None, large])
    with pytest.raises(AnsibleFilterError, match=r'expand: shop/web: .*"large" not found'):
        load("expand")(named)


def test_an_older_kubevirt_answers_otherwise() -> None:
    spread = {"cpu": {"preferredCPUTopology": "spread"}}
    now = load("resources")(vm(), LARGE, spread)
    old = load("resources")(vm(), LARGE, spread, kubevirt_version="1.3")
    assert (now["guest"]["vcpus"], old["guest"]["vcpus"]) == (4, 1)


def test_options_of_resources_and_explain() -> None:
    assert load("resources")(vm(), LARGE, cpu_allocation_ratio=4)["pod"]["cpu"] == "1"
    assert load("explain")(vm(), LARGE, format="table")[0].split() == ["FIELD", "VALUE", "SOURCE", "INSTEAD", "OF"]
    with pytest.raises(AnsibleFilterError, match="format: 'yaml' is not one of its values; choose rows or table"):
        load("explain")(vm(), LARGE, format="yaml")
    with pytest.raises(AnsibleFilterError, match="cpu_allocation_ratio: expected a whole number, 1 or more, found 0"):
        load("resources")(vm(), LARGE, cpu_allocation_ratio=0)


def test_conflicts_are_told_by_the_filters_that_expand() -> None:
    for name in ("expand", "resources", "explain"):
        with pytest.raises(AnsibleFilterError) as error:
            load(name)(vm(cpu={"cores": 2}), LARGE)
        assert str(error.value) == (
            f"{name}: shop/web: VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type"
        )


PVC = {
    "kind": "PersistentVolumeClaim",
    "metadata": {
        "name": "root",
        "namespace": "shop",
        "labels": {"instancetype.kubevirt.io/default-instancetype": "u1.medium"},
    },
}


def inferring() -> dict[str, Any]:
    result = vm()
    result["spec"]["instancetype"] = {"inferFromVolume": "root"}
    volume = {"name": "root", "persistentVolumeClaim": {"claimName": "root"}}
    result["spec"]["template"]["spec"]["volumes"] = [volume]
    return result


def test_infer() -> None:
    inferred = load("infer")([inferring(), vm()], [PVC])
    assert inferred[0]["spec"]["instancetype"] == {"name": "u1.medium"}
    assert "instancetype" not in inferred[1]["spec"] and "status" not in inferred[1]
    with pytest.raises(AnsibleFilterError) as error:
        load("infer")(inferring(), objects=[])
    assert str(error.value) == 'infer: shop/web: persistentvolumeclaims "root" not found'
    with pytest.raises(AnsibleFilterError, match="infer: objects: expected a list of manifests"):
        load("infer")(inferring(), "root")


def instancetype(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "large", "namespace": "shop", "generation": 1, "uid": "1"},
        "spec": {**LARGE, **spec},
    }


def test_drift_of_objects_and_revisions() -> None:
    drift = load("drift")
    other = instancetype(memory={"guest": "16Gi"})
    assert drift(instancetype(), instancetype(memory={"guest": "8192Mi"})) == {"drifted": False, "changes": []}
    revision = {"kind": "ControllerRevision", "metadata": {"name": "r", "namespace": "shop"}, "data": instancetype()}
    change = {"field": "memory.guest", "before": "8Gi", "after": "16Gi"}
    assert drift([instancetype(), revision], [other]) == [{"drifted": True, "changes": [change]}] * 2
    with pytest.raises(AnsibleFilterError, match=r'drift: shop/large: .*"large" not found'):
        drift(instancetype(), [])
    with pytest.raises(AnsibleFilterError, match=r"drift: shop/r: data.kind: 'Pod' is neither"):
        drift({**revision, "data": {"kind": "Pod"}}, [other])
    with pytest.raises(AnsibleFilterError, match=r"drift: shop/r: data.kind: None is neither"):
        drift({**revision, "data": None}, [other])


def test_drift_of_a_vm() -> None:
    captured = {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": "captured",
            "namespace": "shop",
            "labels": {"instancetype.kubevirt.io/object-name": "large"},
        },
        "data": instancetype(),
    }
    drifted = vm()
    drifted["spec"]["instancetype"] = {"name": "large", "kind": "VirtualMachineInstancetype"}
    drifted["status"] = {"instancetypeRef": {"controllerRevisionRef": {"name": "captured"}}}
    told = load("drift")(drifted, [captured, instancetype(memory={"guest": "16Gi"})])
    assert told["drifted"] and told["instancetype"]["state"] == "drifted"
    assert (told["guest"]["memory"], told["guest_after_refresh"]["memory"]) == ("8Gi", "16Gi")
    assert told["changes"] == [{"field": "domain.memory.guest", "before": "8Gi", "after": "16Gi"}]
    assert "preference" not in told and "refusal" not in told
