"""VMs that are the hosts of an inventory, as the playbook virtual_machines declares them.

Ansible itself reads the inventory with its group_vars and host_vars, so that patterns such as ``web[1:3]`` and the
precedence of variables are its own. Only inventories in YAML are read; nothing of them is executed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from ansible.errors import AnsibleError
from ansible.inventory.data import InventoryData
from ansible.inventory.helpers import sort_groups
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import inventory_loader, vars_loader

from .findings import NOTE, Finding, Place
from .sources import Source

Variables = dict[str, Any]

_VM: Final = "virtual_machine"
_DEFAULTS: Final = "virtual_machines_defaults"
_KEYS: Final = frozenset(("hosts", "vars", "children"))
_HOST_VARS: Final = "host_vars"


class Host(NamedTuple):
    """place: of the variable that says what the VM is. options: those of the VM. defaults: of all VMs."""

    place: Place
    options: Variables
    defaults: Variables


def hosts(sources: Iterable[Source]) -> Iterator[Host | Finding]:
    """The VMs of all inventories, and of host_vars without an inventory."""
    sources = list(sources)
    written = [found for source in sources for found in _written(source.place, source.content)]
    if not written:
        return
    seen = set()
    for source in sources:
        if not _is_inventory(source.content) or not Path(source.place.file).is_file():
            continue
        try:
            found = list(_of_inventory(source.place, written))
        except AnsibleError as error:
            message = f"Ansible cannot read the inventory: {' '.join(str(error).split())}"
            yield Finding("unchecked", NOTE, source.place, "", "", message)
            continue
        seen |= {one.place for one in found}
        yield from found
    for place, value in written:
        name = _of_host_vars(place)
        if name and place not in seen:
            yield Host(place, {"name": name, **value}, {})


def _written(place: Place, content: Any) -> Iterator[tuple[Place, Variables]]:
    """Every variable `virtual_machine` of a document."""
    if not isinstance(content, dict) or "apiVersion" in content:
        return
    for key, value in content.items():
        here = place._replace(path=(*place.path, str(key)))
        if key == _VM and isinstance(value, dict):
            yield here, value
        else:
            yield from _written(here, value)


def _is_inventory(content: Any) -> bool:
    groups = list(content.values()) if isinstance(content, dict) else []
    return any(groups) and all(group is None or (isinstance(group, dict) and group.keys() <= _KEYS) for group in groups)


def _of_inventory(place: Place, written: list[tuple[Place, Variables]]) -> Iterator[Host]:
    loader, inventory = DataLoader(), InventoryData()
    inventory_loader.get("yaml").parse(inventory, loader, place.file, cache=False)
    inventory.reconcile_inventory()
    folder = str(Path(place.file).parent.resolve())
    plugin = vars_loader.get("host_group_vars")

    def variables(groups: Iterable[Any], host: Any = None) -> Variables:
        ordered = sort_groups(groups)
        found: Variables = {}
        for group in ordered:
            found.update(group.get_vars())
        for group in ordered:
            found.update(plugin.get_vars(loader, folder, group))
        if host is not None:
            found.update(host.get_vars())
            found.update(plugin.get_vars(loader, folder, host))
        return found

    defaults = variables([inventory.groups["all"]]).get(_DEFAULTS)
    for name, host in inventory.hosts.items():
        own = variables(host.get_groups(), host).get(_VM)
        if isinstance(own, dict):
            options = {"name": name, **own}
            yield Host(_place(name, own, written, place), options, defaults if isinstance(defaults, dict) else {})


def _place(name: str, own: Variables, written: list[tuple[Place, Variables]], inventory: Place) -> Place:
    """Where a host's variable is written: with the host if that says the same, else with a group."""
    equal = [place for place, value in written if value == own]
    of_host = [place for place in equal if name in place.path or _of_host_vars(place) == name]
    return (of_host or equal or [inventory])[0]


def _of_host_vars(place: Place) -> str:
    """``web-1`` for ``host_vars/web-1.yml`` and ``host_vars/web-1/vm.yml``; "" elsewhere."""
    *folders, file = Path(place.file).parts
    if _HOST_VARS not in folders or len(place.path) != 1:
        return ""
    below = [*folders[folders.index(_HOST_VARS) + 1 :], Path(file).stem]
    return below[0]
