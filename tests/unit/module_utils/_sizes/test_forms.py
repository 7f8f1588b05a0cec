"""The values that VMs get, and the way back to names."""

import pytest
from sized_vms import big, captured, cluster_of, linux, named, with_values

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.api.manifest import Manifest
from plugins.module_utils._resolver.api.matcher import INSTANCETYPE, PREFERENCE
from plugins.module_utils._sizes.forms import (
    as_expanded,
    instancetype_of,
    loses_values,
    probe,
    with_recorded_names,
)

BARE = linux(devices={})
INFERRED = {"inferFromVolume": "root"}
CLAIM = {"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}
LABELS = {
    "instancetype.kubevirt.io/default-instancetype": "big",
    "instancetype.kubevirt.io/default-instancetype-kind": "VirtualMachineInstancetype",
}


def memory(vm: Manifest) -> str:
    return str(vm["spec"]["template"]["spec"]["domain"]["memory"]["guest"])


def generation(vm: Manifest) -> int:
    return int((INSTANCETYPE.recorded_in(vm) or {})["metadata"]["generation"])


def inferring(**matcher: str) -> Manifest:
    vm = named(instancetype={**INFERRED, **matcher})
    del vm["spec"]["preference"]
    vm["spec"]["template"]["spec"]["volumes"] = [CLAIM]
    return vm


def claim(**labels: str) -> Manifest:
    metadata = {"name": "disk", "namespace": "shop", "labels": labels}
    return {"kind": "PersistentVolumeClaim", "metadata": metadata}


def test_new_vm_gets_the_current_values() -> None:
    vm = as_expanded(named(), None, cluster_of(big(), linux()))
    assert (memory(vm), generation(vm)) == ("4Gi", 1)
    assert "preference" not in vm["spec"]


def test_expanded_vm_keeps_its_values() -> None:
    live = with_values(named())
    vm = as_expanded(named(), live, cluster_of(big("8Gi", 2), linux()))
    assert vm == live


def test_other_instancetype_brings_its_values() -> None:
    other = {**big("8Gi", 5), "metadata": {"name": "other", "namespace": "shop", "uid": "o", "generation": 5}}
    vm = named(instancetype={"name": "other", "kind": "VirtualMachineInstancetype"})
    result = as_expanded(vm, with_values(named()), cluster_of(big(), other, linux()))
    assert (memory(result), generation(result)) == ("8Gi", 5)


def test_captured_revision_gives_the_values() -> None:
    live, revisions = captured(named(), big(), BARE)
    vm = as_expanded(named(), live, cluster_of(big("8Gi", 2), linux(2, devices={}), *revisions))
    assert (memory(vm), generation(vm)) == ("4Gi", 1)


def test_vm_without_revisions_gets_current_values() -> None:
    assert memory(as_expanded(named(), {**named(), "status": {}}, cluster_of(big("8Gi", 2), BARE))) == "8Gi"


def test_empty_revision_gives_no_values() -> None:
    live, revisions = captured(named(), big())
    emptied = [{**revision, "data": None} for revision in revisions]
    assert memory(as_expanded(named(), live, cluster_of(big("8Gi", 2), BARE, *emptied))) == "8Gi"


def test_pinned_revision_gives_the_values() -> None:
    _live, [revision] = captured(named(), big())
    pinned = {**named()["spec"]["instancetype"], "revisionName": revision["metadata"]["name"]}
    vm = named(instancetype=pinned)
    assert memory(as_expanded(vm, None, cluster_of(big("8Gi", 2), BARE, revision))) == "4Gi"
    with pytest.raises(KubeVirtError, match="not found"):
        as_expanded(vm, None, cluster_of(big("8Gi", 2), BARE))
    assert loses_values(vm, with_values(named()), cluster_of(big("8Gi", 2), linux())) == ""


def test_preference_of_a_running_guest_stays_named() -> None:
    live, revisions = captured(named(), big(), linux())
    cluster = cluster_of(big(), linux(), *revisions)
    kept = as_expanded(named(), live, cluster)
    assert kept["spec"]["preference"] == named()["spec"]["preference"]
    assert kept["spec"]["template"]["spec"]["domain"]["devices"] == {}
    stopped = {**live, "status": {**live["status"], "created": False}}
    assert "preference" not in as_expanded(named(), stopped, cluster)["spec"]
    # Once kept, it stays.
    assert as_expanded(named(), {**kept, "status": {}}, cluster) == kept
    alone = named()
    del alone["spec"]["instancetype"]
    alone["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    assert as_expanded(alone, live, cluster)["spec"] == alone["spec"]


def test_inferred_instancetype_becomes_values() -> None:
    vm = as_expanded(inferring(), None, cluster_of(big(), claim(**LABELS)))
    assert memory(vm) == "4Gi"
    ignoring = inferring(inferFromVolumeFailurePolicy="Ignore")
    ignoring["spec"]["template"]["spec"]["domain"]["memory"] = {"guest": "1Gi"}
    assert memory(as_expanded(ignoring, None, cluster_of(big(), claim(**LABELS)))) == "4Gi"
    unlabelled = as_expanded(ignoring, None, cluster_of(big(), claim()))
    assert (memory(unlabelled), "instancetype" in unlabelled["spec"]) == ("1Gi", False)


def test_nothing_is_inferred_twice() -> None:
    live = as_expanded(inferring(), None, cluster_of(big(), claim(**LABELS)))
    again = with_recorded_names(inferring(), live)
    assert again["spec"]["instancetype"] == {"name": "big", "kind": "VirtualMachineInstancetype"}
    assert with_recorded_names(inferring(), None) == inferring()
    assert with_recorded_names(named(), live) == named()


def test_names_of_changed_objects_are_refused() -> None:
    live = with_values(named())
    assert loses_values(named(), live, cluster_of(big(), linux())) == ""
    text = loses_values(named(), live, cluster_of(big("8Gi", 2), linux()))
    assert text.startswith("spec.instancetype: VirtualMachineInstancetype big has changed since the VM got its values")
    assert loses_values(named(), None, cluster_of()) == ""
    other = named(instancetype={"name": "other", "kind": "VirtualMachineInstancetype"})
    assert loses_values(other, live, cluster_of(big("8Gi", 2), linux())) == ""


def test_former_revision_in_the_status_counts_for_names() -> None:
    before, revisions = captured(named(), big(), linux())
    live = {**with_values(named()), "status": before["status"]}
    assert loses_values(named(), live, cluster_of(big("8Gi", 2), linux(), *revisions)) == ""


def test_probe_is_one_vm_in_both_forms() -> None:
    by_name, by_value = probe(big(), "shop", cluster_of())
    assert by_name["spec"]["instancetype"] == {"kind": "VirtualMachineInstancetype", "name": "big"}
    assert memory(by_value) == "4Gi"
    assert "instancetype" not in by_value["spec"]
    assert by_name["metadata"]["namespace"] == by_value["metadata"]["namespace"] == "shop"


def test_probe_takes_an_instancetype_that_can_be_read() -> None:
    assert (instancetype_of(named(), None, cluster_of(big())) or {})["metadata"]["name"] == "big"
    assert instancetype_of(named(), None, cluster_of()) is None
    assert instancetype_of(inferring(), None, cluster_of(big())) is None
    without = named()
    del without["spec"]["instancetype"]
    assert instancetype_of(without, None, cluster_of(big())) is None
    assert PREFERENCE.matcher_of(without)
