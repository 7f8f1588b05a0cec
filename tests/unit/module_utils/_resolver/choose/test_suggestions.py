"""What to add to a VM that cannot be as it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.release import NEWEST
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.choose import suggestions
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.virtual_machine import reconcile
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.manifest import manifest
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import Objects
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.vmi.cluster import (
    Cluster,
    KubeVirt,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight import predict as preflight
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.admit import admit

GROUP = "instancetype.kubevirt.io/v1beta1"
DEFAULT = "instancetype.kubevirt.io/default-"


def instancetype(name: str, memory: str, kind: str = "VirtualMachineClusterInstancetype") -> dict[str, Any]:
    namespace = {} if "Cluster" in kind else {"namespace": "shop"}
    spec = {"cpu": {"guest": 1}, "memory": {"guest": memory}}
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name, **namespace}, "spec": spec}


def preference(name: str, memory: str = "1Gi") -> dict[str, Any]:
    spec = {"requirements": {"memory": {"guest": memory}}}
    return {"apiVersion": GROUP, "kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


def disk(kind: str, name: str, **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "shop", "labels": {DEFAULT + key: value for key, value in labels.items()}}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": {}}


TYPES = [
    instancetype("small", "512Mi"),
    instancetype("large", "4Gi"),
    instancetype("own", "2Gi", "VirtualMachineInstancetype"),
    preference("fedora", "2Gi"),
    preference("rhel.9"),
    preference("windows.11"),
]


def told(options: dict[str, Any], *objects: dict[str, Any]) -> list[str]:
    there = [*TYPES, *objects]

    def listed(kind: str, namespace: str) -> Iterable[dict[str, Any]]:
        places = ((entry["kind"], entry["metadata"].get("namespace", "")) for entry in there)
        return [entry for entry, place in zip(there, places) if place == (kind, namespace)]

    made = reconcile(manifest({"name": "web", "namespace": "shop", **options}), None, "virtshape").manifest
    cluster = Cluster(Objects(there), KubeVirt(NEWEST))
    found = preflight.issues(admit(made, None, cluster), None, cluster, listed)
    return [issue.text for issue in found]


def test_a_disk_that_says_nothing() -> None:
    text = told({"boot": {"pvc": "fedora-root"}}, disk("PersistentVolumeClaim", "fedora-root"))[0]
    assert text.startswith("spec.instancetype.inferFromVolume, spec.preference.inferFromVolume: ")
    # No preference is known, so every type would do, the smallest first.
    assert "add instancetype.name, for example small, own (kind VirtualMachineInstancetype) or large" in text
    assert "or label the volume instancetype.kubevirt.io/default-instancetype" in text
    assert "add preference.name, for example fedora, or label" in text


def test_a_data_source_that_only_says_the_preference() -> None:
    text = told({"boot": {"data_source": "fedora"}}, disk("DataSource", "fedora", preference="fedora"))[0]
    assert text.startswith("spec.instancetype.inferFromVolume: ")
    assert "for example own (kind VirtualMachineInstancetype) or large, or label" in text
    assert "add preference" not in text


def test_preferences_that_are_called_like_the_disk_come_first() -> None:
    """Also where the volume is a DataVolume, whose template says what it is made from."""
    text = told({"boot": {"data_source": "windows"}}, disk("DataSource", "windows", instancetype="large"))[0]
    assert "add preference.name, for example windows.11, or label" in text
    text = told({"boot": {"pvc": "rhel9"}}, disk("PersistentVolumeClaim", "rhel9", instancetype="large"))[0]
    assert "add preference.name, for example rhel.9, or label" in text


def test_an_instancetype_has_to_suit_the_rest_of_the_vm() -> None:
    """What the VM says of CPUs and memory would go with an instancetype; its architecture would not."""
    arm = {**preference("arm"), "spec": {"requirements": {"architecture": "arm64"}}}
    options = {"boot": {"pvc": "d"}, "preference": {"name": "arm"}}
    for architecture, example in (("arm64", ", for example small, own "), ("amd64", ", or label the volume ")):
        wanted = {**options, "template": {"spec": {"architecture": architecture}}}
        assert f"add instancetype.name{example}" in told(wanted, arm, disk("PersistentVolumeClaim", "d"))[0]


def test_a_preference_that_is_named_counts() -> None:
    text = told({"boot": {"pvc": "d"}, "preference": {"name": "fedora"}}, disk("PersistentVolumeClaim", "d"))[0]
    assert "for example own (kind VirtualMachineInstancetype) or large, or label" in text


def test_a_preference_that_asks_for_more_than_the_default_memory() -> None:
    text = told({"boot": {"container_disk": "x"}, "preference": {"name": "fedora"}})[0]
    assert "preference requires 2Gi" in text
    assert text.endswith("add instancetype.name, for example own (kind VirtualMachineInstancetype) or large")


def test_nothing_is_told_of_a_vm_that_can_be() -> None:
    labels = {"instancetype": "large", "preference": "fedora"}
    assert told({"boot": {"pvc": "d"}}, disk("PersistentVolumeClaim", "d", **labels)) == []
    auto = {"infer": "auto"}
    assert (
        told(
            {"boot": {"pvc": "d"}, "instancetype": auto, "preference": auto},
            disk("PersistentVolumeClaim", "d"),
        )
        == []
    )


def test_a_disk_that_is_not_there() -> None:
    text = told({"boot": {"pvc": "gone"}})[0]
    assert text.endswith(
        'persistentvolumeclaims "gone" not found; create the PersistentVolumeClaim gone in the namespace shop first, '
        "or name another PersistentVolumeClaim"
    )
    # An instancetype would not bring it about.
    others = [disk("DataSource", name) for name in ("fedora", "rhel9", "centos")]
    text = told({"boot": {"data_source": "fedra"}}, *others)[0]
    assert text.endswith(
        "create the DataSource fedra in the namespace shop first, or name another DataSource, for example fedora"
    )
    text = told({"boot": {"data_source": "shop/x"}}, *others)[0]
    assert text.endswith("for example centos, fedora or rhel9")


@pytest.mark.parametrize("name", ["nothing-like-it", ""])
def test_without_a_likeness_the_first_preferences_are_told(name: str) -> None:
    found = told({"boot": {"pvc": name or "x"}}, disk("PersistentVolumeClaim", name or "x"))[0]
    assert "add preference.name, for example fedora, rhel.9 or windows.11" in found


def test_of_what_is_no_vm_nothing_is_missing() -> None:
    """Something else is wrong with these, and told."""
    asking = {"inferFromVolume": "root"}
    for spec in ({"instancetype": asking, "runStrategy": 5, "template": {}}, {"instancetype": asking}):
        assert (
            suggestions.uninferred_roles(
                {"metadata": {"name": "web"}, "spec": spec}, Cluster(Objects([]), KubeVirt(NEWEST))
            )
            == []
        )


def test_a_vm_without_a_template_suits_every_instancetype() -> None:
    spec = {"instancetype": {"name": "none"}, "template": None}
    found = suggestions.best_instancetypes(
        TYPES[:2], {"metadata": {}, "spec": spec}, None, Cluster(Objects([]), KubeVirt(NEWEST))
    )
    assert [one["metadata"]["name"] for one in found] == ["small", "large"]
