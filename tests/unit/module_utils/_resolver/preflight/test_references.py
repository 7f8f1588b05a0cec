"""What must exist beside a VM before its guest starts."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.find.lookup import (
    Objects,
    Problem,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.references import (
    keys_for_start,
    missing_references,
    references,
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
def test_an_object_of_a_volume(manifest: dict[str, Any], path: str, kind: str) -> None:
    told = f"spec.template.spec.volumes[0].{path}: no {kind} x in the namespace shop; create it before the VM starts"
    assert list(missing_references(manifest, NOTHING)) == [told]
    assert list(missing_references(manifest, existing(kind, "x"))) == []
    assert list(missing_references(manifest, existing(kind, "x", "lab"))) == [told]


def test_objects_beside_the_volumes() -> None:
    networks = [{"name": "pod", "pod": {}}, {"name": "a", "multus": {"networkName": "red"}}]
    networks.append({"name": "b", "multus": {"networkName": "lab/blue"}})
    found = references(vm(networks=networks, priorityClassName="high"))
    network = ("NetworkAttachmentDefinition",)
    assert [tuple(one) for one in found] == [
        ("spec.template.spec.networks[1].multus.networkName", network, "shop", "red"),
        ("spec.template.spec.networks[2].multus.networkName", network, "lab", "blue"),
        ("spec.template.spec.priorityClassName", ("PriorityClass",), "", "high"),
    ]
    assert list(missing_references(vm(priorityClassName="high"), NOTHING)) == [
        "spec.template.spec.priorityClassName: no PriorityClass high; create it before the VM starts"
    ]


def test_what_the_vm_creates_or_may_lack_needs_not_exist() -> None:
    disk, claim = {"name": "a", "dataVolume": {"name": "x"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "x"}}
    optional = {"name": "c", "configMap": {"name": "m", "optional": True}}
    assert list(references(vm("x", volumes=[disk, claim, optional]))) == []


def test_the_claim_of_a_data_volume_is_enough() -> None:
    assert list(missing_references(volume(dataVolume={"name": "x"}), existing("PersistentVolumeClaim", "x"))) == []


def test_what_is_read_beforehand() -> None:
    wanted = keys_for_start(vm(volumes=[{"name": "a", "dataVolume": {"name": "x"}}], priorityClassName="high"))
    assert [tuple(key)[:4] for key in wanted] == [
        ("DataVolume", "shop", "x", "shop"),
        ("PersistentVolumeClaim", "shop", "x", "shop"),
        ("PriorityClass", "", "high", "shop"),
    ]


def test_what_may_not_be_read_may_exist() -> None:
    class Closed:
        def get(self, kind: str, namespace: str, name: str) -> Problem:
            return Problem(f"{kind} is forbidden", "Forbidden", 403)

    assert list(missing_references(volume(configMap={"name": "x"}), Closed())) == []


def test_secrets_are_not_looked_for() -> None:
    key = {"sshPublicKey": {"source": {"secret": {"secretName": "keys"}}}}
    volumes = [
        {"name": "a", "cloudInitNoCloud": {"secretRef": {"name": "x"}}},
        {"name": "b", "secret": {"secretName": "x"}},
    ]
    assert list(references(vm(volumes=volumes, accessCredentials=[key]))) == []
