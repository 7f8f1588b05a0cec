"""The argument spec of a VM. `tools/descriptions/virtual_machine.yml` describes the options.

Options keep the names of virtctl's flags if these are clear. Data that may be secret are marked `no_log`.
"""

from __future__ import annotations

from typing import Any, Final

from ...api.matcher import MATCHER_FIELDS, MatcherField

Spec = dict[str, Any]

_STR: Final[Spec] = {"type": "str"}
_BOOL: Final[Spec] = {"type": "bool"}
_INT: Final[Spec] = {"type": "int"}
_DICT: Final[Spec] = {"type": "dict"}
_TEXTS: Final[Spec] = {"type": "list", "elements": "str"}
_DICTS: Final[Spec] = {"type": "list", "elements": "dict"}
_SECRET: Final[Spec] = {"type": "str", "no_log": True}
# Names or paths, which Ansible mistakes for secrets because of the option's name.
_NOT_SECRET: Final[Spec] = {"type": "str", "no_log": False}
_NEEDED: Final[Spec] = {"type": "str", "required": True}


def _choice(*choices: str, **more: Any) -> Spec:
    return {"type": "str", "choices": list(choices), **more}


def _object(options: Spec, *one_of: str, **more: Any) -> Spec:
    """An option with suboptions. one_of: suboptions of which exactly one is needed."""
    exactly_one = {"mutually_exclusive": [one_of], "required_one_of": [one_of]} if one_of else {}
    return {"type": "dict", "options": options, **exactly_one, **more}


def _matcher(matcher_field: MatcherField) -> Spec:
    options = {
        "name": _STR,
        "kind": _choice(matcher_field.kind, matcher_field.cluster_kind),
        "revision_name": {"type": "str", "aliases": ["revisionName"]},
        "infer": _choice("auto", "required", "none"),
        "infer_from_volume": {"type": "str", "aliases": ["inferFromVolume"]},
    }
    return _object(options, "name", "infer_from_volume", "infer")


_STORAGE: Final[Spec] = {
    "size": _STR,
    "storage_class": _STR,
    "access_modes": _TEXTS,
    "volume_mode": _choice("Block", "Filesystem"),
    "expand": _choice("warn", "grow"),
}

_BOOT_SOURCES: Final = ("data_source", "pvc", "container_disk", "url")
_BOOT: Final = _object({**dict.fromkeys(_BOOT_SOURCES, _STR), **_STORAGE}, *_BOOT_SOURCES)

_COPIED: Final = _object({"name": _NEEDED, "namespace": _NEEDED})
_REMOTE: Final = {"url": _NEEDED, "secret_ref": _NOT_SECRET}
_CERTIFIED: Final = {**_REMOTE, "cert_config_map": _STR}

IMPORT_SOURCES: Final[Spec] = {
    "blank": _BOOL,
    "data_source": _object({"name": _NEEDED, "namespace": _STR}),
    "gcs": _object(_REMOTE),
    "http": _object(
        {
            **_CERTIFIED,
            "extra_headers": {**_TEXTS, "no_log": True},
            "secret_extra_headers": {**_TEXTS, "no_log": False},
        }
    ),
    "imageio": _object({**_CERTIFIED, "disk_id": _NEEDED}),
    "pvc": _COPIED,
    "registry": _object(
        {**_CERTIFIED, "url": _STR, "image_stream": _STR, "pull_method": _choice("pod", "node")}, "url", "image_stream"
    ),
    "s3": _object(_CERTIFIED),
    "snapshot": _COPIED,
    "vddk": _object(
        {
            **dict.fromkeys(("url", "uuid", "thumbprint"), _NEEDED),
            "secret_ref": {**_NEEDED, "no_log": False},
            "backing_file": _NEEDED,
            "init_image_url": _STR,
        }
    ),
}

_IMPORT: Final = _object({"name": _STR, **IMPORT_SOURCES, **_STORAGE}, *IMPORT_SOURCES)

_DATA: Final = dict.fromkeys(("user_data", "user_data_base64", "network_data", "network_data_base64"), _SECRET)
_DATA_EXCLUSIVE: Final = [("user_data", "user_data_base64"), ("network_data", "network_data_base64")]

_CLOUD_INIT: Final = {
    "type": "dict",
    "options": {
        "type": _choice("nocloud", "configdrive", "none"),
        "user": _STR,
        "password": _SECRET,
        "password_file": {"type": "path", "no_log": False},
        "ssh_keys": {**_TEXTS, "no_log": False},
        "manage_ssh": _BOOL,
        "quote": {"type": "bool", "default": True},
        **_DATA,
    },
    "mutually_exclusive": [
        *_DATA_EXCLUSIVE,
        ("password", "password_file"),
        *(
            (data, part)
            for data in ("user_data", "user_data_base64")
            for part in ("user", "password", "password_file", "ssh_keys", "manage_ssh")
        ),
    ],
}

