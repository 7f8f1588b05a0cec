"""The check's findings about objects that VMs need and no file declares."""

from collections.abc import Callable
from typing import Any

import pytest
from checked_files import vm

Check = Callable[..., tuple[int, list[str]]]

NETWORK = {"name": "lan", "multus": {"networkName": "blue"}}


def needy(name: str = "web") -> dict[str, Any]:
    template = {
        "domain": {"devices": {"interfaces": [{"name": "lan", "bridge": {}}]}, "memory": {"guest": "1Gi"}},
        "networks": [NETWORK],
        "priorityClassName": "system-node-critical",
        "volumes": [
            {"name": "root", "persistentVolumeClaim": {"claimName": "root"}},
            {"name": "init", "cloudInitNoCloud": {"secretRef": {"name": "login"}}},
            {"name": "data", "dataVolume": {"name": f"{name}-data"}},
            {"name": "user", "serviceAccount": {"serviceAccountName": "default"}},
        ],
    }
    disk = {
        "metadata": {"name": f"{name}-data"},
        "spec": {"sourceRef": {"kind": "DataSource", "name": "fedora", "namespace": "golden"}, "storage": {}},
    }
    return vm(name, template=template, dataVolumeTemplates=[disk])


def declared(kind: str, name: str, namespace: str = "shop", **content: Any) -> dict[str, Any]:
    group = {
        "NetworkAttachmentDefinition": "k8s.cni.cncf.io/v1",
        "SealedSecret": "bitnami.com/v1alpha1",
        "ExternalSecret": "external-secrets.io/v1",
        "Secret": "v1",
        "PersistentVolumeClaim": "v1",
    }.get(kind, "cdi.kubevirt.io/v1beta1")
    return {"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **content}


def notes(lines: list[str]) -> list[str]:
    return [line.partition(": the ")[2].removesuffix(" [must-exist]") for line in lines if "must-exist" in line]


def test_each_missing_object_is_listed_once(check: Check) -> None:
    code, lines = check({"a.yml": [needy("a"), needy("b"), needy("c")], "d.yml": vm("d", template={"networks": []})})
    assert code == 0, lines
    more = "; 2 other VMs need it, too"
    assert notes(lines) == [
        f"DataSource golden/fedora must exist on the cluster{more}",
        f"NetworkAttachmentDefinition shop/blue must exist on the cluster{more}",
        f"PersistentVolumeClaim shop/root must exist on the cluster{more}",
        f"Secret shop/login must exist on the cluster{more}",
    ]


@pytest.mark.parametrize(
    "objects",
    [
        [
            declared("PersistentVolumeClaim", "root"),
            declared("NetworkAttachmentDefinition", "blue"),
            declared("Secret", "login"),
            declared("DataSource", "fedora", "golden", spec={"source": {}}),
        ],
        # Other objects turn into these.
        [
            declared("DataVolume", "root", spec={"source": {"blank": {}}}),
            declared("NetworkAttachmentDefinition", "blue"),
            declared("SealedSecret", "login"),
            declared("DataImportCron", "fedora-cron", "golden", spec={"managedDataSource": "fedora"}),
        ],
        [
            vm("other", dataVolumeTemplates=[{"metadata": {"name": "root"}, "spec": {"source": {"blank": {}}}}]),
            declared("NetworkAttachmentDefinition", "blue"),
            declared("ExternalSecret", "vault", spec={"target": {"name": "login"}}),
            declared("DataSource", "fedora", "golden", spec={"source": {}}),
        ],
    ],
)
def test_declared_objects_need_not_exist_yet(check: Check, objects: list[dict[str, Any]]) -> None:
    assert notes(check({"vm.yml": needy(), "objects.yml": objects})[1]) == []


def test_a_list_without_names_declares_nothing(check: Check) -> None:
    nameless: dict[str, Any] = {"apiVersion": "v1", "kind": "Secret", "metadata": None}
    assert len(notes(check({"vm.yml": needy(), "secret.yml": nameless})[1])) == 4


def test_broken_vms_need_nothing(check: Check) -> None:
    broken = needy()
    broken["spec"]["dataVolumeTemplates"] = ["odd"]
    code, lines = check({"vm.yml": broken})
    assert code == 1 and notes(lines) == []


def test_one_note_says_that_contents_count(check: Check) -> None:
    plain = vm("a", template={"volumes": [{"name": "root", "persistentVolumeClaim": {"claimName": "disk"}}]})
    inferring = vm("b", template=plain["spec"]["template"]["spec"], instancetype={"inferFromVolume": "root"})
    inferring["spec"]["template"]["spec"]["domain"].pop("memory")
    assert notes(check({"vm.yml": [plain, inferring]})[1]) == [
        "PersistentVolumeClaim shop/disk must exist on the cluster; pass its manifest with --objects to check what VMs"
        " get from it; 1 other VM needs it, too"
    ]
