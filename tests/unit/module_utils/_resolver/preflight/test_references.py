"""Objects that must exist before the guest of a VM starts."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api.errors import KubeVirtError
from plugins.module_utils._resolver.kubevirt.instancetype.lookup import Objects
from plugins.module_utils._resolver.preflight.references import (
    keys_for_start,
    missing_references,
    missing_sources,
    references,
    secrets,
    sole_owner,
)

NOTHING = Objects([])


def vm(*created: str, **spec: Any) -> dict[str, Any]:
    templates = [{"metadata": {"name": name}} for name in created]
    metadata = {"name": "web", "namespace": "shop"}
    return {"metadata": metadata, "spec": {"dataVolumeTemplates": templates, "template": {"spec": spec}}}


def volume(**source: Any) -> dict[str, Any]:
    return vm(volumes=[{"name": "one", **source}])


def existing(kind: str, name: str, namespace: str = "shop") -> Objects:
    return Objects([{"kind": kind, "metadata": {"name": name, "namespace": namespace}}])


@pytest.mark.parametrize(
    ("manifest", "path", "kind"),
    [
        (volume(persistentVolumeClaim={"claimName": "x"}), "persistentVolumeClaim.claimName", "PersistentVolumeClaim"),
        (
            volume(ephemeral={"persistentVolumeClaim": {"claimName": "x"}}),
            "ephemeral.persistentVolumeClaim.claimName",
            "PersistentVolumeClaim",
        ),
        (volume(dataVolume={"name": "x"}), "dataVolume.name", "DataVolume"),
        (volume(configMap={"name": "x"}), "configMap.name", "ConfigMap"),
        (volume(serviceAccount={"serviceAccountName": "x"}), "serviceAccount.serviceAccountName", "ServiceAccount"),
        (volume(sysprep={"configMap": {"name": "x"}}), "sysprep.configMap.name", "ConfigMap"),
    ],
)
def test_missing_object_of_a_volume(manifest: dict[str, Any], path: str, kind: str) -> None:
    message = f"spec.template.spec.volumes[0].{path}: no {kind} x in the namespace shop; create it before the VM starts"
    assert list(missing_references(manifest, NOTHING)) == [message]
    assert list(missing_references(manifest, existing(kind, "x"))) == []
    assert list(missing_references(manifest, existing(kind, "x", "lab"))) == [message]


def test_missing_networks_and_priority_classes() -> None:
    networks = [{"name": "pod", "pod": {}}, {"name": "a", "multus": {"networkName": "red"}}]
    networks.append({"name": "b", "multus": {"networkName": "lab/blue"}})
    actual = references(vm(networks=networks, priorityClassName="high"))
    network = ("NetworkAttachmentDefinition",)
    assert [tuple(reference) for reference in actual] == [
        ("spec.template.spec.networks[1].multus.networkName", network, "shop", "red"),
        ("spec.template.spec.networks[2].multus.networkName", network, "lab", "blue"),
        ("spec.template.spec.priorityClassName", ("PriorityClass",), "", "high"),
    ]
    assert list(missing_references(vm(priorityClassName="high"), NOTHING)) == [
        "spec.template.spec.priorityClassName: no PriorityClass high; create it before the VM starts"
    ]


@pytest.mark.parametrize("field", ["storage", "pvc"])
def test_missing_storage_classes_of_new_disks(field: str) -> None:
    templates = [
        {"metadata": {"name": "static"}, "spec": {field: {"storageClassName": ""}}},
        {"metadata": {"name": "data"}, "spec": {field: {"storageClassName": "gone"}}},
    ]
    machine = {**vm(), "spec": {"dataVolumeTemplates": templates, "template": {"spec": {}}}}
    path = f"spec.dataVolumeTemplates[1].spec.{field}.storageClassName"
    message = f"{path}: no StorageClass gone; create it before the VM starts"
    assert list(missing_references(machine, NOTHING)) == [message]
    assert list(missing_references(machine, existing("StorageClass", "gone", ""))) == []
    near = existing("StorageClass", "gome", "")
    (line,) = missing_references(machine, near, None, lambda kind, namespace: [{"metadata": {"name": "gone1"}}])
    assert line == f"{path}: no StorageClass gone; did you mean gone1?"
    # The disk of a live VM exists, or has been reported.
    assert list(missing_references(machine, NOTHING, machine)) == []
    assert [needed.key for needed in keys_for_start(machine)] == [("StorageClass", "", "gone")]


def test_created_and_optional_objects_may_be_missing() -> None:
    disk, claim = {"name": "a", "dataVolume": {"name": "x"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "x"}}
    optional = {"name": "c", "configMap": {"name": "m", "optional": True}}
    assert list(references(vm("x", volumes=[disk, claim, optional]))) == []


def test_the_claim_of_a_data_volume_is_enough() -> None:
    assert list(missing_references(volume(dataVolume={"name": "x"}), existing("PersistentVolumeClaim", "x"))) == []


def test_keys_for_start() -> None:
    keys = keys_for_start(vm(volumes=[{"name": "a", "dataVolume": {"name": "x"}}], priorityClassName="high"))
    assert [needed.key for needed in keys] == [
        ("DataVolume", "shop", "x"),
        ("PersistentVolumeClaim", "shop", "x"),
        ("PriorityClass", "", "high"),
    ]


def test_keys_for_start_name_sources_of_new_disks() -> None:
    template = {"metadata": {"name": "root"}, "spec": {"source": {"pvc": {"name": "x", "namespace": "golden"}}}}
    machine = {**vm(), "spec": {"dataVolumeTemplates": [template], "template": {"spec": {}}}}
    assert [needed[:2] for needed in keys_for_start(machine)] == [(("PersistentVolumeClaim", "golden", "x"), "shop")]
    assert keys_for_start(machine, machine) == []
    template["spec"] = "blank"
    assert keys_for_start(machine) == []


def test_unreadable_objects_count_as_existing() -> None:
    class Closed:
        def get(self, kind: str, namespace: str, name: str) -> dict[str, Any]:
            raise KubeVirtError(f"{kind} is forbidden", "Forbidden", 403)

    assert list(missing_references(volume(configMap={"name": "x"}), Closed())) == []


def test_secrets_are_not_looked_up() -> None:
    key = {"sshPublicKey": {"source": {"secret": {"secretName": "keys"}}}}
    volumes = [
        {"name": "a", "cloudInitNoCloud": {"secretRef": {"name": "x"}}},
        {"name": "b", "secret": {"secretName": "x"}},
    ]
    assert list(references(vm(volumes=volumes, accessCredentials=[key]))) == []


# The claims that a VM uses, and those that outlive it.


@pytest.mark.parametrize(("owners", "only"), [(["1"], "1"), (["1", "2"], ""), ([], "")])
def test_sole_owner(owners: list[str], only: str) -> None:
    manifest: dict[str, Any] = {"metadata": {"ownerReferences": [{"uid": uid} for uid in owners]}}
    assert sole_owner(manifest) == only


# Imports whose source does not exist.


class Cluster:
    """One DataSource in images, one claim in shop; snapshots may not be read."""

    there = (("DataSource", "images", "fedora"), ("PersistentVolumeClaim", "shop", "disk"))

    def get(self, kind: str, namespace: str, name: str) -> Any:
        if kind == "VolumeSnapshot":
            raise KubeVirtError("volumesnapshots is forbidden", "Forbidden", 403)
        return {} if (kind, namespace, name) in self.there else None

    def list(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        return [{"metadata": {"name": place[2]}} for place in self.there if place[:2] == (kind, namespace)]


def sources_vm(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"name": "web-boot"}, "spec": spec}
    return {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"dataVolumeTemplates": [template]}}


def source(name: str, **more: str) -> dict[str, Any]:
    return sources_vm(sourceRef={"kind": "DataSource", "name": name, **more})


def missing_lines(manifest: dict[str, Any], live: dict[str, Any] | None = None) -> list[str]:
    cluster = Cluster()
    return list(missing_sources(manifest, live, cluster, cluster.list))


PATH = "spec.dataVolumeTemplates[0].spec"


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (
            source("fedora"),
            f"{PATH}.sourceRef.name: no DataSource fedora in the namespace shop; create the object first, "
            "or name an existing object",
        ),
        (
            source("fedor", namespace="images"),
            f"{PATH}.sourceRef.name: no DataSource fedor in the namespace images; did you mean fedora?",
        ),
        (
            sources_vm(source={"pvc": {"name": "dis", "namespace": "shop"}}),
            f"{PATH}.source.pvc.name: no PersistentVolumeClaim dis in the namespace shop; did you mean disk?",
        ),
    ],
)
def test_missing_sources(manifest: dict[str, Any], message: str) -> None:
    assert missing_lines(manifest) == [message]


@pytest.mark.parametrize(
    "manifest",
    [
        source("fedora", namespace="images"),
        sources_vm(source={"pvc": {"name": "disk"}}),
        sources_vm(source={"snapshot": {"name": "s", "namespace": "shop"}}),
        sources_vm(source={"http": {"url": "https://x/y"}}),
        sources_vm(source={"blank": {}}),
        sources_vm(sourceRef={"kind": "DataSource"}),
        {"metadata": {"name": "web"}, "spec": {}},
    ],
)
def test_existing_sources(manifest: dict[str, Any]) -> None:
    assert missing_lines(manifest) == []


def test_copied_sources_may_be_missing() -> None:
    assert missing_lines(source("fedora"), live=source("fedora")) == []


def test_secrets_of_disks_and_logins() -> None:
    volumes: list[dict[str, Any]] = [
        {"name": "a", "secret": {"secretName": "s1"}},
        {"name": "b", "secret": {"secretName": "left", "optional": True}},
        {"name": "c", "sysprep": {"secret": {"name": "s2"}}},
        {"name": "d", "cloudInitConfigDrive": {"secretRef": {"name": "s3"}, "networkDataSecretRef": {"name": "s4"}}},
        {"name": "e", "containerDisk": {"image": "a", "imagePullSecret": "s5"}},
    ]
    credentials = [{"sshPublicKey": {"source": {"secret": {"secretName": "s6"}}}}, {"userPassword": {}}]
    machine = vm(volumes=volumes, accessCredentials=credentials)
    machine["spec"]["dataVolumeTemplates"] = [
        {"spec": {"source": {"http": {"url": "u", "secretRef": "s7"}, "blank": None}}},
        {"spec": {"sourceRef": {"kind": "DataSource", "name": "x"}}},
    ]
    found = list(secrets(machine))
    assert [reference.name for reference in found] == [f"s{number}" for number in range(1, 8)]
    assert {(reference.kinds, reference.namespace) for reference in found} == {(("Secret",), "shop")}
    assert (found[3].path, found[5].path, found[6].path) == (
        "spec.template.spec.volumes[3].cloudInitConfigDrive.networkDataSecretRef.name",
        "spec.template.spec.accessCredentials[0].sshPublicKey.source.secret.secretName",
        "spec.dataVolumeTemplates[0].spec.source.http.secretRef",
    )
