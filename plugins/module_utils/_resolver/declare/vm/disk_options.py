"""The options of a VM about its disks: volumes, their sources, and cloud-init."""

from __future__ import annotations

from typing import Final

from ..option_rows import (
    BOOL,
    DICT,
    DICTS,
    INT,
    NEEDED,
    NOT_SECRET,
    SECRET,
    STR,
    TEXTS,
    Row,
    Rows,
    choice,
    exactly_one,
    spec_of,
)

_STORAGE_CLASS: Final = Row(
    STR,
    "StorageClass of the disk. The default is the default StorageClass of the cluster.",
)
_ACCESS_MODES: Final = Row(
    TEXTS,
    "Access modes of the disk. The default comes from the StorageProfile of the StorageClass.",
)
_VOLUME_MODE: Final = Row(
    choice("Block", "Filesystem"),
    "Volume mode of the disk. The default comes from the StorageProfile of the StorageClass.",
)
_IMAGE: Final = Row(NEEDED, "URL of the image.")
_CREDENTIALS: Final = Row(NOT_SECRET, "Name of a Secret with the credentials.")
_CERTIFICATES: Final = Row(STR, "Name of a ConfigMap with the certificates to trust.")

_VOLUME_SOURCES: Final = (
    *("container_disk", "persistent_volume_claim", "data_volume", "empty_disk"),
    *("import", "cloud_init", "sysprep"),
)
_DATA_EXCLUSIVE: Final = [("user_data", "user_data_base64"), ("network_data", "network_data_base64")]
_CLOUD_INIT_EXCLUSIVE: Final = [
    *_DATA_EXCLUSIVE,
    ("password", "password_file"),
    *(
        (data, part)
        for data in ("user_data", "user_data_base64")
        for part in ("user", "password", "password_file", "ssh_keys", "manage_ssh")
    ),
]

