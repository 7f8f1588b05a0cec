"""The API paths of the kinds that the node reads or writes."""

from __future__ import annotations

from typing import NamedTuple


class Resource(NamedTuple):
    """A kind and its API group; "" is the core group."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

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


NODE = Resource("", "v1", "Node", "nodes", namespaced=False)
POD = Resource("", "v1", "Pod", "pods")
CLAIM = Resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
VOLUME = Resource("", "v1", "PersistentVolume", "persistentvolumes", namespaced=False)
SECRET = Resource("", "v1", "Secret", "secrets")
CONFIG_MAP = Resource("", "v1", "ConfigMap", "configmaps")
SERVICE_ACCOUNT = Resource("", "v1", "ServiceAccount", "serviceaccounts")
EVENT = Resource("", "v1", "Event", "events")
STORAGE_CLASS = Resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", namespaced=False)
LEASE = Resource("coordination.k8s.io", "v1", "Lease", "leases")
VMI = Resource("kubevirt.io", "v1", "VirtualMachineInstance", "virtualmachineinstances")
MIGRATION = Resource("kubevirt.io", "v1", "VirtualMachineInstanceMigration", "virtualmachineinstancemigrations")
NETWORK = Resource("k8s.cni.cncf.io", "v1", "NetworkAttachmentDefinition", "network-attachment-definitions")
IMPORT_CRON = Resource("cdi.kubevirt.io", "v1beta1", "DataImportCron", "dataimportcrons")
SNAPSHOT = Resource("snapshot.storage.k8s.io", "v1", "VolumeSnapshot", "volumesnapshots")
SNAPSHOT_CLASS = Resource(
    "snapshot.storage.k8s.io", "v1", "VolumeSnapshotClass", "volumesnapshotclasses", namespaced=False
)
SNAPSHOT_CONTENT = Resource(
    "snapshot.storage.k8s.io", "v1", "VolumeSnapshotContent", "volumesnapshotcontents", namespaced=False
)
