from .core import CLAIM_SPEC, OBJECT

# The objects around these specs; their other kinds of CDI have no types here, and are compared as they are written.
_OBJECT = {**OBJECT, "status": "any"}

_REMOTE = {"url": "string!", "secretRef": "string", "certConfigMap": "string"}

TYPES = {
    "DataVolume": {**_OBJECT, "spec": "DataVolumeSpec!"},
    "DataSource": {**_OBJECT, "spec": "any"},
    "DataImportCron": {**_OBJECT, "spec": "DataImportCronSpec!"},
    "PersistentVolumeClaim": {**_OBJECT, "spec": "any"},
    "VolumeSnapshot": {**_OBJECT, "spec": "any"},
    "DataImportCronSpec": {
        "template": "DataVolumeTemplate!",
        "schedule": "string!",
        "garbageCollect": "*string",
        "importsToKeep": "*int32",
        "managedDataSource": "string!",
        "retentionPolicy": "*string",
    },
    "DataVolumeTemplate": {"spec": "DataVolumeSpec!"},
    "DataVolumeSpec": {
        "source": "*DataVolumeImport",
        "sourceRef": "*DataVolumeSourceRef",
        "pvc": "*PersistentVolumeClaimSpec",
        "storage": "*StorageSpec",
        "priorityClassName": "string",
        "contentType": "string",
        "checkpoints": "[]DataVolumeCheckpoint",
        "finalCheckpoint": "bool",
        "preallocation": "*bool",
    },
    "DataVolumeImport": {
        "http": "*DataVolumeSourceHTTP",
        "s3": "*DataVolumeSourceS3",
        "gcs": "*DataVolumeSourceGCS",
        "registry": "*DataVolumeSourceRegistry",
        "pvc": "*DataVolumeSourcePVC",
        "upload": "*Empty",
        "blank": "*Empty",
        "imageio": "*DataVolumeSourceImageIO",
        "vddk": "*DataVolumeSourceVDDK",
        "snapshot": "*DataVolumeSourceSnapshot",
    },
    "DataVolumeSourceHTTP": {**_REMOTE, "extraHeaders": "[]string", "secretExtraHeaders": "[]string"},
    "DataVolumeSourceS3": _REMOTE,
    "DataVolumeSourceGCS": {"url": "string!", "secretRef": "string"},
    "DataVolumeSourceRegistry": {
        "url": "*string",
        "imageStream": "*string",
        "pullMethod": "*string",
        "secretRef": "*string",
        "certConfigMap": "*string",
        "platform": "*PlatformOptions",
    },
    "PlatformOptions": {"architecture": "string"},
    "DataVolumeSourcePVC": {"namespace": "string!", "name": "string!"},
    "DataVolumeSourceImageIO": {**_REMOTE, "diskId": "string!", "insecureSkipVerify": "*bool"},
    "DataVolumeSourceVDDK": {
        "url": "string",
        "uuid": "string",
        "backingFile": "string",
        "thumbprint": "string",
        "secretRef": "string",
        "initImageURL": "string",
        "extraArgs": "string",
    },
    "DataVolumeSourceSnapshot": {"namespace": "string!", "name": "string!"},
    "DataVolumeSourceRef": {"kind": "string!", "namespace": "*string", "name": "string!"},
    "StorageSpec": CLAIM_SPEC,
    "DataVolumeCheckpoint": {"previous": "string!", "current": "string!"},
}
