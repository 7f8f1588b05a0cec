"""The features, among those that tests need, of the cluster that KUBECONFIG names."""

from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from kubernetes import client, config

FEATURES = {
    "administrator": "a user who may do everything",
    "storage": "a default StorageClass",
    "cdi": "the CRDs of CDI",
    "cdi_here": "a CDI that reaches the loopback addresses of this machine",
    "snapshots": "a VolumeSnapshotClass",
    "networks": "the CRD of NetworkAttachmentDefinitions",
    "templates": "the CRDs of VirtualMachineTemplates, v1beta1",
    "catalog": "common-instancetypes v1.7.0",
}
"""Name → what it is, in words that go after "the cluster lacks"."""

_CATALOG_LABEL = "instancetype.kubevirt.io/common-instancetypes-version"
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Given(NamedTuple):
    """release: the release of KubeVirt (``1.9.0``), "" if it is not known. has: names of FEATURES."""

    release: str
    has: frozenset[str]


def look(kubeconfig: Path) -> Given:
    """Reads what the cluster has. An object that may not be read counts as absent; nothing is written."""
    with config.new_client_from_config(str(kubeconfig)) as connection:
        served = client.ApisApi(connection).get_api_versions().groups
        groups = {group.name for group in served}
        versions = {version.group_version for group in served for version in group.versions}
        has = {
            "administrator": _may_do_everything(connection),
            "storage": bool(_default_classes(connection)),
            "cdi": "cdi.kubevirt.io" in groups,
            "cdi_here": any(map(_is_here, _listed(connection, "cdi.kubevirt.io", "v1beta1", "cdis"))),
            "snapshots": bool(_listed(connection, "snapshot.storage.k8s.io", "v1", "volumesnapshotclasses")),
            "networks": "k8s.cni.cncf.io" in groups,
            "templates": "template.kubevirt.io/v1beta1" in versions,
            "catalog": _catalog_versions(connection) == {"v1.7.0"},
        }
        return Given(_release(connection), frozenset(name for name, there in has.items() if there))


def _is_here(cdi: dict[str, Any]) -> bool:
    """Whether uploads to a CDI go to this machine."""
    uploads = (cdi["spec"].get("config") or {}).get("uploadProxyURLOverride")
    return urlsplit(uploads or "").hostname in ("127.0.0.1", "localhost")


def _may_do_everything(connection: Any) -> bool:
    review = {"spec": {"resourceAttributes": {"verb": "*", "group": "*", "resource": "*"}}}
    return bool(client.AuthorizationV1Api(connection).create_self_subject_access_review(review).status.allowed)


def _default_classes(connection: Any) -> list[str]:
    try:
        classes = client.StorageV1Api(connection).list_storage_class().items
    except client.ApiException:
        return []
    return [item.metadata.name for item in classes if (item.metadata.annotations or {}).get(_DEFAULT_CLASS) == "true"]


def _catalog_versions(connection: Any) -> set[str]:
    result = _listed(connection, "instancetype.kubevirt.io", "v1beta1", "virtualmachineclusterinstancetypes")
    versions = {(item["metadata"].get("labels") or {}).get(_CATALOG_LABEL) for item in result}
    return {version for version in versions if version}


def _release(connection: Any) -> str:
    result = _listed(connection, "kubevirt.io", "v1", "kubevirts")
    version = (result[0].get("status") or {}).get("observedKubeVirtVersion") if result else None
    return str(version or "").removeprefix("v")


def _listed(connection: Any, group: str, version: str, plural: str) -> list[dict[str, Any]]:
    try:
        answer = client.CustomObjectsApi(connection).list_cluster_custom_object(group, version, plural)
    except client.ApiException:
        return []
    result: list[dict[str, Any]] = answer["items"]
    return result
