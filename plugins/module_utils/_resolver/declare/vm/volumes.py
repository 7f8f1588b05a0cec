"""Volumes, disks and DataVolumes of a VM from the options `volumes` and `boot`, with names for nameless ones.

A generated name depends only on the VM, so that a second run finds what the first has created. Ansible has checked the
options, but takes null and an empty text for values: what they leave missing is found here.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, NamedTuple

from ...api.errors import FieldError
from ...api.manifest import Options
from ...api.name_rules import LABEL, LONGEST_LABEL, LONGEST_SUBDOMAIN, quoted, subdomain
from ...kubevirt.vm.plug_admission import BUSES
from ..argument_spec import fields, to_manifest
from ..validation import canonical_quantity
from . import cloud_init
from .disk_options import DISK_ROWS, IMPORT_SOURCES

# The letters of Kubernetes' generated names, which form no words.
_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX: Final = 5
_PLUGGED_SOURCES: Final = ("persistent_volume_claim", "data_volume", "import")


def generated_name(prefix: str, *seed: str) -> str:
    """A name like Kubernetes' generated names (`prefix-x7k2p`), but constant for the same seed."""
    number = int.from_bytes(hashlib.sha256("\0".join((prefix, *seed)).encode()).digest()[:8], "big")
    suffix = ""
    for _position in range(_SUFFIX):
        number, letter = divmod(number, len(_LETTERS))
        suffix += _LETTERS[letter]
    return f"{prefix}-{suffix}"


def check_label(path: str, name: str) -> None:
    """Raises FieldError unless the name is an RFC 1123 label, as for volumes. Lists all errors, in virtctl's words."""
    problems = []
    # The limit is in bytes.
    if len(name.encode("utf-8", "surrogatepass")) > LONGEST_LABEL:
        problems.append(f"is longer than {LONGEST_LABEL} characters")
    if not re.fullmatch(LABEL, name):
        form = "must consist of a-z, 0-9 and -, with a letter or digit at both ends"
        problems.append(form if subdomain(name) else "has dots")
    if problems:
        text = repr(name) if len(name) <= LONGEST_SUBDOMAIN else quoted(name)
        raise FieldError(path, f"{text} {' and '.join(problems)}; use a name such as root-disk")


# The sources of an import by option → the type of its fields.
_IMPORT_TYPES: Final = {
    **{field.option: field.type for field in fields("DataVolumeImport")},
    "data_source": "DataVolumeSourceRef",
}
# Copies have the size of their source.
_COPIES: Final = ("pvc", "snapshot", "data_source")


def _data_volume_spec(path: str, options: Options) -> dict[str, Any]:
    """The spec of the DataVolume for the options of an import.

    path: the position of the options, for errors. options: exactly one source, size, storage_class, access_modes,
    volume_mode. Raises FieldError, first for an invalid size, then for options of the source, then for a missing size.
    """
    storage = _storage(path, options)
    sources = [name for name in IMPORT_SOURCES if options.get(name) not in (None, False)]
    if len(sources) != 1:
        raise FieldError(path, f"requires exactly one of {', '.join(IMPORT_SOURCES)}")
    (name,) = sources
    values = {} if name == "blank" else {option: value for option, value in options[name].items() if value}
    for option, declaration in IMPORT_SOURCES[name].get("options", {}).items():
        if declaration.get("required") and option not in values:
            raise FieldError(f"{path}.{name}.{option}", "required for this source")
    if name == "registry" and ("url" in values) == ("image_stream" in values):
        raise FieldError(f"{path}.registry", "requires exactly one of url and image_stream")
    if options.get("size") is None and name not in _COPIES:
        raise FieldError(f"{path}.size", f"required; the source {name} does not define the size of the disk")
    source = to_manifest(_IMPORT_TYPES[name], values)
    if name == "data_source":
        return {"sourceRef": {"kind": "DataSource", **source}, "storage": storage}
    return {"source": {name: source}, "storage": storage}


def _storage(path: str, options: Options) -> dict[str, Any]:
    """The storage of a DataVolume; the cluster's storage profile decides what the options leave out."""
    storage: dict[str, Any] = {}
    if options.get("size") is not None:
        storage["resources"] = {"requests": {"storage": canonical_quantity(f"{path}.size", options["size"])}}
    for option, field in (
        ("storage_class", "storageClassName"),
        ("access_modes", "accessModes"),
        ("volume_mode", "volumeMode"),
    ):
        if options.get(option):
            storage[field] = options[option]
    return storage


Part = dict[str, Any]

SYSPREP_DISK: Final = "sysprepdisk"
_HIGHEST_BOOT_ORDER: Final = 2**32 - 1
_CDROM: Final = "cdrom"
_EMPTY_DRIVE: Final = "empty drive"


class Import(NamedTuple):
    """The options of a disk that is imported, and their path."""

    path: str
    options: Options


