"""The effect of deploying a catalog over existing objects."""

from typing import Any

from plugins.module_utils._resolver.api import managed_fields
from plugins.module_utils._resolver.api.matcher import ObjectKey, references
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.catalog.deployment_effects import affected, no_longer_declared
from plugins.module_utils._resolver.catalog.spec_changes import changes, predicted
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects

KIND = "VirtualMachineClusterInstancetype"


def size(name: str, cpu: int = 1, catalog: str = "acme", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "instancetype.kubevirt.io/v1beta1",
        "kind": KIND,
        "metadata": {"name": name, "labels": {"instancetypes.virtshape.io/catalog": catalog}},
        "spec": {"cpu": {"guest": cpu}, "memory": {"guest": "1Gi"}, **spec},
    }


def vm(name: str, instancetype: str) -> dict[str, Any]:
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "VirtualMachine",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"instancetype": {"name": instancetype}, "template": {"spec": {"domain": {"devices": {}}}}},
    }


def test_obsolete_objects_are_no_longer_in_the_catalog() -> None:
    live = [size("a"), size("b"), size("c", catalog="other")]
    assert no_longer_declared(live, [ObjectKey.of(size("a"))], "acme") == [live[1]]


def test_references_normalize_the_kind_of_the_matcher() -> None:
    item = vm("web", "a")
    item["spec"]["preference"] = {"name": "p", "kind": "virtualmachinepreferences"}
    assert references(item) == [ObjectKey(KIND, "", "a"), ObjectKey("VirtualMachinePreference", "shop", "p")]
    assert references({**item, "spec": {"instancetype": {"inferFromVolume": "x"}}}) == []


def test_prediction_drops_only_owned_fields() -> None:
    live = size("a", 2, nodeSelector={"ours": "1"}, schedulerName="theirs")
    owner = {path for path in managed_fields.leaf_fields(live) if path[-1] not in ("schedulerName",)}
    spec = predicted(size("a", 4), live, owner)
    assert spec["cpu"]["guest"] == 4
    assert spec["schedulerName"] == "theirs"
    assert "nodeSelector" not in spec
    assert [change["field"] for change in changes(live, spec)] == ["cpu.guest", "nodeSelector"]


def test_another_spelling_is_no_change() -> None:
    live = size("a")
    desired = size("a")
    desired["spec"]["memory"] = {"guest": "1024Mi"}
    assert changes(live, predicted(desired, live, set())) == []


def test_affected_vms_are_listed_with_their_changes() -> None:
    now = Cluster(Objects([size("a"), size("b")]), KubeVirt(NEWEST))
    after = {ObjectKey.of(size("a")): size("a", 2), ObjectKey.of(size("c")): None}
    vms = [vm("one", "a"), vm("two", "b"), vm("three", "c")]
    result = affected([(item, None) for item in vms], after, now)
    assert [(item["metadata"]["name"], object_keys) for item, object_keys, _drift in result] == [
        ("one", [ObjectKey(KIND, "", "a")]),
        ("three", [ObjectKey(KIND, "", "c")]),
    ]
    assert result[0][2].effect.guest_after["vcpus"] == 2


def preference(**spec: Any) -> dict[str, Any]:
    kind = "VirtualMachineClusterPreference"
    return {"apiVersion": "instancetype.kubevirt.io/v1beta1", "kind": kind, "metadata": {"name": "p"}, "spec": spec}


def test_a_new_object_is_predicted_as_declared() -> None:
    assert predicted(size("a", 4, schedulerName="x"), None, None) == {
        "cpu": {"guest": 4},
        "memory": {"guest": "1Gi"},
        "schedulerName": "x",
    }


def test_prediction_covers_only_the_spec() -> None:
    """Labels that we owned go as well, but these are none of it; nor is a spec that was declared as an empty one."""
    live = size("a", 2)
    live["metadata"]["labels"]["old"] = "1"
    assert predicted(size("a", 2), live, {("metadata", "labels", "old")})["cpu"] == {"guest": 2}
    bare = {"kind": preference()["kind"], "metadata": {"name": "p"}}
    assert predicted(bare, preference(preferredSubdomain="theirs"), {("spec",)}) == {}


def test_empty_declared_object_keeps_fields_of_others() -> None:
    live = preference(devices={"preferredTPM": {"persistent": True}})
    spec = predicted(preference(devices={"preferredTPM": {}, "preferredRng": {}}), live, set())
    assert spec["devices"] == {"preferredTPM": {"persistent": True}, "preferredRng": {}}


def test_emptied_objects_are_removed() -> None:
    live = preference(clock={"preferredTimer": {"hpet": {"present": False}}}, preferredSubdomain="x")
    owner = set(managed_fields.leaf_fields(live)) | {("spec", "machine", "preferredMachineType")}
    assert predicted(preference(preferredSubdomain="x"), live, owner) == {"preferredSubdomain": "x"}
