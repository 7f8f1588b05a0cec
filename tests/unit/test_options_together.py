"""Options of the core and of capabilities together: other tools' names, shorthand, references of the docs."""

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import plugins.modules
from plugins.doc_fragments import virtual_machine_options
from plugins.module_utils import _known_as as known_as
from plugins.module_utils._resolver.declare.argument_spec import expand_shorthand
from plugins.module_utils._vm_options import VM_OPTIONS
from plugins.modules import virtual_machine


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


def test_options_of_capabilities_are_found_and_expanded() -> None:
    assert known_as.meant("template_name", VM_OPTIONS.spec) == ["from_template.name", "from_template"]
    expanded = expand_shorthand({"size": "medium"}, VM_OPTIONS.spec, VM_OPTIONS.shorthand)
    assert expanded == {"size": {"name": "medium"}}


def paths(spec: dict[str, Any], above: str = "") -> Iterator[str]:
    for name, option in spec.items():
        yield above + name
        yield from paths(option.get("options", {}), f"{above}{name}{'[]' if option['type'] == 'list' else ''}.")


def test_option_references_point_to_existing_options() -> None:
    text = virtual_machine_options.ModuleDocFragment.DOCUMENTATION + virtual_machine.DOCUMENTATION
    result = set(re.findall(r"\bO\(([^)=]+)\)", text)) - {"virtual_machines"}
    assert result
    assert result <= set(paths(virtual_machine.MODULE.argument_spec))
