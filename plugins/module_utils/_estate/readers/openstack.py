"""Servers, flavors and images of OpenStack, as its client prints them in JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import first_names, quoted
from ..machine import GIB, MIB, Machine
from . import openstack_fields
from .reading import TPM_STATE, Reading, text_of, whole_of

Entry = Mapping[str, Any]

_POWER: Final = {
    **dict.fromkeys(("active", "reboot", "hard_reboot", "verify_resize", "resize", "migrating", "password"), "on"),
    **dict.fromkeys(("shutoff", "shelved", "shelved_offloaded"), "off"),
    **dict.fromkeys(("suspended", "paused"), "suspended"),
}
_DELETED: Final = ("deleted", "soft_deleted")
_SHELVED: Final = "shelved"
_PAGES: Final = {"large": "2Mi", "2mb": "2Mi", "2048": "2Mi", "1gb": "1Gi", "1048576": "1Gi"}
_MAC: Final = "OS-EXT-IPS-MAC:mac_addr"
_ADDRESS_KIND: Final = "OS-EXT-IPS:type"
_FROM_VOLUME: Final = "booted from volume"
# A name and an ID, as the client shows them together.
_NAME_AND_ID: Final = re.compile(r"(.*) \(([^()]+)\)")
_NO_FLAVOR: Final = "names no flavor; save openstack server list --long -f json"
# Specs in the text of a flavor.
_SPEC: Final = "extra_specs."
_VOLUMES_OF: Final = ("volumes attached", "attached volumes", "os-extended-volumes:volumes attached")


def read(
    servers: Sequence[Entry], flavors: Sequence[Entry], images: Sequence[Entry] = (), volumes: Sequence[Entry] = ()
) -> Reading:
    """The machines. Keys count without regard to case, as the client and the API write them. Raises FieldError."""
    reading = Reading()
    by_flavor = _indexed(reading, "flavors", flavors)
    by_image = _indexed(reading, "images", images)
    _indexed(reading, "volumes", volumes)
    attached = _attached(reading, volumes)
    for index, entry in enumerate(servers):
        place = f"servers[{index}]"
        server = _lowercase_keys(place, entry)
        openstack_fields.note_unknown(reading, "servers", server)
        if text_of(server.get("status")).lower() in _DELETED:
            reading.left_out["deleted"] += 1
        else:
            volumes_of_server = attached.get(text_of(server.get("id")), [])
            _add(reading, place, server, by_flavor, by_image, volumes_of_server)
    openstack_fields.tell_unknown(reading)
    return reading


def _add(
    reading: Reading,
    place: str,
    server: Entry,
    by_flavor: Mapping[str, Entry],
    by_image: Mapping[str, Entry],
    volumes: Sequence[Entry],
) -> None:
    """Adds the machine of a server, or refuses it. volumes: attached to the server."""
    name = text_of(server.get("name")) or place
    flavor, shown = _flavor(server, by_flavor)
    if not flavor:
        problem = f"no flavor {quoted(shown)} in the list of flavors" if shown else _NO_FLAVOR
        reading.refuse(place, name, problem)
        return
    figures = {}
    for key in ("vcpus", "ram"):
        try:
            figures[key] = whole_of(flavor.get(key), grouped=key == "ram")
        except ValueError as error:
            reading.refuse(f"{place}, {key} of the flavor", name, str(error))
            return
    size = {"vcpus": figures["vcpus"], "memory": figures["ram"] * MIB}
    found = next((by_image[key] for key in _image_of(server) if key in by_image), {})
    if not found:
        # A volume keeps the properties of the image that it was made of.
        kept: Any = next(filter(None, (volume.get("volume image metadata") for volume in volumes)), {})
        found = {"properties": kept, "name": _properties(kept).get("image_name")}
    # openstacksdk has the properties that it knows beside the others.
    known = {key.replace(" ", "_"): value for key, value in found.items() if isinstance(value, str)}
    properties = {**known, **_properties(found.get("properties"))}
    try:
        text = _image_name(server) or text_of(found.get("name"))
        machine = _machine(server, flavor, properties, volumes, text)
        reading.add(place, {"id": text_of(server.get("id")) or name, "name": name, **size, **machine})
    except ValueError as error:
        reading.refuse(place, name, f"a size of a disk or a number of devices: {error}")


def _flavor(server: Entry, by_flavor: Mapping[str, Entry]) -> tuple[Entry, str]:
    """(the flavor, how the server names it).

    Newer APIs embed it as it was when the server was created; it may have gone since.
    """
    embedded = server.get("flavor")
    text = text_of(embedded) if isinstance(embedded, str) else ""
    parts: Any = embedded if isinstance(embedded, Mapping) else _properties(text)
    own = _lowercase_keys("flavor", parts)
    if own.get("vcpus"):
        specs = {key.removeprefix(_SPEC): value for key, value in parts.items() if str(key).startswith(_SPEC)}
        return ({**own, "extra specs": specs} if specs else own), ""
    name_and_id = _NAME_AND_ID.fullmatch(text)
    wanted = (server.get("flavor id"), own.get("id"), *(name_and_id.groups()[::-1] if name_and_id else ()), text,
              server.get("flavor name"), own.get("original name"), own.get("name"))  # fmt: skip
    named = [text_of(key) for key in wanted if text_of(key)]
    shown = text_of(server.get("flavor name")) or text or next(iter(named), "")
    return next((by_flavor[key] for key in named if key in by_flavor), {}), shown


def _indexed(reading: Reading, option: str, entries: Sequence[Entry]) -> dict[str, dict[str, Any]]:
    """The entries by ID and by name."""
    found: dict[str, dict[str, Any]] = {}
    for index, entry in enumerate(entries):
        lowered = _lowercase_keys(f"{option}[{index}]", entry)
        openstack_fields.note_unknown(reading, option, lowered)
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


def _machine(server: Entry, flavor: Entry, image: Mapping[str, str], volumes: Sequence[Entry], text: str) -> Machine:
    extra = _properties(flavor.get("properties") or flavor.get("extra specs"))
    both = {
        **{key.replace("_", ":", 1): value for key, value in image.items() if key.startswith(("hw_", "os_"))},
        **extra,
    }
    secure = both.get("os:secure_boot", "").lower()
    devices = [f"pci_passthrough:{alias}" for alias in filter(None, extra.get("pci_passthrough:alias", "").split(","))]
    devices += ["VGPU"] * whole_of(extra.get("resources:VGPU") or 0)
    status = text_of(server.get("status")).lower()
    tpm = both.get("hw:tpm_version")
    lost = openstack_fields.lost(server, extra, image)
    if tpm:
        lost.append(TPM_STATE)
    if status.startswith(_SHELVED):
        lost.append("the content of its disk, which is shelved as an image")
    elif status and status not in _POWER:
        lost.append(f"its state {status.upper()}")
    pages = both.get("hw:mem_page_size", "").lower()
    if pages not in ("", "small", "any", *_PAGES):
        lost.append(f"memory pages of {pages}")
    nics = _nics(server, lost)
    return {
        "folder": text_of(server.get("project id") or server.get("project") or server.get("tenant id")),
        "power": _POWER.get(status),
        "firmware": {"uefi": "efi", "bios": "bios"}.get(image.get("hw_firmware_type", "").lower()),
        "secure_boot": None if not secure else secure == "required",
        "tpm": True if tpm else None,
        "guest": {
            "distro": image.get("os_distro"),
            "version": image.get("os_version"),
            "text": text if not image.get("os_distro") else "",
            "id": image.get("os_type"),
        },
        "reserved": {"cpu": both.get("hw:cpu_policy") == "dedicated" or None},
        "hugepages": _PAGES.get(pages),
        "passthrough": devices,
        "disks": _disks(server, flavor, volumes, lost),
        "nics": nics,
        "tags": {text_of(tag): "true" for tag in server.get("tags") or () if text_of(tag)},
        "not_brought": lost,
    }


def _image_of(server: Entry) -> list[str]:
    """The ID and the name of the image; the client has words for "none", the API an empty text."""
    image = server.get("image")
    text = text_of(image.get("id") if isinstance(image, Mapping) else image)
    found = _NAME_AND_ID.fullmatch(text)
    names = [text_of(server.get("image id")), *(found.groups()[::-1] if found else (text,)), _image_name(server)]
    words = (text, *(text_of(server.get(key)) for key in ("image id", "image name")))
    return [] if any(_FROM_VOLUME in word for word in words) else [name for name in names if name]


def _image_name(server: Entry) -> str:
    name = text_of(server.get("image name"))
    name = "" if _FROM_VOLUME in name else name
    image = server.get("image")
    found = _NAME_AND_ID.fullmatch(image) if isinstance(image, str) else None
    return name or (found[1] if found else "")


def _disks(server: Entry, flavor: Entry, volumes: Sequence[Entry], lost: list[str]) -> list[dict[str, Any]]:
    """The disks of the flavor and the volumes. A server with an image boots from the first disk of the flavor."""
    told = any(key in server for key in ("image", "image id", "image name"))
    has_image = bool(_image_of(server)) or (not told and not volumes)
    size = whole_of(flavor.get("disk") or 0)
    disks = [{"name": "root", "size": size * GIB, "storage": "ephemeral"}] if size and has_image else []
    if has_image and told and not size:
        lost.append("root: a disk whose size the image decides, because the flavor has none")
    if told and not has_image and not volumes:
        lost.append("its volumes, from which it boots; save openstack volume list --long -f json too")
    own = {text_of(volume.get("id")) for volume in volumes}
    missing = [key for key in _volume_ids(server) if key not in own] if volumes or has_image else []
    if missing:
        lost.append(f"volumes that are not in the list ({', '.join(missing)})")
    attached: list[dict[str, Any]] = []
    for volume in volumes:
        name = text_of(volume.get("name")) or text_of(volume.get("id"))
        if text_of(volume.get("encrypted")).lower() == "true":
            lost.append(f"{name}: its encryption")
        attached.append(
            {
                "id": text_of(volume.get("id")),
                "name": name,
                "size": whole_of(volume.get("size") or 0) * GIB,
                "storage": text_of(volume.get("type") or volume.get("volume type")),
                "shared": volume.get("shared"),
            }
        )
    # Without an image, the first volume is what the server boots from.
    first = 0 if has_image else 1
    return [*disks, *attached[:first], *_further(flavor), *attached[first:]]


def _further(flavor: Entry) -> list[dict[str, Any]]:
    """The additional disks of a flavor, empty at the start."""
    ephemeral = whole_of(flavor.get("ephemeral") or flavor.get("os-flv-ext-data:ephemeral") or 0)
    sizes = {"ephemeral": ephemeral * GIB, "swap": whole_of(flavor.get("swap") or 0) * MIB}
    return [{"name": name, "size": size, "storage": "ephemeral"} for name, size in sizes.items() if size]


def _volume_ids(server: Entry) -> list[str]:
    """The IDs of the volumes that a server says it has."""
    found = next((server[key] for key in _VOLUMES_OF if server.get(key)), ())
    if isinstance(found, list):
        return [text_of(item.get("id") if isinstance(item, Mapping) else item) for item in found]
    return re.findall(r"\bid='([^']+)'", text_of(found))


def _attached(reading: Reading, volumes: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Volumes by the ID of the server, in the order of their devices. Adds a remark on volumes without a server."""
    found: dict[str, list[tuple[tuple[str, bool], Entry]]] = {}
    free = []
    for index, entry in enumerate(volumes):
        volume = _lowercase_keys(f"volumes[{index}]", entry)
        places = dict(_places(volume.get("attached to") or volume.get("attachments")))
        if not places:
            free.append(text_of(volume.get("name")) or text_of(volume.get("id")))
        for server, device in places.items():
            order = (device, text_of(volume.get("bootable")).lower() != "true")
            found.setdefault(server, []).append((order, {**volume, "shared": len(places) > 1 or None}))
    if free:
        reading.remarks.append(
            f"volumes: {len(free)} are attached to no server and are not brought: {first_names(free, 5)}"
        )
    return {key: [volume for _device, volume in sorted(entries, key=itemgetter(0))] for key, entries in found.items()}


