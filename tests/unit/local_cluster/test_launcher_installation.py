"""The launcher installs a part of what the operators print."""

import base64
from typing import Any

import pytest

from local_cluster import installation

Manifest = dict[str, Any]

SERVICES = {"virt-api": 1234}


def _manifest(kind: str, name: str = "one", **more: Any) -> Manifest:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "creationTimestamp": None}, **more}


def _webhooks(*services: str) -> Manifest:
    clients = [{"clientConfig": {"service": {"name": name, "namespace": "kubevirt"}}} for name in services]
    return _manifest("ValidatingWebhookConfiguration", webhooks=clients)


def _names(manifests: list[Manifest]) -> list[tuple[str, str]]:
    return [(item["kind"], item["metadata"]["name"]) for item in manifests]


def test_base_installation_omits_operator_containers_and_authorities() -> None:
    printed = [
        _manifest(kind)
        for kind in ("Deployment", "DaemonSet", "ServiceMonitor", "Secret", "ConfigMap", "Service", "ClusterRole")
    ]
    result = installation.base(printed, installation.KUBEVIRT, "the CA", SERVICES)
    assert _names(result) == [
        ("ClusterRole", "one"),
        *(("ConfigMap", name) for name in ("kubevirt-ca", "kubevirt-export-ca", "kubevirt-backup-ca")),
        ("ConfigMap", "kubevirt-external-ca"),
        ("Service", "virt-api"),
    ]
    assert {item["data"]["ca-bundle"] for item in result if item["kind"] == "ConfigMap"} == {"the CA"}
    # kube-apiserver refuses endpoints on loopback addresses, not names.
    assert result[-1]["spec"] == {
        "type": "ExternalName",
        "externalName": "localhost",
        "ports": [{"name": "https", "port": 1234}],
    }


def test_cdi_has_authorities_for_uploads() -> None:
    result = installation.base([], installation.CDI, "the CA", {})
    assert [item["data"] for item in result] == [{"ca-bundle.crt": "the CA"}] * 2


def test_crds_are_installed_without_status() -> None:
    printed = [_manifest("CustomResourceDefinition", status={"conditions": None}), _manifest("ClusterRole")]
    result = installation.kinds(printed)
    assert result == [{"apiVersion": "v1", "kind": "CustomResourceDefinition", "metadata": {"name": "one"}}]
    assert "status" in printed[0]


def test_registrations_point_to_local_ports() -> None:
    api = _manifest("APIService", spec={"service": {"name": "virt-api", "namespace": "kubevirt"}})
    result = installation.registrations([_webhooks("virt-api"), api], "the CA", SERVICES)
    bundle = base64.b64encode(b"the CA").decode()
    webhooks, service = result
    assert webhooks["webhooks"][0]["clientConfig"]["service"]["port"] == 1234
    assert webhooks["webhooks"][0]["clientConfig"]["caBundle"] == service["spec"]["caBundle"] == bundle
    assert service["spec"]["service"]["port"] == 1234
    assert [item["apiVersion"] for item in result] == ["admissionregistration.k8s.io/v1", "apiregistration.k8s.io/v1"]


@pytest.mark.parametrize("services", [("virt-operator",), ("virt-api", "virt-operator")])
def test_webhooks_of_absent_servers_are_left_out(services: tuple[str, ...]) -> None:
    assert installation.registrations([_webhooks(*services)], "the CA", SERVICES) == []


def test_the_catalog_is_labelled_as_the_operator_s() -> None:
    result = installation.catalog([_manifest("VirtualMachineClusterPreference"), _manifest("ClusterRole")])
    assert _names(result) == [("VirtualMachineClusterPreference", "one")]
    assert result[0]["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "virt-operator"


def test_kubevirt_is_reported_as_deployed() -> None:
    status = installation.kubevirt_status("1.9.0", 3, "now")
    assert (status["phase"], status["observedKubeVirtVersion"], status["observedGeneration"]) == (
        "Deployed",
        "v1.9.0",
        3,
    )
    assert {entry["type"]: entry["status"] for entry in status["conditions"]} == {
        "Available": "True",
        "Progressing": "False",
        "Degraded": "False",
        "Created": "True",
    }


def test_default_storage_class_has_profile_and_snapshots() -> None:
    storage_class, _driver, snapshot_class, profile = installation.storage()
    assert snapshot_class["driver"] == storage_class["provisioner"]
    assert storage_class["metadata"]["annotations"]["storageclass.kubernetes.io/is-default-class"] == "true"
    assert profile["metadata"]["name"] == storage_class["metadata"]["name"]
    assert profile["spec"]["claimPropertySets"]


def test_upload_proxy_address_is_on_loopback() -> None:
    cdi, config = installation.cdi_objects(4321, "the CA")
    assert cdi["spec"]["config"] == config["spec"] == {"uploadProxyURLOverride": "https://127.0.0.1:4321"}
    assert config["status"] == {"uploadProxyCA": "the CA"}
