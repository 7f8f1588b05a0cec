"""Suggestions for a VM that KubeVirt would refuse."""

from collections.abc import Iterable
from typing import Any

import pytest

from plugins.module_utils._resolver.api.matcher import Inferring
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.module_utils._resolver.choose import suggestions
from plugins.module_utils._resolver.declare.virtual_machine import as_created
from plugins.module_utils._resolver.declare.vm.manifest import manifest
from plugins.module_utils._resolver.kubevirt.admission.mutate import admit
from plugins.module_utils._resolver.kubevirt.cluster import Cluster, KubeVirt
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight import findings as preflight

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


def issue_texts(options: dict[str, Any], *objects: dict[str, Any]) -> list[str]:
    there = [*TYPES, *objects]

    def lister(kind: str, namespace: str) -> Iterable[dict[str, Any]]:
        places = ((entry["kind"], entry["metadata"].get("namespace", "")) for entry in there)
        return [entry for entry, place in zip(there, places) if place == (kind, namespace)]

    vm = as_created(manifest({"name": "web", "namespace": "shop", **options}))
    cluster = Cluster(Objects(there), KubeVirt(NEWEST))
    issues = preflight.findings(admit(vm, None, cluster), None, cluster, lister)
    return [issue.line for issue in issues]


def test_disk_without_labels() -> None:
    text = issue_texts({"boot": {"pvc": "fedora-root"}}, disk("PersistentVolumeClaim", "fedora-root"))[0]
    assert text.startswith("spec.instancetype.inferFromVolume, spec.preference.inferFromVolume: ")
    # No preference is known, so every type would do, the smallest first.
    assert "add instancetype.name, for example small, own (kind VirtualMachineInstancetype) or large" in text
    assert "or label the volume instancetype.kubevirt.io/default-instancetype" in text
    assert "add preference.name, for example fedora, or label" in text


def test_data_source_with_only_a_preference() -> None:
    text = issue_texts({"boot": {"data_source": "fedora"}}, disk("DataSource", "fedora", preference="fedora"))[0]
    assert text.startswith("spec.instancetype.inferFromVolume: ")
    assert "for example own (kind VirtualMachineInstancetype) or large, or label" in text
    assert "add preference" not in text


def test_preferences_named_like_the_disk_come_first() -> None:
    """This holds for a DataVolume, too, whose template names its source."""
    text = issue_texts({"boot": {"data_source": "windows"}}, disk("DataSource", "windows", instancetype="large"))[0]
    assert "add preference.name, for example windows.11, or label" in text
    text = issue_texts({"boot": {"pvc": "rhel9"}}, disk("PersistentVolumeClaim", "rhel9", instancetype="large"))[0]
    assert "add preference.name, for example rhel.9, or label" in text


def test_suggested_instancetypes_suit_the_vm() -> None:
    """The VM's fields of CPUs and memory would go with an instancetype; its architecture would not."""
    arm = {**preference("arm"), "spec": {"requirements": {"architecture": "arm64"}}}
    options = {"boot": {"pvc": "d"}, "preference": {"name": "arm"}}
    for architecture, example in (("arm64", ", for example small, own "), ("amd64", ", or label the volume ")):
        with_architecture = {**options, "template": {"spec": {"architecture": architecture}}}
        assert (
            f"add instancetype.name{example}"
            in issue_texts(with_architecture, arm, disk("PersistentVolumeClaim", "d"))[0]
        )


def test_suggestions_respect_the_preference() -> None:
    text = issue_texts({"boot": {"pvc": "d"}, "preference": {"name": "fedora"}}, disk("PersistentVolumeClaim", "d"))[0]
    assert "for example own (kind VirtualMachineInstancetype) or large, or label" in text


def test_preference_requires_more_than_the_default_memory() -> None:
    text = issue_texts({"boot": {"container_disk": "x"}, "preference": {"name": "fedora"}})[0]
    assert "preference requires 2Gi" in text
    assert text.endswith("add instancetype.name, for example own (kind VirtualMachineInstancetype) or large")


def test_valid_vms_get_no_suggestion() -> None:
    labels = {"instancetype": "large", "preference": "fedora"}
    assert issue_texts({"boot": {"pvc": "d"}}, disk("PersistentVolumeClaim", "d", **labels)) == []
    auto = {"infer": "auto"}
    assert (
        issue_texts(
            {"boot": {"pvc": "d"}, "instancetype": auto, "preference": auto},
            disk("PersistentVolumeClaim", "d"),
        )
        == []
    )


def test_missing_disk() -> None:
    text = issue_texts({"boot": {"pvc": "gone"}})[0]
    assert text.endswith(
        'persistentvolumeclaims "gone" not found; create the PersistentVolumeClaim gone in the namespace shop first, '
        "or name another PersistentVolumeClaim"
    )
    # An instancetype would not bring it about.
    others = [disk("DataSource", name) for name in ("fedora", "rhel9", "centos")]
    text = issue_texts({"boot": {"data_source": "fedra"}}, *others)[0]
    assert text.endswith(
        "create the DataSource fedra in the namespace shop first, or name another DataSource, for example fedora"
    )
    text = issue_texts({"boot": {"data_source": "shop/x"}}, *others)[0]
    assert text.endswith("for example centos, fedora or rhel9")


@pytest.mark.parametrize("name", ["nothing-like-it", ""])
def test_without_similar_names_the_first_preferences_are_suggested(name: str) -> None:
    text = issue_texts({"boot": {"pvc": name or "x"}}, disk("PersistentVolumeClaim", name or "x"))[0]
    assert "add preference.name, for example fedora, rhel.9 or windows.11" in text


def test_invalid_vms_have_no_uninferred_fields() -> None:
    """Something else is wrong with these, and reported."""
    inferred = {"inferFromVolume": "root"}
    for spec in ({"instancetype": inferred, "runStrategy": 5, "template": {}}, {"instancetype": inferred}):
        assert (
            suggestions.uninferred_fields(
                {"metadata": {"name": "web"}, "spec": spec}, Cluster(Objects([]), KubeVirt(NEWEST))
            )
            == []
        )


def test_vm_without_template_suits_every_instancetype() -> None:
    spec = {"instancetype": {"name": "none"}, "template": None}
    best = suggestions.best_instancetypes(
        TYPES[:2], {"metadata": {}, "spec": spec}, None, Cluster(Objects([]), KubeVirt(NEWEST))
    )
    assert [manifest["metadata"]["name"] for manifest in best] == ["small", "large"]


def test_remedy_names_the_options_that_infer_otherwise() -> None:
    volume = {"name": "root", "containerDisk": {"image": "quay.io/containerdisks/fedora:latest"}}
    spec = {"instancetype": {"inferFromVolume": "root"}, "template": {"spec": {"domain": {}, "volumes": [volume]}}}
    vm = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "web"}, "spec": spec}
    cluster = Cluster(Objects([]), KubeVirt(NEWEST))

    def remedy(inferring: Inferring) -> str:
        return suggestions.matcher_remedy(suggestions.INSTANCETYPE, vm, cluster, lambda *_: [], inferring)

    label = "or label the volume instancetype.kubevirt.io/default-instancetype"
    assert remedy({}) == remedy({"look": lambda _vm, _volume: False}) == f"add instancetype.name, {label}"
    assert remedy({"look": lambda _vm, name: name == "root"}) == "add instancetype.name, or set look"