def _places(value: Any) -> Iterator[tuple[str, str]]:
    """(ID of a server, device) of attachments, in the API's list or in the client's text."""
    for place in value if isinstance(value, (list, tuple)) else ():
        if isinstance(place, Mapping) and place.get("server_id"):
            yield text_of(place["server_id"]), text_of(place.get("device"))
    if isinstance(value, str):
        yield from re.findall(r"(?i)attached to (\S+) on (\S*)", value)
        yield from ((own, "") for own in re.findall(r"server_id'?\"?[:=] ?['\"]([^'\"]+)", value))


def _nics(server: Entry, lost: list[str]) -> list[dict[str, Any]]:
    """One interface for each network, with the address in hardware where the API tells it."""
    value = server.get("networks") or server.get("addresses") or {}
    if not isinstance(value, Mapping):
        names = [part.partition("=")[0].strip() for part in re.split("[;\n]", text_of(value))]
        return [{"network": name} for name in names if name]
    nics = []
    for network, addresses in value.items():
        listed = [item for item in addresses if isinstance(item, Mapping)] if isinstance(addresses, list) else []
        lost += [
            f"floating address {text_of(item.get('addr'))}" for item in listed if item.get(_ADDRESS_KIND) == "floating"
        ]
        macs = [text_of(item.get(_MAC)) for item in listed]
        nics += [{"network": str(network), "mac": mac} for mac in dict.fromkeys(filter(None, macs)) or [""]]
    return nics
