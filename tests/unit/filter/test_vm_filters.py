"""The filters over VMs: one or many, options, and errors that name filter, object and field in one line."""

import copy
from typing import Any

import pytest
from ansible.errors import AnsibleFilterError
from filtered_vms import LARGE, vm
from loaded_filters import FILTERS

# A filter of a capability is only there with it.
NAMES = [name for name in ("expand", "resources", "explain") if name in FILTERS]
EXPANDING = [name for name in NAMES if name != "explain"]


@pytest.mark.parametrize("name", NAMES)
def test_list_gives_a_list_and_stays_unchanged(name: str) -> None:
    options = [vm(), vm("db", machine={"type": "q35"})]
    before = copy.deepcopy(options)
    answers = FILTERS[name](options, instancetype=LARGE)
    assert answers == [FILTERS[name](item, LARGE) for item in options]
    assert options == before
    assert FILTERS[name]([]) == []


@pytest.mark.parametrize("name", NAMES)
def test_builtin_catalog_is_the_default_for_objects(name: str) -> None:
    web = vm()
    web["spec"] |= {"instancetype": {"name": "u1.medium"}, "preference": {"name": "fedora"}}
    assert FILTERS[name](web)
    # New in the version for KubeVirt 1.8.
    web["spec"]["instancetype"]["name"] = "d1.small"
    assert FILTERS[name](web, kubevirt_version="1.8")
    for options in ({"objects": []}, {"kubevirt_version": "1.7"}):
        with pytest.raises(AnsibleFilterError, match=r'"d1\.small" not found'):
            FILTERS[name](web, **options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("value", "options", "result"),
    [
        ("web", {}, "expected a manifest or a list of them, found 'web'"),
        ([1], {}, "expected a manifest, found 1"),
        ({"kind": "Pod"}, {}, "Pod: spec: missing; pass the manifest of a VirtualMachine"),
        (vm(), {"instancetype": "u1"}, "instancetype: expected a manifest or a spec, found 'u1'"),
        (vm(), {"objects": "u1"}, "objects: expected a list of manifests, found 'u1'"),
        (vm(), {"objects": [None, 3]}, "objects[0]: expected a manifest, found 3"),
        (vm(), {"size": 1}, "size: unknown option"),
        (vm(), {"kubevirt_version": "one"}, "kubevirt_version: 'one' is not a version of KubeVirt"),
        (vm(cpu={"cores": "two"}), {}, "shop/web: spec.template.spec.domain.cpu.cores: expected a whole number"),
    ],
)
def test_invalid_input_is_refused_on_one_line(name: str, value: Any, options: dict[str, Any], result: str) -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS[name](value, **options)
    assert str(error.value).startswith(f"{name}: {result}")
    assert "\n" not in str(error.value)


def test_objects_accept_one_manifest_and_empty_documents() -> None:
    named = vm()
    named["spec"]["instancetype"] = {"name": "large"}
    large = {"kind": "VirtualMachineClusterInstancetype", "metadata": {"name": "large"}, "spec": LARGE}
    expanded = FILTERS["expand"](named, objects=large)
    assert expanded["spec"]["template"]["spec"]["domain"]["memory"]["guest"] == "8Gi"
    assert expanded == FILTERS["expand"](named, objects=[None, large])
    with pytest.raises(AnsibleFilterError, match=r'expand: shop/web: .*"large" not found'):
        FILTERS["expand"](named)


def test_explain_gives_data_or_a_table() -> None:
    assert FILTERS["explain"](vm(), LARGE, form="table")[0].split() == ["FIELD", "VALUE", "SOURCE", "INSTEAD", "OF"]
    with pytest.raises(AnsibleFilterError, match="form: 'yaml' is not a valid value; choose data or table"):
        FILTERS["explain"](vm(), LARGE, form="yaml")


def test_conflicts_are_an_error_of_expand() -> None:
    for name in EXPANDING:
        with pytest.raises(AnsibleFilterError) as error:
            FILTERS[name](vm(cpu={"cores": 2}), LARGE)
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


def test_infer_sets_matchers_from_boot_volume() -> None:
    inferred = FILTERS["infer"]([inferring(), vm()], [PVC])
    assert inferred[0]["spec"]["instancetype"] == {"name": "u1.medium"}
    assert "instancetype" not in inferred[1]["spec"] and "status" not in inferred[1]
    created = {**inferring(), "status": {"created": True}}
    assert FILTERS["infer"](created, [PVC])["status"] == {"created": True}
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["infer"](inferring(), objects=[])
    assert str(error.value) == 'infer: shop/web: persistentvolumeclaims "root" not found'
    with pytest.raises(AnsibleFilterError, match="infer: objects: expected a list of manifests"):
        FILTERS["infer"](inferring(), "root")


def instancetype(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": "VirtualMachineInstancetype",
        "metadata": {"name": "large", "namespace": "shop", "generation": 1, "uid": "1"},
        "spec": {**LARGE, **spec},
    }


def test_drift_of_objects_and_revisions() -> None:
    drift = FILTERS["drift"]
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


