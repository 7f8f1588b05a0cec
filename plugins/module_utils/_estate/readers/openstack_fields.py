"""The fields of OpenStack: what is ignored on purpose, and what of servers, flavors and images no VM gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from ..._resolver.api.name_rules import quoted
from .reading import Reading, text_of


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(";"))


# Keys in lower case, with blanks for underscores; `*` stands for any text.
USED: Final[Mapping[str, tuple[str, ...]]] = {
    "servers": _names(
        "id; name; status; networks; addresses; image; image id; image name; flavor; flavor id; flavor name;"
        "project id; project; tenant id; tags; security groups; config drive; scheduler hints; server groups;"
        "volumes attached; attached volumes; os-extended-volumes:volumes attached"
    ),
    "flavors": _names(
        "id; name; original name; ram; disk; ephemeral; os-flv-ext-data:ephemeral; swap; vcpus; properties; extra specs"
    ),
    "images": _names("id; name; properties"),
    "volumes": _names(
        "id; name; size; type; volume type; attached to; attachments; bootable; encrypted; volume image metadata"
    ),
}
# Places, times, states of a moment, links, and what programs in the guest have read already.
IGNORED: Final[Mapping[str, tuple[str, ...]]] = {
    "servers": _names(
        "task state; power state; vm state; availability zone; pinned availability zone; host; properties; metadata;"
        "created*; updated*; launched*; terminated*; progress; user id; key name; hostid; host id; host status;"
        "accessipv?; access ipv?; links; os-*; disk config; compute host; hypervisor hostname; hostname; instance name;"
        "kernel id; ramdisk id; launch index; reservation id; root device name; user data; description; locked;"
        "locked reason; is locked; trusted image certificates; fault; adminpass; admin password; location;"
        "has config drive; *count; personality; block device*; created at; interface ip; private v?; public v?; cloud;"
        "region; az; volumes; instance_name"
    ),
    "flavors": _names(
        "is public; os-flavor-access:is public; is disabled; os-flv-disabled:disabled; rxtx factor; description; links;"
        "location; access project ids"
    ),
    # Each other key of an image is a property, see below.
    "images": ("*",),
    "volumes": _names(
        "status; properties; metadata; os-*; links; location; created at; updated at; description; availability zone;"
        "user id; snapshot id; source volid; consistencygroup id; group id; migration status; replication*;"
        "multiattach; is multiattach; is bootable; is encrypted; provider id; service uuid; shared targets;"
        "cluster name; volume type id; consumes quota; encryption key id; host; project id; backup id; extended*;"
        "scheduler hints; image id; migration id; volume_*"
    ),
}
# Extra specs of flavors and properties of images that are read, or that say nothing a VM needs.
SPECS: Final = _names(
    "hw:cpu_policy; hw:mem_page_size; hw:tpm_version; os:secure_boot; pci_passthrough:alias; resources:vgpu;"
    "resources:vcpu; resources:memory_mb; resources:disk_gb; hw:cpu_sockets; hw:cpu_cores; hw:cpu_threads;"
    "hw:cpu_max_*; hw:max_*; hw:tpm_model; hw:boot_menu; hw:locked_memory; hw_rng:*; hw_video:*; hw:maxphysaddr_*;"
    "aggregate_instance_extra_specs:*; :category; :architecture"
)
PROPERTIES: Final = _names(
    "hw_cpu_policy; hw_mem_page_size; hw_tpm_version; hw_firmware_type; os_secure_boot; os_distro; os_version; os_type;"
    "hw_cpu_sockets; hw_cpu_cores; hw_cpu_threads; hw_cpu_max_*; hw_disk_bus; hw_scsi_model; hw_vif_model;"
    "hw_tpm_model; hw_cdrom_bus; hw_video_model; hw_video_ram; hw_qemu_guest_agent; hw_machine_type; hw_rng_model;"
    "hw_boot_menu; hw_input_bus; hw_pointer_model; hw_time_hpet; hw_locked_memory; hw_rescue_*; hw_maxphysaddr_*;"
    "os_require_quiesce; os_admin_user; os_hash_*; os_hidden; os_glance_*; os_shutdown_timeout; os_skip_agent_*"
)
_OF_HARDWARE: Final = ("hw_", "os_", "trait:", "hw:", "architecture")
_NATIVE: Final = ("", "x86_64", "amd64")


def _in(key: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def note_unknown(reading: Reading, name: str, entry: Mapping[str, Any]) -> None:
    """Remembers keys of no known meaning of an entry of a list."""
    unknown = (key for key, value in entry.items() if value and not _in(key, (*USED[name], *IGNORED[name])))
    reading.unknown[name].update(dict.fromkeys(unknown))


def tell_unknown(reading: Reading) -> None:
    """Adds a remark on keys of no known meaning."""
    for name in USED:
        if reading.unknown[name]:
            reading.remarks.append(f"{name}: keys of no known meaning do not count: {', '.join(reading.unknown[name])}")


def lost(server: Mapping[str, Any], specs: Mapping[str, str], image: Mapping[str, str]) -> list[str]:
    """Lines on what of a server, the extra specs of its flavor and the properties of its image no VM gets."""
    lines = []
    groups = server.get("security groups") or ()
    names = [text_of(item.get("name") if isinstance(item, Mapping) else item) for item in _listed(groups)]
    if names:
        lines.append(f"security groups ({', '.join(dict.fromkeys(names))})")
    if text_of(server.get("config drive")).lower() in ("true", "1"):
        lines.append("its configuration drive")
    for key in ("scheduler hints", "server groups"):
        if server.get(key):
            lines.append(f"{key} ({quoted(text_of(server[key]))})")
    for key, value in sorted(specs.items()):
        if value and not _in(key.lower(), SPECS):
            lines.append(f"the extra spec {key}={value} of the flavor")
    for key, value in sorted(image.items()):
        is_native = key == "architecture" and value in _NATIVE
        if value and key.startswith(_OF_HARDWARE) and not is_native and not _in(key, PROPERTIES):
            lines.append(f"the property {key}={value} of the image")
    return lines


def _listed(value: Any) -> list[Any]:
    """A list, or the names in a text of the client: ``name='default'``."""
    if isinstance(value, list):
        return value
    return [part.partition("=")[2].strip("' ") for part in text_of(value).splitlines() if "name=" in part]
