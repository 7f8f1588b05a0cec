"""The kinds that this collection reads and writes. Their resource names are constants, which saves discovery."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Final, NamedTuple
from urllib.parse import quote


class Kind(NamedTuple):
    """A kind of the Kubernetes API.

    kind: its spelling in manifests. group, version: the API of the kind ("" for the core group). plural: the spelling
    of paths and RBAC rules.
    """

    kind: str
    group: str
    version: str
    plural: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of the collection, of an object or of its subresource; without a namespace, of all
        namespaces.
        """
        folder = _folder(self, namespace if self.namespaced else None)
        return "/".join([folder, *(quote(part, safe="") for part in (name, subresource) if part)])


@lru_cache(maxsize=256)
def _folder(kind: Kind, namespace: str | None) -> str:
    parts = ["apis", kind.group, kind.version] if kind.group else ["api", kind.version]
    parts += ["namespaces", namespace] if namespace else []
    return "/" + "/".join(quote(part, safe="") for part in (*parts, kind.plural))


def kind_meant(text: str, kinds: Collection[str]) -> str | None:
    """The kind that a text means to KubeVirt, which ignores case and accepts the plural; None if it means none."""
    if text in kinds:
        return text
    name = text.lower()
    return next((kind for kind in kinds if name in (kind.lower(), f"{kind.lower()}s")), None)


_INSTANCETYPE = ("instancetype.kubevirt.io", "v1beta1")
_KUBEVIRT = ("kubevirt.io", "v1")
_ADMISSION = ("admissionregistration.k8s.io", "v1")
_CDI = ("cdi.kubevirt.io", "v1beta1")
_SNAPSHOT = ("snapshot.kubevirt.io", "v1beta1")

KINDS: dict[str, Kind] = {
    kind.kind: kind
    for kind in (
        Kind("VirtualMachineInstancetype", *_INSTANCETYPE, "virtualmachineinstancetypes", True),
        Kind("VirtualMachineClusterInstancetype", *_INSTANCETYPE, "virtualmachineclusterinstancetypes", False),
        Kind("VirtualMachinePreference", *_INSTANCETYPE, "virtualmachinepreferences", True),
        Kind("VirtualMachineClusterPreference", *_INSTANCETYPE, "virtualmachineclusterpreferences", False),
        Kind("VirtualMachine", *_KUBEVIRT, "virtualmachines", True),
        Kind("VirtualMachineInstance", *_KUBEVIRT, "virtualmachineinstances", True),
        Kind("VirtualMachineTemplate", "template.kubevirt.io", "v1beta1", "virtualmachinetemplates", True),
        Kind("ControllerRevision", "apps", "v1", "controllerrevisions", True),
        Kind("Namespace", "", "v1", "namespaces", False),
        Kind("Node", "", "v1", "nodes", False),
        Kind("Service", "", "v1", "services", True),
        Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims", True),
        Kind("ConfigMap", "", "v1", "configmaps", True),
        Kind("ServiceAccount", "", "v1", "serviceaccounts", True),
        Kind("NetworkAttachmentDefinition", "k8s.cni.cncf.io", "v1", "network-attachment-definitions", True),
        Kind("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", False),
        Kind("StorageClass", "storage.k8s.io", "v1", "storageclasses", False),
        Kind("DataVolume", *_CDI, "datavolumes", True),
        Kind("DataSource", *_CDI, "datasources", True),
        Kind("DataImportCron", *_CDI, "dataimportcrons", True),
        Kind("ValidatingAdmissionPolicy", *_ADMISSION, "validatingadmissionpolicies", False),
        Kind("ValidatingAdmissionPolicyBinding", *_ADMISSION, "validatingadmissionpolicybindings", False),
        Kind("VolumeSnapshot", "snapshot.storage.k8s.io", "v1", "volumesnapshots", True),
        Kind("VirtualMachineSnapshot", *_SNAPSHOT, "virtualmachinesnapshots", True),
        Kind("VirtualMachineRestore", *_SNAPSHOT, "virtualmachinerestores", True),
        Kind("VirtualMachineClone", "clone.kubevirt.io", "v1beta1", "virtualmachineclones", True),
    )
}

EXISTENCE_ONLY: Final = frozenset(
    {"ConfigMap", "ServiceAccount", "NetworkAttachmentDefinition", "PriorityClass", "StorageClass"}
)
"""The kinds whose contents do not matter here, only whether the objects exist."""
