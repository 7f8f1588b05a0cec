"""VMs that are the hosts of an inventory, as the playbook virtual_machines declares them.

Ansible itself reads the inventory with its group_vars and host_vars, so that patterns such as ``web[1:3]`` and the
precedence of variables are its own. Inventories in YAML and INI are read; nothing of them is executed or decrypted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.inventory.helpers import sort_groups
from ansible.module_utils.common.text.converters import to_text
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader, vars_loader

from ...module_utils._resolver.api.finding import ERROR, NOTE
from .findings import LocatedFinding, Location
from .sources import Repository, encrypted, is_encrypted, mapping_items

Variables = dict[str, Any]

_VM: Final = "virtual_machine"
_DEFAULTS: Final = "virtual_machines_defaults"
_KEYS: Final = frozenset(("hosts", "vars", "children"))
_HOST_VARS: Final = "host_vars"
_SETTING: Final = re.compile(r"[^\s#;=]+\s*=")
_TEXT: Final = f"{_VM}: is a text; write a Python literal with True, False and None, or use group_vars or host_vars"


class Host(NamedTuple):
    """An inventory host that declares a VM.

    location: the variable that defines the VM. options: the options of the VM. defaults: the options of all VMs.
    """

    location: Location
    options: Variables
    defaults: Variables


def hosts(repository: Repository) -> Iterator[Host | LocatedFinding]:
    """The VMs of all inventories, and of host_vars without an inventory."""
    written = [
        (location, value)
        for source in repository.sources
        for location, _key, value, _mapping in mapping_items(source.location, source.content, _describes_vm)
    ]
    if not written and not repository.inventories:
        return
    loader = _Loader()
    reported = set()
    for inventory in _inventories(repository):
        try:
            inventory_hosts = list(inventory.hosts(loader, written))
        except AnsibleError as error:
            message = f"Ansible cannot read the inventory: {' '.join(str(error).split())}"
            yield LocatedFinding(message, NOTE, rule="unchecked", location=inventory.location._replace(line=1))
            continue
        reported |= {host.location for host in inventory_hosts}
        yield from inventory_hosts
    read = {str(Path(file).resolve()) for file in repository.texts}
    for file in loader.encrypted:
        if file not in read:
            yield encrypted(os.path.relpath(file))
    for location, value in written:
        name = _host_of_variables(location)
        if name and location not in reported:
            yield Host(location, {"name": name, **value}, {})


class _Loader(DataLoader):  # type: ignore[misc]
    """Reads files of variables, and takes an encrypted file for an empty one.

    encrypted: the files.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encrypted: dict[str, None] = {}

    def load_from_file(self, file_name: str, *args: Any, **kwargs: Any) -> Any:
        if is_encrypted(Path(file_name).read_bytes()):
            self.encrypted[str(Path(file_name).resolve())] = None
            return {}
        return super().load_from_file(file_name, *args, **kwargs)


def _describes_vm(_location: Location, key: str, value: Any) -> bool:
    """Whether a key and its value are the variable of a host, or of a group."""
    return key == _VM and isinstance(value, dict)


def _inventories(repository: Repository) -> Iterator[_Inventory]:
    for source in repository.sources:
        if _is_inventory(source.content) and Path(source.location.file).is_file():
            yield _Inventory("yaml", source.location)
    for file in repository.inventories:
        text = repository.texts[file].decode("utf-8", "replace")
        if _VM in text or not _is_configuration(text):
            yield _Inventory("ini", Location(file), text.splitlines())


def _is_inventory(content: Any) -> bool:
    groups = list(content.values()) if isinstance(content, dict) else []
    return any(groups) and all(group is None or (isinstance(group, dict) and group.keys() <= _KEYS) for group in groups)