class Disks:
    """Collects the volumes of a VM: `volumes`, `disks` and `data_volume_templates` of its manifest.

    `disks` has an entry only for volumes with disk options; KubeVirt adds the others. `imports`: by their claims.
    """

    def __init__(self, vm: str) -> None:
        self.volumes: list[Part] = []
        self.disks: list[Part] = []
        self.data_volume_templates: list[Part] = []
        self.imports: dict[str, Import] = {}
        self._vm = vm
        self._names: set[str] = set()
        self._boot_orders: set[int] = set()
        self._counted: dict[str, int] = {}

    def add(self, path: str, options: Options) -> None:
        """Adds the volume of an entry of the option. Raises FieldError."""
        kind = _kind(path, options)
        if kind == _EMPTY_DRIVE:
            self._drive(path, options)
            return
        index = self._counted[kind] = self._counted.get(kind, -1) + 1
        name = options.get("name")
        # An empty name counts as not given, except for an import.
        if name is None or (not name and kind != "import"):
            name = self._default_name(kind, options, index)
        if kind == "import":
            # Report errors of the import before errors of its name, as virtctl does.
            spec = _data_volume_spec(f"{path}.import", options["import"])
            self._reserve_name(f"{path}.name", name)
            source = self._imported(f"{path}.import", name, options, spec)
        else:
            source = _SOURCES[kind](path, options)
            self._reserve_name(f"{path}.name", name)
        if options.get("hotpluggable"):
            _make_hotpluggable(path, kind, source)
        self.volumes.append({"name": name, **source})
        self._disk(path, name, options)

    def _drive(self, path: str, options: Options) -> None:
        """Adds an empty CD-ROM drive. A volume gets into it by its name."""
        name = options.get("name")
        if not name:
            raise FieldError(f"{path}.name", "required for an empty CD-ROM drive; the volume for it has the same name")
        self._reserve_name(f"{path}.name", name)
        self._disk(path, name, options)

    def add_named(self, path: str, name: str, source: Part) -> None:
        """Adds a volume that exists at most once. Raises FieldError if its name is taken."""
        self._reserve_name(path, name)
        self.volumes.append({"name": name, **source})

    def check_free(self, path: str, name: str) -> None:
        """Raises FieldError if a volume has that name."""
        if name in self._names:
            raise FieldError(path, f"another volume is already named {quoted(name)}; choose another name")

    def _reserve_name(self, path: str, name: str) -> None:
        """Reserves a name; it must be new and a label. path: the position of the option, for errors."""
        check_label(path, name)
        self.check_free(path, name)
        self._names.add(name)

    def _default_name(self, kind: str, options: Options, index: int) -> str:
        if kind in ("persistent_volume_claim", "data_volume"):
            return str(options[kind])
        if kind == "container_disk":
            return f"{self._vm}-containerdisk-{index}"
        if kind == "import":
            return generated_name("imported-volume", self._vm, str(index))
        return {"cloud_init": cloud_init.DISK, "sysprep": SYSPREP_DISK}.get(kind, f"{kind.replace('_', '')}-{index}")

    def _imported(self, path: str, name: str, options: Options, spec: Part) -> Part:
        """Adds the DataVolume of an import. Returns the source of the volume.

        Without a given name its DataVolume's name includes the VM's, to be unique in the namespace.
        """
        explicit_name = options["import"].get("name")
        data_volume_name = explicit_name or (f"{self._vm}-{name}" if options.get("name") else name)
        if explicit_name:
            check_label(f"{path}.name", explicit_name)
        self.imports[data_volume_name] = Import(path if path != "boot.import" else "boot", options["import"])
        self.data_volume_templates.append({"metadata": {"name": data_volume_name}, "spec": spec})
        return {"dataVolume": {"name": data_volume_name}}

    def _disk(self, path: str, name: str, options: Options) -> None:
        device, bus = options.get("device"), options.get("bus")
        if options.get("hotpluggable"):
            # KubeVirt plugs a volume only with a disk of its name, which gets nothing from the preference then.
            device = device or "disk"
            bus = _plugged_bus(path, device, bus)
        order = options.get("boot_order")
        if order is None and device is None and bus is None:
            return
        disk: Part = {"name": name}
        if device or bus:
            disk[device or "disk"] = {"bus": bus} if bus else {}
        if order is not None:
            self._check_boot_order(f"{path}.boot_order", order)
            disk["bootOrder"] = order
        self.disks.append(disk)

    def _check_boot_order(self, path: str, order: int) -> None:
        if order < 1:
            raise FieldError(path, f"{order} is too small; write 1 or more")
        if order > _HIGHEST_BOOT_ORDER:
            raise FieldError(path, f"{order} is too large; write {_HIGHEST_BOOT_ORDER} or less")
        if order in self._boot_orders:
            raise FieldError(path, f"{order} is used more than once; give each disk its own")
        self._boot_orders.add(order)


