"""What a cluster with KubeVirt and CDI contains beside them, as objects: pure functions.

The operators of both say what they install (see `build`); of that, a cluster on one machine takes everything but the
containers. The rest is what their administrators would create: the KubeVirt and CDI objects, a StorageClass, kinds of
other projects that both look for.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

Manifest = dict[str, Any]

KUBEVIRT = "kubevirt"
"""The namespace of KubeVirt."""
CDI = "cdi"
"""The namespace of CDI."""
STORAGE_CLASS = "local"
PROVISIONER = "local.instancetypes.virtshape.io"
"""The provisioner, which the node simulates."""
_SNAPSHOTS = "snapshot.storage.k8s.io"
_CONTAINERS = {"DaemonSet", "Deployment", "PrometheusRule", "Route", "SecurityContextConstraints", "ServiceMonitor"}
"""Kinds that only make sense where containers run, or on OpenShift."""
_AUTHORITIES = {"Secret", "ConfigMap"}
"""Kinds of the operators' certificates; the launcher makes its own."""
_CATALOG = {"VirtualMachineClusterInstancetype", "VirtualMachineClusterPreference"}
_OPERATED = {"app.kubernetes.io/component": "kubevirt", "app.kubernetes.io/managed-by": "virt-operator"}
_REGISTRATIONS = {
    "APIService",
    "MutatingWebhookConfiguration",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
}
_BUNDLES: dict[str, dict[str, tuple[str, ...]]] = {
    KUBEVIRT: {"ca-bundle": ("kubevirt-ca", "kubevirt-export-ca", "kubevirt-backup-ca", "kubevirt-external-ca")},
    CDI: {"ca-bundle.crt": ("cdi-uploadserver-signer-bundle", "cdi-uploadserver-client-signer-bundle")},
}
"""Namespace → key → the ConfigMaps that have the authority's certificate under the key."""


def kinds(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The CustomResourceDefinitions of manifests."""
    return [_clean(item) for item in manifests if item["kind"] == "CustomResourceDefinition"]


def base(manifests: Iterable[Manifest], namespace: str, ca: str, services: dict[str, int]) -> list[Manifest]:
    """Accounts, roles, Services and authorities: what must be there before the programs start.

    ca: the certificate of the authority, PEM. services: name → port on this machine.
    """
    skipped = {"CustomResourceDefinition", "Service", *_CONTAINERS, *_AUTHORITIES, *_CATALOG, *_REGISTRATIONS}
    accounts = [_clean(item) for item in manifests if item["kind"] not in skipped]
    bundles = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": {key: ca}}
        for key, names in _BUNDLES[namespace].items()
        for name in names
    ]
    return [*accounts, *bundles, *(_service(name, namespace, port) for name, port in services.items())]


def registrations(manifests: Iterable[Manifest], ca: str, services: dict[str, int]) -> list[Manifest]:
    """Webhooks, aggregated APIs and admission policies whose server runs."""
    bundle = base64.b64encode(ca.encode()).decode()
    items = []
    for manifest in manifests:
        if manifest["kind"] not in _REGISTRATIONS or "virt-template" in manifest["metadata"]["name"]:
            continue
        item = _clean(manifest)
        # virt-operator prints some without the group.
        group = "apiregistration" if item["kind"] == "APIService" else "admissionregistration"
        item["apiVersion"] = f"{group}.k8s.io/v1"
        clients = [webhook["clientConfig"] for webhook in item.get("webhooks", ())]
        if item["kind"] == "APIService":
            clients = [item["spec"]]
        if any(client["service"]["name"] not in services for client in clients):
            continue  # of a server that does not run here
        for client in clients:
            client["caBundle"] = bundle
            client["service"]["port"] = services[client["service"]["name"]]
        items.append(item)
    return items


def catalog(manifests: Iterable[Manifest]) -> list[Manifest]:
    """The common instancetypes and preferences of the release, with the labels by which virt-operator finds them."""
    objects = [_clean(item) for item in manifests if item["kind"] in _CATALOG]
    for item in objects:
        item["metadata"].setdefault("labels", {}).update(_OPERATED)
    return objects


def namespace(name: str) -> Manifest:
    """A namespace of KubeVirt or CDI."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {f"{name}.io": ""}}}


def _service(name: str, namespace: str, port: int) -> Manifest:
    """A Service that leads to a port of this machine: kube-apiserver accepts loopback addresses by name only."""
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": [{"name": "https", "port": port}]}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def kubevirt_object() -> Manifest:
    """The KubeVirt object: the configuration of a cluster without KVM.

    Before 1.7, virt-api reads the instancetypes of VMs with the client that is limited to five requests per second.
    Without LiveMigrate, nobody starts the migration with which CPUs and memory reach a running guest.
    """
    limits = {"tokenBucketRateLimiter": {"qps": 200, "burst": 400}}
    configuration = {
        "developerConfiguration": {"useEmulation": True},
        "apiConfiguration": {"restClient": {"rateLimiter": limits}},
    }
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": "KubeVirt",
        "metadata": {"name": "kubevirt", "namespace": KUBEVIRT},
        "spec": {
            "configuration": configuration,
            "workloadUpdateStrategy": {"workloadUpdateMethods": ["LiveMigrate"]},
        },
    }


