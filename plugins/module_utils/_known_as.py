"""What the options of all capabilities are called elsewhere: in kubevirt.core, virtctl, modules for Proxmox, ..."""

from __future__ import annotations

from typing import Any, Final

_SHOWN: Final = 2
_DISKS: Final = ("boot", "volumes")
_IMAGE: Final = (
    "boot.container_disk",
    "volumes.container_disk",
    "container_disk",
    "import.registry.url",
    "registry.url",
    "image",
)
_CLAIM: Final = ("boot.pvc", "volumes.persistent_volume_claim", "persistent_volume_claim", "pvc")
_NETWORKS: Final = ("networks",)
_CORES: Final = ("cpu.cores", "cpu.guest", "cores", "guest", "requirements.cpu.guest")
_CPUS: Final = ("cpu.sockets", "cpu.guest", "sockets", "guest", "requirements.cpu.guest")
_MEMORY: Final = ("memory", "memory.guest", "requirements.memory.guest")
_SYSTEM: Final = ("preference", "workload")
_SIZE: Final = ("instancetype",)
_RUNNING: Final = ("run_strategy",)
_KEYS: Final = ("cloud_init.ssh_keys", "ssh_keys")
_USER: Final = ("cloud_init.user", "user")
_USER_DATA: Final = ("cloud_init.user_data", "user_data")
_NETWORK_DATA: Final = ("cloud_init.network_data", "network_data")
_TEMPLATE: Final = ("from_template.name", "from_template", "template")
_DISK_SIZE: Final = ("boot.size", "import.size", "size")
_STORAGE: Final = (
    "boot.storage_class",
    "import.storage_class",
    "storage_class",
    "volumes.preferred_storage_class_name",
)
_EFI: Final = ("efi", "firmware.preferred_efi", "preferred_efi")
_FILE: Final = ("upload.path", "path")
_MANIFEST: Final = ("spec", "manifests")
_MANY: Final = ("virtual_machines", "virtual_machines_list", "names")

