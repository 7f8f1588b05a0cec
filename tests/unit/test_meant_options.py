"""The options that names of other tools lead to exist in a module, be it one of a capability."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import plugins.modules
from plugins.module_utils._resolver.declare import known_as


def levels(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """An argument spec and those of its suboptions."""
    yield spec
    for option in spec.values():
        if "options" in option:
            yield from levels(option["options"])


def test_each_option_exists_somewhere() -> None:
    names = [module.name for module in pkgutil.iter_modules(plugins.modules.__path__)]
    specs = [import_module(f"plugins.modules.{name}").MODULE.argument_spec for name in names]
    # A list of the role.
    known = [*(level for spec in specs for level in levels(spec)), {"virtual_machines_list": {}}]
    for name, paths in known_as._MEANT.items():
        for path in paths:
            assert any(known_as._shown(path.split("."), level) for level in known), (name, path)