DISK_ROWS: Final[Rows] = {
    "boot": Row(
        exactly_one("data_source", "pvc", "container_disk", "url"),
        [
            "The disk that the VM boots from. It becomes the first volume, named C(boot). A VM needs nothing else to"
            " run.",
            "A string is short for O(boot.data_source), such as V(fedora).",
            "KubeVirt infers instancetype and preference from the labels of O(boot.data_source) or O(boot.pvc)"
            " unless the task sets them. If the disk lacks these labels, the error says what to add and suggests"
            " instancetypes.",
            "KubeVirt cannot infer anything from O(boot.container_disk) and O(boot.url). Without O(instancetype),"
            " O(cpu) or O(memory), a new VM then gets 512Mi of memory and the task warns.",
        ],
        shorthand="data_source",
    ),
    "boot.data_source": Row(
        STR,
        "Name of a DataSource in the namespace of the VM, or C(namespace/name) of a DataSource in another namespace."
        " The disk is a copy of its image.",
    ),
    "boot.pvc": Row(
        STR,
        "Name of a PersistentVolumeClaim in the namespace of the VM. The VM uses the claim itself, not a copy.",
    ),
    "boot.container_disk": Row(STR, "Image of a container disk. The disk loses all changes when the VM stops."),
    "boot.url": Row(
        STR,
        "URL of an image to download, beginning with C(http://), C(https://), C(gs://), C(docker://) or"
        " C(oci-archive://).",
    ),
    "boot.size": Row(
        STR,
        "Size of the disk, as a quantity. By default a copy has the size of its source, and a download from"
        " O(boot.url) has V(30Gi).",
    ),
    "boot.storage_class": _STORAGE_CLASS,
    "boot.access_modes": _ACCESS_MODES,
    "boot.volume_mode": _VOLUME_MODE,
    "volumes": Row(
        # An empty CD-ROM drive has no source.
        {**DICTS, "mutually_exclusive": [_VOLUME_SOURCES], "required_one_of": [(*_VOLUME_SOURCES, "device")]},
        [
            "Volumes of the VM. The VM boots from the first volume unless a volume has O(volumes[].boot_order).",
            "KubeVirt adds a disk for each volume. O(volumes[].bus), O(volumes[].device) and O(volumes[].boot_order)"
            " configure the disk.",
            "Each volume has exactly one source. An entry with only O(volumes[].name) and V(cdrom) for"
            " O(volumes[].device) is an empty CD-ROM drive.",
        ],
    ),
    "volumes.name": Row(
        STR,
        "Name of the volume and of its disk. Default is the name of the claim or DataVolume, C(cloudinitdisk),"
        " C(sysprepdisk), or a name from the name of the VM and the position of the volume.",
    ),
    "volumes.container_disk": Row(STR, "Image of a container disk. The disk loses all changes when the VM stops."),
    "volumes.persistent_volume_claim": Row(STR, "Name of a PersistentVolumeClaim in the namespace of the VM."),
    "volumes.data_volume": Row(STR, "Name of a DataVolume, for example from O(data_volume_templates)."),
    "volumes.empty_disk": Row(STR, "Capacity of an empty disk that lasts as long as the VMI, as a quantity."),
    "volumes.import": Row(
        exactly_one("blank", "data_source", "gcs", "http", "imageio", "pvc", "registry", "s3", "snapshot", "vddk"),
        "A DataVolume that KubeVirt creates for the VM from exactly one of the sources below, and only once. The"
        " task warns in every run of a disk that has another source, storage class or mode than declared.",
    ),
    "volumes.import.name": Row(STR, "Name of the DataVolume. Default is the names of VM and volume, C(VM-VOLUME)."),
    "volumes.import.blank": Row(BOOL, "An empty disk."),
    "volumes.import.data_source": Row(DICT, "A copy of the image of a DataSource."),
    "volumes.import.data_source.name": Row(NEEDED, "Name of the DataSource."),
    "volumes.import.data_source.namespace": Row(
        STR,
        "Namespace of the DataSource. Default is the namespace of the VM.",
    ),
    "volumes.import.gcs": Row(DICT, "An image in Google Cloud Storage."),
    "volumes.import.gcs.url": _IMAGE,
    "volumes.import.gcs.secret_ref": _CREDENTIALS,
    "volumes.import.http": Row(DICT, "An image that is downloaded by HTTP."),
    "volumes.import.http.url": _IMAGE,
    "volumes.import.http.secret_ref": _CREDENTIALS,
    "volumes.import.http.cert_config_map": _CERTIFICATES,
    "volumes.import.http.extra_headers": Row(
        {**TEXTS, "no_log": True},
        "Headers to send, each as C(Name:\\ value). Never shown.",
    ),
    "volumes.import.http.secret_extra_headers": Row(
        {**TEXTS, "no_log": False},
        "Names of Secrets with headers to send.",
    ),
    "volumes.import.imageio": Row(DICT, "A disk of oVirt."),
    "volumes.import.imageio.url": Row(NEEDED, "Address of the engine's API."),
    "volumes.import.imageio.secret_ref": _CREDENTIALS,
    "volumes.import.imageio.cert_config_map": _CERTIFICATES,
    "volumes.import.imageio.disk_id": Row(NEEDED, "ID of the disk."),
    "volumes.import.pvc": Row(DICT, "A clone of a PersistentVolumeClaim."),
    "volumes.import.pvc.name": Row(NEEDED, "Name of the claim."),
    "volumes.import.pvc.namespace": Row(NEEDED, "Namespace of the object."),
    "volumes.import.registry": Row(
        exactly_one("url", "image_stream"),
        "A copy of a container disk. Either O(volumes[].import.registry.url) or an image stream is required.",
    ),
    "volumes.import.registry.url": Row(STR, "URL of the image, beginning with C(docker://) or C(oci-archive://)."),
    "volumes.import.registry.secret_ref": _CREDENTIALS,
    "volumes.import.registry.cert_config_map": _CERTIFICATES,
    "volumes.import.registry.image_stream": Row(STR, "Name of an ImageStream of OpenShift."),
    "volumes.import.registry.pull_method": Row(
        choice("pod", "node"),
        "Whether the importer pod or the container runtime of its node pulls the image.",
    ),
    "volumes.import.s3": Row(DICT, "An image in an S3 bucket."),
    "volumes.import.s3.url": _IMAGE,
    "volumes.import.s3.secret_ref": _CREDENTIALS,
    "volumes.import.s3.cert_config_map": _CERTIFICATES,
    "volumes.import.snapshot": Row(DICT, "A disk that is restored from a VolumeSnapshot."),
    "volumes.import.snapshot.name": Row(NEEDED, "Name of the VolumeSnapshot."),
    "volumes.import.snapshot.namespace": Row(NEEDED, "Namespace of the object."),
    "volumes.import.vddk": Row(DICT, "A disk of VMware vSphere."),
    "volumes.import.vddk.url": Row(NEEDED, "Address of the vCenter or ESXi host."),
    "volumes.import.vddk.uuid": Row(NEEDED, "UUID of the VM in vSphere."),
    "volumes.import.vddk.thumbprint": Row(NEEDED, "Thumbprint of the host's certificate."),
    "volumes.import.vddk.secret_ref": Row({**NOT_SECRET, "required": True}, "Name of a Secret with the credentials."),
    "volumes.import.vddk.backing_file": Row(NEEDED, "Path of the disk in vSphere."),
    "volumes.import.vddk.init_image_url": Row(STR, "Image with the VDDK library."),
    "volumes.import.size": Row(
        STR,
        "Size of the disk, as a quantity. Optional for O(volumes[].import.data_source), O(volumes[].import.pvc) and"
        " O(volumes[].import.snapshot), whose copies have the size of the source; otherwise required.",
    ),
    "volumes.import.storage_class": _STORAGE_CLASS,
    "volumes.import.access_modes": _ACCESS_MODES,
    "volumes.import.volume_mode": _VOLUME_MODE,
    "volumes.cloud_init": Row(
        {**DICT, "mutually_exclusive": _DATA_EXCLUSIVE},
        "Data for cloud-init, sent unchanged. Never shown in results, diffs or logs. O(cloud_init) creates user data"
        " from options.",
    ),
    "volumes.cloud_init.type": Row(choice("nocloud", "configdrive", default="nocloud"), "Data source of cloud-init."),
    "volumes.cloud_init.user_data": Row(SECRET, "User data."),
    "volumes.cloud_init.user_data_base64": Row(SECRET, "User data, base64-encoded."),
    "volumes.cloud_init.network_data": Row(SECRET, "Network data."),
    "volumes.cloud_init.network_data_base64": Row(SECRET, "Network data, base64-encoded."),
    "volumes.sysprep": Row(
        exactly_one("config_map", "secret"),
        "Answer file for Sysprep of Windows, from a ConfigMap or a Secret.",
    ),
    "volumes.sysprep.config_map": Row(STR, "Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml)."),
    "volumes.sysprep.secret": Row(NOT_SECRET, "Name of a Secret with such a file."),
    "volumes.boot_order": Row(INT, "Position in the boot order, from 1."),
    "volumes.bus": Row(
        choice("virtio", "scsi", "sata", "usb"),
        "Bus of the disk. The preference sets the default, except for a disk with O(volumes[].hotpluggable), whose"
        " bus is V(scsi) by default, as with C(virtctl addvolume).",
    ),
    "volumes.device": Row(choice("disk", "cdrom", "lun"), "Type of the device in the guest."),
    "volumes.hotpluggable": Row(
        BOOL,
        [
            "Whether a running guest gets the volume when the task adds it, and loses it when the task no longer"
            " declares it. Only for O(volumes[].persistent_volume_claim), O(volumes[].data_volume) and"
            " O(volumes[].import), as a disk with the bus V(scsi) or V(virtio), as a LUN, or in a CD-ROM drive that"
            " the guest has since its start.",
            "From KubeVirt 1.9 on by default. Before, the feature gate C(DeclarativeHotplugVolumes) is necessary,"
            " from 1.6 on, or C(HotplugVolumes), with which the task requests each volume, as C(virtctl addvolume)"
            " does. A request neither replaces a volume, nor reaches a CD-ROM drive, nor removes a volume of"
            " O(volumes[].import). What KubeVirt does not plug waits for a restart, and the task warns.",
            "The disk gets an entry in the API's C(disks), and KubeVirt puts disks without an entry after it at the"
            " next start. Therefore give the boot disk an O(volumes[].boot_order) when you create the VM.",
        ],
    ),
    "adopt_disks": Row(
        BOOL,
        [
            "Whether the VM may adopt a DataVolume or a claim that exists, has no owner, and has the name of a disk"
            " that KubeVirt is to make for the VM. The VM then has its content, and it is deleted with the VM.",
            "By default such a disk is an error. To use a disk that outlives the VM, name it in"
            " O(volumes[].data_volume), O(volumes[].persistent_volume_claim) or O(boot.pvc).",
        ],
    ),
    "sysprep": Row(
        exactly_one("config_map", "secret"),
        "Answer file for Sysprep of Windows, on a volume C(sysprepdisk) after O(volumes).",
    ),
    "sysprep.config_map": Row(STR, "Name of a ConfigMap with C(autounattend.xml) or C(unattend.xml)."),
    "sysprep.secret": Row(NOT_SECRET, "Name of a Secret with such a file."),
    "cloud_init": Row(
        {**DICT, "mutually_exclusive": _CLOUD_INIT_EXCLUSIVE},
        [
            "Configuration of the guest by cloud-init, on the last volume C(cloudinitdisk). Without any data and"
            " without O(cloud_init.type) the VM has no such volume.",
            "The data never appear in results, diffs or logs. The VM stores them in clear text. Use"
            " O(access_credentials) for data that users with read access to the VM must not see.",
        ],
    ),
    "cloud_init.type": Row(
        choice("nocloud", "configdrive", "none"),
        "Data source of cloud-init. Default is V(nocloud). With V(none) the VM has no such volume.",
    ),
    "cloud_init.user": Row(STR, "Name of the default user."),
    "cloud_init.password": Row(SECRET, "Password of this user, for example from a vault."),
    "cloud_init.password_file": Row(
        {"type": "path", "no_log": False},
        "Path of a file with this password on the host where the module runs. Surrounding white space is ignored.",
    ),
    "cloud_init.ssh_keys": Row({**TEXTS, "no_log": False}, "Public SSH keys for logins of this user."),
    "cloud_init.manage_ssh": Row(
        BOOL,
        "Whether the guest agent may write SSH keys in the guest. Default is true with a credential of"
        " O(access_credentials) with the method V(ga).",
    ),
    "cloud_init.quote": Row(
        {**BOOL, "default": True},
        "Whether to quote user, password and keys if YAML would parse them as another value. With V(false) they are"
        " written unquoted, as by C(virtctl).",
    ),
    "cloud_init.user_data": Row(SECRET, "User data. Mutually exclusive with user, password and keys."),
    "cloud_init.user_data_base64": Row(SECRET, "The same, base64-encoded."),
    "cloud_init.network_data": Row(SECRET, "Network data."),
    "cloud_init.network_data_base64": Row(SECRET, "The same, base64-encoded."),
    "data_volume_templates": Row(DICTS, "DataVolumes that KubeVirt creates with the VM, in the API's form."),
}
_IMPORT: Final = spec_of(DISK_ROWS)["volumes"]["options"]["import"]
IMPORT_SOURCES: Final = {name: _IMPORT["options"][name] for name in _IMPORT["required_one_of"][0]}
"""The sources of an import, each with its spec."""
