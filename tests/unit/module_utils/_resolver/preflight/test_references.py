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


def test_created_and_optional_objects_may_be_missing() -> None:
    disk, claim = {"name": "a", "dataVolume": {"name": "x"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "x"}}
    optional = {"name": "c", "configMap": {"name": "m", "optional": True}}
    assert list(references(vm("x", volumes=[disk, claim, optional]))) == []


def test_the_claim_of_a_data_volume_is_enough() -> None:
    assert list(missing_references(volume(dataVolume={"name": "x"}), existing("PersistentVolumeClaim", "x"))) == []


def test_keys_for_start() -> None:
    keys = keys_for_start(vm(volumes=[{"name": "a", "dataVolume": {"name": "x"}}], priorityClassName="high"))
    assert [tuple(key)[:4] for key in keys] == [
        ("DataVolume", "shop", "x", "shop"),
        ("PersistentVolumeClaim", "shop", "x", "shop"),
        ("PriorityClass", "", "high", "shop"),
    ]


def test_unreadable_objects_count_as_existing() -> None:
    class Closed:
        def get(self, kind: str, namespace: str, name: str) -> Problem:
            return Problem(f"{kind} is forbidden", "Forbidden", 403)

    assert list(missing_references(volume(configMap={"name": "x"}), Closed())) == []


def test_secrets_are_not_looked_up() -> None:
    key = {"sshPublicKey": {"source": {"secret": {"secretName": "keys"}}}}
    volumes = [
        {"name": "a", "cloudInitNoCloud": {"secretRef": {"name": "x"}}},
        {"name": "b", "secret": {"secretName": "x"}},
    ]
    assert list(references(vm(volumes=volumes, accessCredentials=[key]))) == []