_SYSPREP: Final = _object({"config_map": _STR, "secret": _NOT_SECRET}, "config_map", "secret")

_VOLUME_SOURCES: Final[Spec] = {
    "container_disk": _STR,
    "persistent_volume_claim": _STR,
    "data_volume": _STR,
    "empty_disk": _STR,
    "import": _IMPORT,
    "cloud_init": _object(
        {"type": _choice("nocloud", "configdrive", default="nocloud"), **_DATA}, mutually_exclusive=_DATA_EXCLUSIVE
    ),
    "sysprep": _SYSPREP,
}

_VOLUMES: Final = {
    **_DICTS,
    "options": {
        "name": _STR,
        **_VOLUME_SOURCES,
        "boot_order": _INT,
        "bus": _choice("virtio", "scsi", "sata", "usb"),
        "device": _choice("disk", "cdrom", "lun"),
        "hotpluggable": _BOOL,
    },
    "mutually_exclusive": [tuple(_VOLUME_SOURCES)],
    # An empty CD-ROM drive has no source.
    "required_one_of": [(*_VOLUME_SOURCES, "device")],
}

_ACCESS_CREDENTIALS: Final = {
    **_DICTS,
    "options": {
        "type": _choice("ssh", "password", default="ssh"),
        "secret": {**_NEEDED, "no_log": False},
        "method": _choice("ga", "nocloud", "configdrive", default="ga"),
        "users": _TEXTS,
    },
}

_NETWORKS: Final = {
    **_DICTS,
    "options": {
        "name": {"type": "str", "default": "default"},
        "multus": _STR,
        "binding": _choice("masquerade", "bridge", "sriov"),
        "binding_plugin": _STR,
        "model": _STR,
        "mac_address": _STR,
        "boot_order": _INT,
        "ports": {
            **_DICTS,
            "options": {"name": _STR, "port": {"type": "int", "required": True}, "protocol": _choice("TCP", "UDP")},
        },
    },
    "mutually_exclusive": [("binding", "binding_plugin")],
}

SPEC: Final[Spec] = {
    "name": _STR,
    "namespace": _STR,
    "state": _choice("present", "absent", "rendered", default="present"),
    "labels": _DICT,
    "annotations": _DICT,
    "run_strategy": _choice("Always", "RerunOnFailure", "Manual", "Halted", "Once"),
    "workload": _STR,
    "size": _object({"name": _STR, "cpu": _INT, "memory": _STR, "performance": _STR}),
    "from_template": _object({"name": _NEEDED, "namespace": _STR, "parameters": _DICT}),
    "boot": _BOOT,
    **{matcher_field.matcher: _matcher(matcher_field) for matcher_field in MATCHER_FIELDS},
    "infer_from_registry": _BOOL,
    "insecure_registry": _BOOL,
    "cpu": _object({"sockets": _INT, "cores": _INT, "threads": _INT, "model": _STR}),
    "memory": _STR,
    "termination_grace_period": _INT,
    "volumes": _VOLUMES,
    "adopt_disks": _BOOL,
    "sysprep": _SYSPREP,
    "cloud_init": _CLOUD_INIT,
    "access_credentials": _ACCESS_CREDENTIALS,
    "networks": _NETWORKS,
    "efi": _object({"secure_boot": _BOOL, "persistent": _BOOL}),
    "tpm": _object({"persistent": _BOOL}),
    "node_selector": _DICT,
    "tolerations": _DICTS,
    "eviction_strategy": _choice("None", "LiveMigrate", "LiveMigrateIfPossible", "External"),
    "data_volume_templates": _DICTS,
    "template": _DICT,
    "spec": _DICT,
    "accept_unknown_fields": _BOOL,
}
# A template has these as lists, whose items a task cannot name, or decides on them.
_OF_TEMPLATE: Final = (
    *("workload", "size", "boot", "volumes", "sysprep", "cloud_init"),
    *("access_credentials", "networks", "data_volume_templates"),
)
EXCLUSIVE: Final = [
    *((request, chosen) for request in ("workload", "size") for chosen in ("instancetype", "preference", "memory")),
    *(("from_template", option) for option in _OF_TEMPLATE),
]
"""A workload and what it chooses, a template and what it has. An entry of a list that sets the one loses the other."""
