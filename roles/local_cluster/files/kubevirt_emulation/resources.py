"""The API paths of the kinds that the emulation reads or writes."""

from __future__ import annotations

from typing import NamedTuple

from kubevirt_emulation import openapi


class Resource(NamedTuple):
    """A kind and its API group; "" is the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The path of a list (of a namespace or of all), an object or a subresource."""
        path = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if namespace and self.namespaced:
            path += f"/namespaces/{namespace}"
        path += f"/{self.plural}"
        if name:
            path += f"/{name}"
        return f"{path}/{subresource}" if subresource else path


CUSTOM = {
    entry.kind: Resource(entry.group, entry.version, entry.kind, entry.plural, entry.namespaced)
    for entry in openapi.resources()
}
_BUILT_IN = [
    Resource("", "v1", "Namespace", "namespaces", False),
    Resource("", "v1", "Service", "services", True),
    Resource("", "v1", "ServiceAccount", "serviceaccounts", True),
    Resource("", "v1", "Event", "events", True),
    Resource("", "v1", "ConfigMap", "configmaps", True),
    Resource("", "v1", "Secret", "secrets", True),
    Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True),
    Resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", False),
    Resource("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False),
    Resource("apps", "v1", "ControllerRevision", "controllerrevisions", True),
    Resource("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False),
    Resource("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False),
    Resource("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False),
    Resource("apiregistration.k8s.io", "v1", "APIService", "apiservices", False),
    Resource(
        "admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False
    ),
    Resource(
        "admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False
    ),
]
KINDS = {**CUSTOM, **{entry.kind: entry for entry in _BUILT_IN}}

VM = KINDS["VirtualMachine"]
VMI = KINDS["VirtualMachineInstance"]
KUBEVIRT = KINDS["KubeVirt"]
REVISION = KINDS["ControllerRevision"]
EVENT = KINDS["Event"]
DATA_VOLUME = KINDS["DataVolume"]
