"""Volumes, disks and DataVolumes of a VM from the option `volumes`."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api.errors import FieldError
from ..amount import amount
from . import cloud_init
from .imports import data_volume_spec
from .names import Names, check_label, derived

Options = dict[str, Any]
Part = dict[str, Any]

SYSPREP_DISK: Final = "sysprepdisk"
_HIGHEST_BOOT_ORDER: Final = 2**32 - 1


class _Made(NamedTuple):
    """A volume without its name, and the DataVolume that fills it, if any."""

    source: Part
    data_volume: Part | None = None


class Disks:
    """Collects the volumes of a VM: `volumes`, `disks` and `data_volume_templates` of its manifest.

    `disks` has an entry only for volumes with disk options; KubeVirt adds the others.
    """

    def __init__(self, vm: str) -> None:
        self.volumes: list[Part] = []
        self.disks: list[Part] = []
        self.data_volume_templates: list[Part] = []
        self._vm = vm
        self._names = Names()
        self._boot_orders: set[int] = set()
        self._counted: dict[str, int] = {}

    def add(self, path: str, options: Options) -> str:
        """Adds the volume of an entry of the option and returns its name. Raises FieldError."""
        kind = _kind(path, options)
        index = self._counted[kind] = self._counted.get(kind, -1) + 1
        name = options.get("name")
        # An empty name counts as not given, except for an import.
        if name is None or (not name and kind != "import"):
            name = self._default_name(kind, options, index)
        if kind == "import":
            # Report errors of the import before those of its name, as virtctl does.
            spec = data_volume_spec(f"{path}.import", options["import"])
            self._names.take(f"{path}.name", name)
            made = self._imported(f"{path}.import", name, options, spec)
        else:
            made = _Made(_SOURCES[kind](path, options))
            self._names.take(f"{path}.name", name)
        self._put(name, made)
        self._disk(path, name, options)
        return str(name)

    def add_named(self, path: str, name: str, source: Part) -> None:
        """Adds a volume that exists at most once. Raises FieldError if its name is taken."""
        self._names.take(path, name)
        self._put(name, _Made(source))

    def check_free(self, path: str, name: str) -> None:
        """Raises FieldError if a volume has that name."""
        self._names.check_free(path, name)

    def _put(self, name: str, made: _Made) -> None:
        self.volumes.append({"name": name, **made.source})
        if made.data_volume is not None:
            self.data_volume_templates.append(made.data_volume)

    def _default_name(self, kind: str, options: Options, index: int) -> str:
        if kind == "persistent_volume_claim":
            return str(options[kind])
        if kind == "data_volume":
            return str(options[kind])
        if kind == "container_disk":
            return f"{self._vm}-containerdisk-{index}"
        if kind == "import":
            return derived("imported-volume", self._vm, str(index))
        return {"cloud_init": cloud_init.DISK, "sysprep": SYSPREP_DISK}.get(kind, f"{kind.replace('_', '')}-{index}")

    def _imported(self, path: str, name: str, options: Options, spec: Part) -> _Made:
        """The volume of an import.

        Without a given name its DataVolume's name includes the VM's, to be unique in the namespace.
        """
        given = options["import"].get("name")
        own = given or (f"{self._vm}-{name}" if options.get("name") else name)
        if given:
            check_label(f"{path}.name", given)
        return _Made({"dataVolume": {"name": own}}, {"metadata": {"name": own}, "spec": spec})

    def _disk(self, path: str, name: str, options: Options) -> None:
        if not any(options.get(option) is not None for option in ("boot_order", "bus", "device")):
            return
        target = {"bus": options["bus"]} if options.get("bus") else {}
        disk: Part = {"name": name}
        if options.get("device") or target:
            disk[options.get("device") or "disk"] = target
        order = options.get("boot_order")
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
    given = [
        (field, options[name])
        for name, field in (("config_map", "configMap"), ("secret", "secret"))
        if options.get(name)
    ]
    if len(given) != 1:
        raise FieldError(path, "requires exactly one of config_map and secret")
    return {"sysprep": {given[0][0]: {"name": given[0][1]}}}


def _kind(path: str, options: Options) -> str:
    given = [kind for kind in (*_SOURCES, "import") if options.get(kind) is not None]
    if len(given) != 1:
        raise FieldError(path, f"requires exactly one of {', '.join((*_SOURCES, 'import'))}")
    if options[given[0]] == "":
        raise FieldError(f"{path}.{given[0]}", "is empty")
    return given[0]


_SOURCES: Final[dict[str, Any]] = {
    "container_disk": lambda _path, options: {"containerDisk": {"image": options["container_disk"]}},
    "persistent_volume_claim": lambda _path, options: {
        "persistentVolumeClaim": {"claimName": options["persistent_volume_claim"]}
    },
    "data_volume": lambda _path, options: {"dataVolume": {"name": options["data_volume"]}},
    "empty_disk": lambda path, options: {
        "emptyDisk": {"capacity": amount(f"{path}.empty_disk", options["empty_disk"])}
    },
    "cloud_init": lambda path, options: cloud_init.source(options["cloud_init"]),
    "sysprep": lambda path, options: sysprep_source(f"{path}.sysprep", options["sysprep"]),
}