def _is_configuration(text: str) -> bool:
    """Whether an INI file is one of a tool, such as tox: it has settings where an inventory has hosts."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line
        elif _SETTING.match(line) and ":vars]" not in section:
            return True
    return False


class _Inventory:
    """An inventory. parser: Ansible's plugin for its format. lines: the lines of a file that is not YAML."""

    def __init__(self, parser: str, location: Location, lines: Iterable[str] = ()) -> None:
        self.location = location
        self._parser, self._lines = inventory_loader.get(parser), list(lines)
        self._folder = str(Path(location.file).parent.resolve())

    def hosts(self, loader: DataLoader, written: list[tuple[Location, Variables]]) -> Iterator[Host | LocatedFinding]:
        """The hosts with a variable `virtual_machine`. written: the variables of YAML files. Raises AnsibleError."""
        inventory = InventoryData()
        self._parser.parse(inventory, loader, str(Path(self.location.file).resolve()), cache=False)
        inventory.reconcile_inventory()
        defaults = self._variables(loader, [inventory.groups["all"]]).get(_DEFAULTS)
        for name, host in inventory.hosts.items():
            own = _as_written(self._variables(loader, host.get_groups(), host).get(_VM))
            if isinstance(own, dict):
                location = _location(name, own, written) or self._line(
                    name, {group.name for group in host.get_groups()}
                )
                yield Host(location, {"name": name, **own}, defaults if isinstance(defaults, dict) else {})
            elif self._lines and isinstance(own, str) and own.lstrip().startswith("{") and "{{" not in own:
                location = self._line(name, {group.name for group in host.get_groups()})
                yield LocatedFinding(_TEXT, ERROR, rule="invalid", location=location, label=f"virtual machine {name}")

    def _variables(self, loader: DataLoader, groups: Iterable[Any], host: Any = None) -> Variables:
        ordered, plugin = sort_groups(groups), vars_loader.get("host_group_vars")
        result: Variables = {}
        for group in ordered:
            result.update(group.get_vars())
        for group in ordered:
            result.update(plugin.get_vars(loader, self._folder, group))
        if host is not None:
            result.update(host.get_vars())
            result.update(plugin.get_vars(loader, self._folder, host))
        return result

    def _line(self, name: str, groups: set[str]) -> Location:
        """Where an INI file says what the host is: with the host, or else with the last of its groups."""
        section, vars_line, host_line = "", 0, 1 if self._lines else 0
        for number, line in enumerate(map(str.strip, self._lines), 1):
            group, _colon, part = section.partition(":")
            if line.startswith("["):
                section = line[1:].partition("]")[0]
            elif part == "vars" and group in groups and line.startswith(_VM):
                vars_line = number
            elif not part and line[:1] not in ("", "#", ";") and name in self._expanded(line):
                if _VM in line:
                    return self.location._replace(line=number)
                host_line = number
        return self.location._replace(line=vars_line or host_line)

    def _expanded(self, line: str) -> list[str]:
        return list(self._parser._expand_hostpattern(line.split()[0])[0])


def _as_written(value: Any) -> Any:
    """The value with the text of encrypted values, which Ansible's own type would decrypt when it is compared."""
    if isinstance(value, dict):
        return {key: _as_written(inside) for key, inside in value.items()}
    if isinstance(value, list):
        return [_as_written(inside) for inside in value]
    return to_text(value._ciphertext) if hasattr(value, "_ciphertext") else value


def _location(name: str, own: Variables, written: list[tuple[Location, Variables]]) -> Location | None:
    """The location of a host's variable: of the host if it sets the value itself, else of a group."""
    equal = [location for location, value in written if value == own]
    host_vm = [location for location in equal if name in location.path or _host_of_variables(location) == name]
    return next(iter(host_vm or equal), None)


def _host_of_variables(location: Location) -> str:
    """``web-1`` for ``host_vars/web-1.yml`` and ``host_vars/web-1/vm.yml``; "" elsewhere."""
    *folders, file = Path(location.file).parts
    if _HOST_VARS not in folders or len(location.path) != 1:
        return ""
    below = [*folders[folders.index(_HOST_VARS) + 1 :], Path(file).stem]
    return below[0]