# A name without `_`, in small letters → the options that it may mean, from where it stands. Some levels have none of
# them, others several.
_MEANT: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("disk", "disks", "bootdisk", "rootdisk", "bootvolume", "harddisk", "drive", "drives"), _DISKS),
    **dict.fromkeys(("volume", "storage", "volumemounts"), ("volumes",)),
    **dict.fromkeys(("image", "images", "containerdisk", "registry", "containerimage", "dockerimage"), _IMAGE),
    **dict.fromkeys(("pvc", "claim", "claimname", "persistentvolumeclaim", "pvcname", "volumepvc"), _CLAIM),
    **dict.fromkeys(("datasource", "datasourceref", "sourceref"), ("boot.data_source", "import.data_source")),
    **dict.fromkeys(("iso", "cdrom", "lun"), ("volumes.device", "device")),
    **dict.fromkeys(("url", "http", "imageurl"), ("boot.url", "import.http.url", "http.url", "url")),
    "blank": ("import.blank",),
    "clone": ("import.pvc", "import.snapshot", "boot.pvc"),
    "volumeimport": ("volumes.import", "import"),
    "datavolumes": ("volumes.import", "data_volume_templates"),
    "emptydir": ("empty_disk",),
    **dict.fromkeys(("disksize", "capacity", "volumesize", "sizegb", "size"), _DISK_SIZE),
    **dict.fromkeys(("storageclass", "storageclassname", "datastore", "storagepool"), _STORAGE),
    **dict.fromkeys(("accessmode", "accessmodes"), ("access_modes", "boot.access_modes", "import.access_modes")),
    **dict.fromkeys(("diskbus", "interface"), ("bus", "devices.preferred_disk_bus", *_NETWORKS)),
    **dict.fromkeys(("interfaces", "nic", "nics", "net", "networkinterfaces", "ports"), _NETWORKS),
    **dict.fromkeys(("mac", "macaddr", "hwaddr"), ("mac_address", "networks.mac_address")),
    **dict.fromkeys(("network", "nad", "networkname", "vlan", "portgroup"), ("multus", "networks", "networks.multus")),
    **dict.fromkeys(("masquerade", "bridge", "sriov"), ("binding", "networks.binding")),
    **dict.fromkeys(("cpucores", "cores", "corespersocket", "numcores", "corecount"), _CORES),
    **dict.fromkeys(("cpus", "vcpus", "vcpu", "numcpu", "numcpus", "cpucount", "sockets", "cpusockets"), _CPUS),
    **dict.fromkeys(("threads", "cputhreads"), ("cpu.threads",)),
    **dict.fromkeys(("cputype", "cpumodel"), ("cpu.model",)),
    **dict.fromkeys(("memory", "ram", "mem", "memorymb", "memorysize", "memorygb", "guestmemory", "balloon"), _MEMORY),
    "hugepages": ("memory.hugepages", "template.spec.domain.memory.hugepages"),
    **dict.fromkeys(("flavor", "flavour", "instancetypename", "vmtype", "machineclass"), _SIZE),
    "inferinstancetype": ("instancetype.infer",),
    "inferinstancetypefrom": ("instancetype.infer_from_volume",),
    "inferpreference": ("preference.infer",),
    "inferpreferencefrom": ("preference.infer_from_volume",),
    **dict.fromkeys(("os", "ostype", "guestid", "guestos", "operatingsystem", "osfamily"), ("preference", "os")),
    **dict.fromkeys(("template", "templatename", "vmtemplate", "templateparameters"), _TEMPLATE),
    **dict.fromkeys(("running", "started", "start", "powerstate", "poweron", "autostart", "onboot", "power"), _RUNNING),
    **dict.fromkeys(("sshkey", "sshkeys", "sshauthorizedkeys", "sshpublickey", "keyname", "authorizedkeys"), _KEYS),
    **dict.fromkeys(("username", "user", "ciuser", "loginname"), _USER),
    **dict.fromkeys(("password", "cipassword", "adminpass", "userpassword"), ("cloud_init.password",)),
    **dict.fromkeys(("userdata", "cloudinituserdata", "cloudconfig", "cicustom", "customization"), _USER_DATA),
    **dict.fromkeys(("cloudinitnetworkdata", "networkdata", "ipconfig", "ip", "ipaddress"), _NETWORK_DATA),
    **dict.fromkeys(("cloudinit", "cloudinitnocloud", "cloudinitconfigdrive"), ("cloud_init", "volumes.cloud_init")),
    **dict.fromkeys(("unattend", "autounattend", "unattended"), ("sysprep",)),
    **dict.fromkeys(("accesscred", "accesscredential"), ("access_credentials",)),
    **dict.fromkeys(("uefi", "firmware", "bios", "efi", "bootmode"), _EFI),
    "secureboot": ("efi.secure_boot", "firmware.preferred_efi.secure_boot"),
    **dict.fromkeys(("tpm", "vtpm", "tpmstate"), ("tpm", "devices.preferred_tpm")),
    **dict.fromkeys(
        ("machine", "machinetype"), ("machine.preferred_machine_type", "template.spec.domain.machine.type")
    ),
    **dict.fromkeys(("gpu", "gpus", "vgpu"), ("gpus", "template.spec.domain.devices.gpus")),
    **dict.fromkeys(("hostdevice", "hostdevices", "hostpci", "pci"), ("host_devices", "template.spec.domain.devices")),
    **dict.fromkeys(("hostname",), ("template.spec.hostname",)),
    "affinity": ("template.spec.affinity",),
    **dict.fromkeys(("priorityclass", "priorityclassname"), ("template.spec.priorityClassName",)),
    **dict.fromkeys(("domain", "devices"), ("template.spec.domain",)),
    **dict.fromkeys(("node", "nodes", "nodename", "esxihostname", "availabilityzone"), ("node_selector", "drain")),
    **dict.fromkeys(("gracetime", "graceperiod", "terminationgraceperiodseconds"), ("termination_grace_period",)),
    **dict.fromkeys(("tags", "tag", "metadata", "meta"), ("labels", "annotations")),
    **dict.fromkeys(("annotation", "description", "notes"), ("annotations",)),
    **dict.fromkeys(("definition", "resourcedefinition", "resource", "body"), _MANIFEST),
    **dict.fromkeys(("topology", "cputopology"), ("cpu.preferred_cpu_topology", "cpu")),
    **dict.fromkeys(("nicmodel", "interfacemodel"), ("devices.preferred_interface_model", "networks.model", "model")),
    **dict.fromkeys(("mincpu", "mincpus"), ("requirements.cpu.guest", "size.cpu")),
    **dict.fromkeys(("minmemory", "minram"), ("requirements.memory.guest", "size.memory")),
    **dict.fromkeys(("defaultinstancetype",), ("instancetype",)),
    **dict.fromkeys(("defaultpreference",), ("preference",)),
    **dict.fromkeys(("file", "src", "localpath", "imagepath", "qcow2"), _FILE),
    **dict.fromkeys(("cron", "interval"), ("schedule",)),
    **dict.fromkeys(("vms", "vm", "hosts", "instances", "machines", "vmname", "vmid"), _MANY),
    **dict.fromkeys(("labelselector", "selector", "labelselectors"), ("label_selectors",)),
    **dict.fromkeys(("timeout", "waitsleep"), ("wait_timeout",)),
    **dict.fromkeys(("token", "bearertoken", "apitoken"), ("api_key",)),
    **dict.fromkeys(("server", "apiserver", "endpoint", "authurl"), ("host",)),
    **dict.fromkeys(("kubecontext", "cluster"), ("context",)),
    **dict.fromkeys(("kubeconfigpath", "configfile", "kubeconfigfile"), ("kubeconfig",)),
    **dict.fromkeys(("insecure", "insecureskiptlsverify", "validatecertificates"), ("validate_certs",)),
}


def meant(name: Any, spec: dict[str, Any]) -> list[str]:
    """The options of an argument spec, by their paths, that an unknown name means in other collections and tools.

    An option of the same letters is what is meant, whatever others call by that name.
    """
    plain = _plain(name)
    if same := [option for option in spec if _plain(option) == plain]:
        return same
    found = (_shown(path.split("."), spec) for path in _MEANT.get(plain, ()))
    return list(dict.fromkeys(filter(None, found)))[:_SHOWN]


def _plain(name: Any) -> str:
    return str(name).replace("_", "").replace("-", "").lower()


def _shown(path: list[str], spec: dict[str, Any]) -> str:
    """A path as a message has it, with `[]` after lists; "" if the spec has no such option."""
    option = spec.get(path[0])
    if option is None or len(path) == 1:
        return "" if option is None else path[0]
    if "options" not in option:
        # The API's own fields, which no spec has.
        return ".".join(path) if option.get("type") == "dict" else ""
    inner = _shown(path[1:], option["options"])
    return inner and f"{path[0]}{'[]' if option.get('type') == 'list' else ''}.{inner}"