def kubevirt_status(release: str, generation: int, now: str) -> Manifest:
    """What virt-operator reports when all runs.

    release: such as 1.9.0. generation: of the KubeVirt object. now: in RFC 3339.
    """
    tag, registry = f"v{release}", "quay.io/kubevirt"
    return {
        "phase": "Deployed",
        "defaultArchitecture": "amd64",
        "observedGeneration": generation,
        **dict.fromkeys(("observedKubeVirtVersion", "operatorVersion", "targetKubeVirtVersion"), tag),
        **dict.fromkeys(("observedKubeVirtRegistry", "targetKubeVirtRegistry"), registry),
        "conditions": _conditions("AllComponentsReady", now, Created="AllResourcesCreated"),
    }


def cdi_objects(upload_port: int, ca: str) -> list[Manifest]:
    """The CDI object, and its configuration, which CDI's operator would copy.

    upload_port: of the upload proxy. ca: the certificate of its authority, PEM. CDI finds that out only where an
    Ingress or a Route leads to the proxy, and otherwise leaves the status as it is.
    """
    settings, status = {"uploadProxyURLOverride": f"https://127.0.0.1:{upload_port}"}, {"uploadProxyCA": ca}
    cdi = {"apiVersion": "cdi.kubevirt.io/v1beta1", "metadata": {"name": "cdi"}}
    return [
        {**cdi, "kind": "CDI", "spec": {"config": settings}},
        {**cdi, "kind": "CDIConfig", "metadata": {"name": "config"}, "spec": settings, "status": status},
    ]


def cdi_status(now: str) -> Manifest:
    """What CDI's operator reports when all runs. now: in RFC 3339."""
    return {"phase": "Deployed", "conditions": _conditions("DeployCompleted", now)}


def _conditions(reason: str, now: str, **more: str) -> list[Manifest]:
    states = {"Available": "True", "Progressing": "False", "Degraded": "False", **dict.fromkeys(more, "True")}
    return [
        {
            "type": name,
            "status": state,
            "reason": more.get(name, reason),
            "message": "",
            "lastProbeTime": None,
            "lastTransitionTime": now,
            "lastHeartbeatTime": now,
        }
        for name, state in states.items()
    ]


def storage() -> list[Manifest]:
    """The default StorageClass, the class of its snapshots, and its profile: what CDI cannot know of a provisioner that
    it has never heard of.
    """
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": STORAGE_CLASS, "annotations": default},
            "provisioner": PROVISIONER,
            "allowVolumeExpansion": True,
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "CSIDriver",
            "metadata": {"name": PROVISIONER},
            "spec": {"attachRequired": False},
        },
        {
            "apiVersion": f"{_SNAPSHOTS}/v1",
            "kind": "VolumeSnapshotClass",
            "metadata": {"name": STORAGE_CLASS},
            "driver": PROVISIONER,
            "deletionPolicy": "Delete",
        },
        {
            "apiVersion": "cdi.kubevirt.io/v1beta1",
            "kind": "StorageProfile",
            "metadata": {"name": STORAGE_CLASS},
            "spec": {
                "cloneStrategy": "csi-clone",
                "claimPropertySets": [
                    {"accessModes": ["ReadWriteMany"], "volumeMode": "Block"},
                    {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block"},
                    {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"},
                ],
            },
        },
    ]


def foreign_kinds() -> list[Manifest]:
    """Kinds of other projects that KubeVirt and CDI look for, without a schema."""
    return [
        _crd(_SNAPSHOTS, "VolumeSnapshot", "volumesnapshots"),
        _crd(_SNAPSHOTS, "VolumeSnapshotClass", "volumesnapshotclasses", scope="Cluster", status=False),
        _crd(_SNAPSHOTS, "VolumeSnapshotContent", "volumesnapshotcontents", scope="Cluster"),
        _crd("k8s.cni.cncf.io", "NetworkAttachmentDefinition", "network-attachment-definitions", status=False),
    ]


def _crd(group: str, kind: str, plural: str, *, scope: str = "Namespaced", status: bool = True) -> Manifest:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version: Manifest = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if status:
        version["subresources"] = {"status": {}}
    metadata: Manifest = {"name": f"{plural}.{group}"}
    if group.endswith("k8s.io"):
        metadata["annotations"] = {"api-approved.kubernetes.io": "unapproved, without a schema"}
    names = {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": {"group": group, "scope": scope, "names": names, "versions": [version]},
    }


def _clean(manifest: Manifest) -> Manifest:
    """A copy as the API server takes it: without status, and without the empty times that Go prints."""
    cleaned: Manifest = _without_times(manifest)
    cleaned.pop("status", None)
    return cleaned


def _without_times(item: Any) -> Any:
    if isinstance(item, dict):
        return {
            key: _without_times(value)
            for key, value in item.items()
            if not (key == "creationTimestamp" and value is None)
        }
    return [_without_times(value) for value in item] if isinstance(item, list) else item
