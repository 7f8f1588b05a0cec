"""The options of a VM, a row each: what Ansible checks, what users read, and the field of the API that it is.

Options keep the names of virtctl's flags if these are clear. Data that may be secret are marked `no_log`. The options
of disks are in `disk_options`; capabilities add their own, see `_vm_options` beside the rooms.
"""

from __future__ import annotations

from typing import Final

from ..option_rows import (
    BOOL,
    DICT,
    DICTS,
    INT,
    NOT_SECRET,
    STR,
    TEXTS,
    Row,
    Rows,
    Table,
    choice,
    exactly_one,
    joined,
    plain_fields,
)
from .disk_options import DISK_ROWS

_TEMPLATE: Final = "spec.template.spec"
_EFI: Final = f"{_TEMPLATE}.domain.firmware.bootloader.efi"

ROWS: Final[Rows] = {
    "name": Row(STR, "Name of the VM. Either O(name) or O(virtual_machines) is required."),
    "namespace": Row(STR, "Namespace of the VM."),
    "state": Row(
        choice("present", "absent", default="present"),
        [
            "Whether the VM must exist as declared, or must not exist.",
            "With V(absent), only name and namespace count. An entry of O(virtual_machines) can then be what"
            " M(virtshape.instancetypes.virtual_machine_info) returns for a VM.",
            "A VM that is being deleted counts as absent. To create it again, the task first waits until it is gone.",
        ],
    ),
    "labels": Row(DICT, "Labels of the VM. Set labels of its VMI in O(template)."),
    "annotations": Row(DICT, "Annotations of the VM. Set annotations of its VMI in O(template)."),
    "run_strategy": Row(
        choice("Always", "RerunOnFailure", "Manual", "Halted", "Once"),
        "Run strategy of the VM. By default a new VM gets V(Always), and an existing VM keeps its run strategy, so"
        " that the next run does not start a VM that someone stopped.",
        "spec.runStrategy",
    ),
    "instancetype": Row(
        exactly_one("name", "infer_from_volume", "infer"),
        "Instancetype of the VM. A string is short for O(instancetype.name), such as V(u1.small).",
    ),
    "instancetype.name": Row(STR, "Name of the instancetype."),
    "instancetype.kind": Row(
        choice("VirtualMachineInstancetype", "VirtualMachineClusterInstancetype"),
        "Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and the"
        " plural is valid too.",
    ),
    "instancetype.revision_name": Row(
        {**STR, "aliases": ["revisionName"]},
        "Name of a ControllerRevision to pin the VM to, instead of the current instancetype.",
    ),
    "instancetype.infer": Row(
        choice("auto", "required", "none"),
        [
            "Whether KubeVirt infers the instancetype from the labels of a volume. The volume is that of O(boot),"
            " else the volume with the lowest O(volumes[].boot_order), else the first volume.",
            "With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM"
            " without an instancetype, and with 512Mi of memory unless O(memory) is given.",
            "A VM with O(cpu) or O(memory) gets no instancetype from V(auto).",
            "With V(none) the VM gets no instancetype.",
            "Without O(instancetype), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM"
            " V(none).",
        ],
    ),
    "instancetype.infer_from_volume": Row(
        {**STR, "aliases": ["inferFromVolume"]},
        "Name of the volume from whose labels KubeVirt infers the instancetype. A volume without these labels is an"
        " error.",
    ),
    "preference": Row(
        exactly_one("name", "infer_from_volume", "infer"),
        "Preference of the VM. A string is short for O(preference.name).",
    ),
    "preference.name": Row(STR, "Name of the preference."),
    "preference.kind": Row(
        choice("VirtualMachinePreference", "VirtualMachineClusterPreference"),
        "Kind of the object. The default is the cluster-wide kind. As in KubeVirt, case does not matter and the"
        " plural is valid too.",
    ),
    "preference.revision_name": Row(
        {**STR, "aliases": ["revisionName"]},
        "Name of a ControllerRevision to pin the VM to, instead of the current preference.",
    ),
    "preference.infer": Row(
        choice("auto", "required", "none"),
        [
            "Whether KubeVirt infers the preference from the labels of a volume. The volume is that of O(boot), else"
            " the volume with the lowest O(volumes[].boot_order), else the first volume.",
            "With V(required) a volume without these labels is an error. With V(auto) such a volume leaves the VM"
            " without a preference.",
            "With V(none) the VM gets no preference.",
            "Without O(preference), a VM with O(boot.data_source) or O(boot.pvc) has V(required), any other VM"
            " V(none).",
        ],
    ),
    "preference.infer_from_volume": Row(
        {**STR, "aliases": ["inferFromVolume"]},
        "Name of the volume from whose labels KubeVirt infers the preference. A volume without these labels is an"
        " error.",
    ),
    "cpu": Row(DICT, "vCPUs and CPU model of the VM. vCPUs conflict with an instancetype.", f"{_TEMPLATE}.domain.cpu"),
    "cpu.sockets": Row(INT, "Number of sockets.", f"{_TEMPLATE}.domain.cpu.sockets"),
    "cpu.cores": Row(INT, "Number of cores in each socket.", f"{_TEMPLATE}.domain.cpu.cores"),
    "cpu.threads": Row(INT, "Number of threads in each core.", f"{_TEMPLATE}.domain.cpu.threads"),
    "cpu.model": Row(
        STR,
        "CPU model. Conflicts with an instancetype that sets a CPU model.",
        f"{_TEMPLATE}.domain.cpu.model",
    ),
    "memory": Row(
        STR,
        [
            "Guest memory of a VM without an instancetype, as a quantity. Mutually exclusive with O(instancetype).",
            "A new VM without both gets V(512Mi). An existing VM keeps its memory.",
        ],
    ),
    "termination_grace_period": Row(
        INT,
        "Number of seconds for the guest to shut down.",
        f"{_TEMPLATE}.terminationGracePeriodSeconds",
    ),
    "access_credentials": Row(
        DICTS,
        "SSH keys and passwords that KubeVirt brings into the guest from Secrets. The task does not read the Secrets.",
    ),
    "access_credentials.type": Row(choice("ssh", "password", default="ssh"), "Type of the content of the Secret."),
    "access_credentials.secret": Row(
        {**NOT_SECRET, "required": True},
        "Name of the Secret, in the namespace of the VM.",
    ),
    "access_credentials.method": Row(
        choice("ga", "nocloud", "configdrive", default="ga"),
        [
            "How KubeVirt brings the credential into the guest, by the guest agent (V(ga)) or by cloud-init."
            " Passwords require V(ga).",
            "V(nocloud) and V(configdrive) require a cloud-init volume of this type, which the task adds if necessary.",
        ],
    ),
    "access_credentials.users": Row(
        TEXTS,
        "Users of the guest who get the keys. Only for SSH keys with the method V(ga). Default is O(cloud_init.user).",
    ),
    "networks": Row(
        {**DICTS, "mutually_exclusive": [("binding", "binding_plugin")]},
        "Networks of the VM, each with an interface. By default KubeVirt adds an interface on the pod network.",
    ),
    "networks.name": Row({**STR, "default": "default"}, "Name of the network and of the interface."),
    "networks.multus": Row(
        STR,
        "Name of a NetworkAttachmentDefinition, or C(namespace/name). Default is the pod network.",
    ),
    "networks.binding": Row(
        choice("masquerade", "bridge", "sriov"),
        "How the guest is connected. Default is V(masquerade) for the pod network and V(bridge) for other networks.",
    ),
    "networks.binding_plugin": Row(STR, "Name of a network binding plugin, instead of O(networks[].binding)."),
    "networks.model": Row(STR, "Model of the interface. The preference sets the default."),
    "networks.mac_address": Row(STR, "MAC address in the guest."),
    "networks.boot_order": Row(INT, "Position in the boot order, from 1, for a network boot."),
    "networks.ports": Row(DICTS, "Ports of the guest to expose. Default is all."),
    "networks.ports.name": Row(STR, "Name of the port."),
    "networks.ports.port": Row({**INT, "required": True}, "Number of the port."),
    "networks.ports.protocol": Row(choice("TCP", "UDP"), "Protocol of the port. Default is V(TCP)."),
    "efi": Row(
        DICT,
        "Boot with EFI, also with an empty dictionary. The preference sets the default firmware.",
        f"{_EFI}",
    ),
    "efi.secure_boot": Row(
        BOOL,
        "Whether to use secure boot, the default of KubeVirt. With secure boot the task also enables system"
        " management mode, which secure boot requires.",
        f"{_EFI}.secureBoot",
    ),
    "efi.persistent": Row(BOOL, "Whether the firmware's variables survive a stop of the VM.", f"{_EFI}.persistent"),
    "tpm": Row(DICT, "A TPM device, also with an empty dictionary.", f"{_TEMPLATE}.domain.devices.tpm"),
    "tpm.persistent": Row(
        BOOL,
        "Whether the state of the TPM survives a stop of the VM.",
        f"{_TEMPLATE}.domain.devices.tpm.persistent",
    ),
    "node_selector": Row(
        DICT,
        "Labels of the nodes that can run the VM. Conflicts with an instancetype that has a node selector.",
        f"{_TEMPLATE}.nodeSelector",
    ),
    "tolerations": Row(DICTS, "Tolerations of the VM, in the API's form.", f"{_TEMPLATE}.tolerations"),
    "eviction_strategy": Row(
        choice("None", "LiveMigrate", "LiveMigrateIfPossible", "External"),
        "What happens to the VM when its node is drained. The configuration of the cluster sets the default.",
        f"{_TEMPLATE}.evictionStrategy",
    ),
    "template": Row(
        DICT,
        "Fields of the VM's template without an option, in the API's form (C(metadata) and C(spec)). Merged with the"
        " other options; lists are joined; different values for the same field are an error.",
    ),
    "spec": Row(DICT, "Fields of the VM's spec without an option, in the API's form. Merged like O(template)."),
    "accept_unknown_fields": Row(BOOL),
}
PLAIN: Final = plain_fields(ROWS)

VM: Final = joined([Table(ROWS), Table(DISK_ROWS)])