def test_inference_and_drift_follow_the_kubevirt_version() -> None:
    snapshot = {**PVC, "kind": "VolumeSnapshot"}
    source = {"snapshot": {"name": "root", "namespace": "shop"}}
    volume = {"kind": "DataVolume", "metadata": PVC["metadata"] | {"labels": {}}, "spec": {"source": source}}
    options = inferring()
    options["spec"]["template"]["spec"]["volumes"] = [{"name": "root", "dataVolume": {"name": "root"}}]
    assert FILTERS["infer"](options, [snapshot, volume])["spec"]["instancetype"] == {"name": "u1.medium"}
    with pytest.raises(AnsibleFilterError, match="DataVolumeSource is not supported"):
        FILTERS["infer"](options, [snapshot, volume], kubevirt_version="1.8")

    grown = instancetype(cpu={"guest": 4, "maxSockets": 8})
    assert FILTERS["drift"](instancetype(), grown)["drifted"]
    for name in ("infer", "drift"):
        with pytest.raises(AnsibleFilterError, match=f"{name}: kubevirt_version: KubeVirt 0.4 is not supported"):
            FILTERS[name](vm(), [], kubevirt_version="0.4")


def test_conflicts_and_requirements_are_reported_together() -> None:
    result = FILTERS["explain"](vm(cpu={"cores": 2}), LARGE, {"requirements": {"memory": {"guest": "16Gi"}}})
    path = "spec.template.spec.domain.cpu.cores"
    conflict = f"VM field(s) {path} conflicts with selected instance type"
    unmet = "insufficient Memory resources of 8Gi provided by instance type, preference requires 16Gi"
    assert result == {
        "conflicts": [{"path": path, "message": conflict}],
        "requirements": [{"message": unmet, "paths": ["spec.instancetype"]}],
        "fields": [],
    }
    lines = FILTERS["explain"](
        vm(cpu={"cores": 2}), LARGE, {"requirements": {"memory": {"guest": "16Gi"}}}, form="table"
    )
    assert lines == [conflict, unmet]


def test_requirements_consider_defaults_of_the_cluster() -> None:
    wants = {"requirements": {"cpu": {"guest": 1}, "memory": {"guest": "2Gi"}, "architecture": "amd64"}}
    asks = vm(resources={"requests": {"memory": "2Gi"}})
    explain = FILTERS["explain"]
    assert explain(asks, preference=wants)["requirements"] == []
    result = explain(asks, preference={"requirements": {"architecture": "arm64"}})["requirements"]
    assert result[0]["message"] == "preference requires architecture arm64 but amd64 is being requested"


def test_a_panic_of_kubevirt_is_reported() -> None:
    crashing = {"cpu": {"preferredCPUTopology": "spread", "spreadOptions": {"ratio": 0}}}
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["explain"](vm(), LARGE, crashing)
    assert str(error.value) == "explain: shop/web: KubeVirt rejects such a VM: a spread ratio of 0 divides by zero"
    for name in EXPANDING:
        with pytest.raises(AnsibleFilterError, match=f"{name}: shop/web: a spread ratio of 0 divides by zero"):
            FILTERS[name](vm(), LARGE, crashing)


def test_a_field_of_a_wrong_type_is_named() -> None:
    with pytest.raises(AnsibleFilterError) as error:
        FILTERS["drift"](instancetype(), [instancetype(memory={"guest": "many"})])
    assert str(error.value).startswith("drift: shop/large: spec.memory.guest: 'many' is not a quantity")


@pytest.mark.parametrize("name", [*NAMES, "infer"])
def test_invalid_vms_are_rejected_like_by_the_modules(name: str) -> None:
    def error_of(manifest: dict[str, Any], *value: Any, **options: Any) -> str:
        arguments = ([],) if name == "infer" else value
        with pytest.raises(AnsibleFilterError) as error:
            FILTERS[name](manifest, *arguments, **options)
        assert "\n" not in str(error.value)
        return str(error.value)

    bad = vm()
    bad["metadata"]["name"] = "größe"
    assert error_of(bad, LARGE).startswith(f"{name}: shop/größe: metadata.name: 'größe' must consist of a-z")
    bad = vm()
    bad["metadata"]["labels"] = {"app": "a b"}
    assert error_of(bad, LARGE).startswith(f"{name}: shop/web: metadata.labels.app: 'a b' must consist of")
    bad = vm(memory={"guest": "-1Gi"})
    assert "spec.template.spec.domain.memory.guest: '-1Gi' is too small" in error_of(bad, LARGE)
    bad = vm()
    bad["spec"]["template"]["spec"]["nodeselector"] = {}
    assert "spec.template.spec.nodeselector: unknown field; did you mean nodeSelector?" in error_of(bad, LARGE)
    assert "accept_unknown_fields: expected true or false, found 'perhaps'" in error_of(
        vm(), LARGE, accept_unknown_fields="perhaps"
    )
    if name != "infer":
        assert error_of(vm(), {"cpu": {"guest": 1}, "memory": {"guest": "0"}}).startswith(
            f"{name}: instancetype: memory.guest: '0' is too small"
        )
        FILTERS[name](bad, LARGE, accept_unknown_fields="true")


def test_objects_as_arguments_precede_captured_revisions() -> None:
    named = vm()
    named["spec"]["instancetype"] = {"name": "small"}
    named["status"] = {"instancetypeRef": {"name": "small", "controllerRevisionRef": {"name": "gone"}}}
    assert FILTERS["expand"](named, LARGE)["spec"]["template"]["spec"]["domain"]["cpu"]["sockets"] == 4
    for name in NAMES:
        with pytest.raises(AnsibleFilterError, match=f'{name}: shop/web: .*"gone" not found'):
            FILTERS[name](named)
