"""Servers, flavors and images of OpenStack, as its client prints them in JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import quoted
from ..machine import GIB, MIB, Machine
from .reading import Reading, text_of, whole_of

Entry = Mapping[str, Any]

_POWER: Final = {"active": "on", "shutoff": "off", "suspended": "suspended", "paused": "suspended"}
_PAGES: Final = {"large": "2Mi", "2mb": "2Mi", "2048": "2Mi", "1gb": "1Gi", "1048576": "1Gi"}
_MAC: Final = "OS-EXT-IPS-MAC:mac_addr"


def read(
    servers: Sequence[Entry], flavors: Sequence[Entry], images: Sequence[Entry] = (), volumes: Sequence[Entry] = ()
) -> Reading:
    """The machines. Keys count without regard to case, as the client and the API write them. Raises FieldError."""
    reading = Reading()
    by_flavor = _indexed("flavors", flavors)
    by_image = _indexed("images", images)
    attached = _attached(volumes)
    for index, entry in enumerate(servers):
        server = _lowercase_keys(f"servers[{index}]", entry)
        name = text_of(server.get("name")) or f"servers[{index}]"
        # Newer APIs embed the flavor as it was when the server was created; it may have gone since.
        embedded = server.get("flavor")
        flavor = _lowercase_keys("flavor", embedded) if isinstance(embedded, Mapping) else {}
        if not flavor.get("vcpus"):
            wanted = (server.get("flavor id"), flavor.get("id"), embedded, server.get("flavor name"))
            flavor = next((by_flavor[text_of(key)] for key in wanted if text_of(key) in by_flavor), {})
        if not flavor:
            shown = server.get("flavor name") or embedded or server.get("flavor id")
            reading.refuse(f"servers[{index}]", name, f"no flavor {quoted(text_of(shown))} in the list of flavors")
            continue
        try:
            size = {"vcpus": whole_of(flavor.get("vcpus"), grouped=False), "memory": whole_of(flavor.get("ram")) * MIB}
        except ValueError as error:
            reading.refuse(f"servers[{index}], flavor", name, str(error))
            continue
        found = by_image.get(_image_of(server), {})
        # openstacksdk has the properties that it knows beside the others.
        known = {key.replace(" ", "_"): value for key, value in found.items() if isinstance(value, str)}
        properties = {**known, **_properties(found.get("properties"))}
        own = text_of(server.get("id"))
        try:
            machine = _machine(server, flavor, properties, attached.get(own, []))
            reading.add(f"servers[{index}]", {"id": own or name, "name": name, **size, **machine})
        except ValueError as error:
            reading.refuse(f"servers[{index}]", name, f"a size of a disk or a number of devices: {error}")
    return reading


def _indexed(option: str, entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """The entries by ID and by name."""
    found: dict[str, dict[str, Any]] = {}
    for index, entry in enumerate(entries):
        lowered = _lowercase_keys(f"{option}[{index}]", entry)
        for key in ("name", "id"):
            if text_of(lowered.get(key)):
                found[text_of(lowered[key])] = lowered
    return found


def _lowercase_keys(place: str, entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise FieldError(place, f"expected an object, found {quoted(entry)}")
    return {str(key).lower().replace("_", " "): value for key, value in entry.items()}


def _properties(value: Any) -> dict[str, str]:
    """Properties as an object, or as the client writes them in a column: ``hw:cpu_policy='dedicated', ...``."""
    if isinstance(value, Mapping):
        return {str(key): text_of(entry) for key, entry in value.items()}
    return {match[1]: match[2] for match in re.finditer(r"([\w:.-]+)='([^']*)'", text_of(value))}


def _machine(server: Entry, flavor: Entry, image: Mapping[str, str], volumes: Sequence[Entry]) -> Machine:
    extra = _properties(flavor.get("properties") or flavor.get("extra specs"))
    secure = extra.get("os:secure_boot", image.get("os_secure_boot", "")).lower()
    devices = [f"pci_passthrough:{alias}" for alias in filter(None, extra.get("pci_passthrough:alias", "").split(","))]
    devices += ["VGPU"] * whole_of(extra.get("resources:VGPU") or 0)
    return {
        "folder": text_of(server.get("project id") or server.get("project") or server.get("tenant id")),
        "power": _POWER.get(text_of(server.get("status")).lower()),
        "firmware": {"uefi": "efi", "bios": "bios"}.get(image.get("hw_firmware_type", "").lower()),
        "secure_boot": None if not secure else secure == "required",
        "tpm": True if extra.get("hw:tpm_version", image.get("hw_tpm_version")) else None,
        "guest": {
            "distro": image.get("os_distro"),
            "version": image.get("os_version"),
            "text": text_of(server.get("image name")) if not image.get("os_distro") else "",
            "id": image.get("os_type"),
        },
        "reserved": {"cpu": extra.get("hw:cpu_policy") == "dedicated" or None},
        "hugepages": _PAGES.get(extra.get("hw:mem_page_size", "").lower()),
        "passthrough": devices,
        "disks": _disks(server, flavor, volumes),
        "nics": _nics(server),
    }


def _image_of(server: Entry) -> str:
    """The ID or the name of the image; the client has words for "none", the API an empty text."""
    image = server.get("image")
    own = text_of(server.get("image id")) or text_of(image.get("id") if isinstance(image, Mapping) else image)
    name = own or text_of(server.get("image name"))
    return "" if "booted from volume" in name else name


def _disks(server: Entry, flavor: Entry, volumes: Sequence[Entry]) -> list[dict[str, Any]]:
    """The disk of the flavor, if the server boots from an image, and the volumes."""
    root = {"name": "root", "size": whole_of(flavor.get("disk") or 0) * GIB, "storage": "ephemeral"}
    disks = [root] if root["size"] and (_image_of(server) or not volumes) else []
    for volume in volumes:
        name = text_of(volume.get("name")) or text_of(volume.get("id"))
        kind = text_of(volume.get("type") or volume.get("volume type"))
        disks.append(
            {
                "id": text_of(volume.get("id")),
                "name": name,
                "size": whole_of(volume.get("size") or 0) * GIB,
                "storage": kind,
            }
        )
    return disks


def _attached(volumes: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Volumes by the ID of the server, in the order of their devices."""
    found: dict[str, list[tuple[str, Entry]]] = {}
    for index, entry in enumerate(volumes):
        volume = _lowercase_keys(f"volumes[{index}]", entry)
        places = volume.get("attached to") or volume.get("attachments") or ()
        for place in places if isinstance(places, (list, tuple)) else ():
            if isinstance(place, Mapping) and place.get("server_id"):
                found.setdefault(text_of(place["server_id"]), []).append((text_of(place.get("device")), volume))
    return {key: [volume for _device, volume in sorted(entries, key=itemgetter(0))] for key, entries in found.items()}


def _nics(server: Entry) -> list[dict[str, Any]]:
    """One interface for each network, with the address in hardware where the API tells it."""
    value = server.get("networks") or server.get("addresses") or {}
    if not isinstance(value, Mapping):
        names = [part.partition("=")[0].strip() for part in re.split("[;\n]", text_of(value))]
        return [{"network": name} for name in names if name]
    nics = []
    for network, addresses in value.items():
        listed = addresses if isinstance(addresses, list) else ()
        macs = [text_of(item.get(_MAC)) for item in listed if isinstance(item, Mapping)]
        nics += [{"network": str(network), "mac": mac} for mac in dict.fromkeys(filter(None, macs)) or [""]]
    return nics