def sysprep_source(path: str, options: Options) -> Part:
    """The source of a volume for Windows' Sysprep. Raises FieldError."""
    fields = {"config_map": "configMap", "secret": "secret"}
    sources = {field: {"name": options[name]} for name, field in fields.items() if options.get(name)}
    if len(sources) != 1:
        raise FieldError(path, "requires exactly one of config_map and secret")
    return {"sysprep": sources}


def _kind(path: str, options: Options) -> str:
    sources = [kind for kind in (*_SOURCES, "import") if options.get(kind) is not None]
    if not sources and options.get("device") == _CDROM:
        return _EMPTY_DRIVE
    if len(sources) != 1:
        raise FieldError(
            path,
            f"requires exactly one of {', '.join((*_SOURCES, 'import'))}, or device: cdrom alone for an empty drive",
        )
    if options[sources[0]] == "":
        raise FieldError(f"{path}.{sources[0]}", "is empty")
    return sources[0]


_SOURCES: Final[dict[str, Any]] = {
    "container_disk": lambda _path, options: {"containerDisk": {"image": options["container_disk"]}},
    "persistent_volume_claim": lambda _path, options: {
        "persistentVolumeClaim": {"claimName": options["persistent_volume_claim"]}
    },
    "data_volume": lambda _path, options: {"dataVolume": {"name": options["data_volume"]}},
    "empty_disk": lambda path, options: {
        "emptyDisk": {"capacity": canonical_quantity(f"{path}.empty_disk", options["empty_disk"])}
    },
    "cloud_init": lambda path, options: cloud_init.source(options["cloud_init"]),
    "sysprep": lambda path, options: sysprep_source(f"{path}.sysprep", options["sysprep"]),
}


BOOT_VOLUME: Final = "boot"
# The size behind a URL is unknown; this suffices for the usual images of operating systems.
_SIZE_OF_DOWNLOAD: Final = "30Gi"
_SOURCE_OF_SCHEME: Final = {
    "http": "http",
    "https": "http",
    "gs": "gcs",
    "docker": "registry",
    "oci-archive": "registry",
}
_BOOT_SOURCES: Final = DISK_ROWS["boot"].spec["required_one_of"][0]


def boot_volume(boot: Options) -> Options:
    """The entry of `volumes` for the option. Raises FieldError."""
    if boot.get("container_disk"):
        return {"name": BOOT_VOLUME, "container_disk": boot["container_disk"]}
    if boot.get("pvc"):
        return {"name": BOOT_VOLUME, "persistent_volume_claim": boot["pvc"]}
    storage = {name: value for name, value in boot.items() if name not in _BOOT_SOURCES and value is not None}
    if boot.get("data_source"):
        return {"name": BOOT_VOLUME, "import": {"data_source": _data_source(boot["data_source"]), **storage}}
    if boot.get("url"):
        return {"name": BOOT_VOLUME, "import": {"size": _SIZE_OF_DOWNLOAD, **storage, **_download(boot["url"])}}
    raise FieldError("boot", "requires one of data_source, pvc, container_disk and url")


def lacks_labels(boot: Options) -> bool:
    """Whether the disk has no labels from which KubeVirt could infer instancetype and preference."""
    return not (boot.get("data_source") or boot.get("pvc"))


def _data_source(text: str) -> Options:
    namespace, slash, name = text.rpartition("/")
    if not name or "/" in namespace or (slash and not namespace):
        raise FieldError("boot.data_source", f"{quoted(text)} is neither a name nor namespace/name")
    return {"name": name, **({"namespace": namespace} if namespace else {})}


def _download(url: str) -> Options:
    scheme = url.partition("://")[0].lower()
    if "://" not in url or scheme not in _SOURCE_OF_SCHEME:
        schemes = ", ".join(f"{name}://" for name in _SOURCE_OF_SCHEME)
        raise FieldError("boot.url", f"must begin with one of {schemes}; use volumes[].import for other sources")
    return {_SOURCE_OF_SCHEME[scheme]: {"url": url}}


def _make_hotpluggable(path: str, kind: str, source: dict[str, Any]) -> None:
    """Marks the source of a volume. path: the position of the volume's options. kind: the option of the source. Raises
    FieldError for a source that only a stopped VM takes.
    """
    if kind not in _PLUGGED_SOURCES:
        raise FieldError(
            f"{path}.hotpluggable", f"only valid for {', '.join(_PLUGGED_SOURCES)}, not for {kind}; remove it"
        )
    for source_fields in source.values():
        source_fields["hotpluggable"] = True


def _plugged_bus(path: str, device: str, bus: str | None) -> str | None:
    """The bus of a hotpluggable disk (``ValidateHotplugDiskConfiguration``).

    None: the preference's bus, which only a CD-ROM drive gets. Raises FieldError for a bus that KubeVirt does not plug.
    """
    buses = BUSES.get(device)
    if buses is None:
        return bus
    if bus is not None and bus not in buses:
        raise FieldError(
            f"{path}.bus", f"{bus} cannot be plugged into a running guest; write {' or '.join(buses)}, or remove it"
        )
    return bus or buses[0]
