"""What the modules document of themselves: options, results; and the parts of the documentation that follow from it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
PLUGINS = CHECKOUT / "plugins"


class Listed(NamedTuple):
    """A module that takes a list of objects. option: the list. noun: what is in it. fields, unknown_fields: fragments.

    task: options of the module that are not an object's.
    """

    option: str
    noun: str
    task: tuple[str, ...] = ()
    fields: str = ""
    unknown_fields: str = "unknown_fields"


LISTED = {
    "virtual_machine": Listed(
        "virtual_machines",
        "VM",
        ("restart", "field_manager", "quota", "preflight_placement"),
        "virtual_machine_fields",
    ),
    "instancetype": Listed("instancetypes", "instancetype", ("existing", "force"), "instancetype_fields"),
    "preference": Listed("preferences", "preference", ("existing", "force"), "preference_fields"),
    "boot_source": Listed("boot_sources", "boot source", unknown_fields=""),
}

_KEPT = ("type", "elements", "default", "choices", "aliases", "required")
_RESULTS_PAGE = """\
# Results

Every key that a module returns, its meaning, and the modules that return it.
`ansible-doc virtshape.instancetypes.MODULE` has the same keys in the order of the result, and when each is returned.

| key | type | meaning | returned by |
|---|---|---|---|
"""


def documentation(path: Path, constant: str = "DOCUMENTATION") -> dict[str, Any]:
    """The YAML in a constant of a module or of a doc fragment, read without running it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == constant:
            found: dict[str, Any] = yaml.safe_load(ast.literal_eval(node.value)) or {}
            return found
    return {}


def entries(module: str) -> dict[str, Any]:
    """The documented option for the list of a module's objects, with the options of its entries."""
    listed = LISTED[module]
    options: dict[str, Any] = {}
    for fragment in filter(None, (listed.fields, "entries", listed.unknown_fields)):
        options.update(documentation(PLUGINS / "doc_fragments" / f"{fragment}.py")["options"])
    options.update(documentation(PLUGINS / "modules" / f"{module}.py")["options"])
    for name in (*listed.task, "defaults"):
        del options[name]
    own = {name: _suboption(name, option) for name, option in sorted(options.items())}
    own["name"] = {"description": [f"Name of the {listed.noun}."], "type": "str", "required": True}
    # What an entry does not give is the task's.
    own["state"].pop("default")
    return {
        "description": [
            f"A list of {listed.noun}s. An entry takes the same options as the task does for one {listed.noun}. An"
            " option that an entry leaves out has the value that the task gives, and an option with the value V(null)"
            " has none."
        ],
        "type": "list",
        "elements": "dict",
        "suboptions": own,
    }


def _suboption(path: str, option: dict[str, Any]) -> dict[str, Any]:
    told = {"description": [f"See O({path})."], **{key: option[key] for key in _KEPT if key in option}}
    below = f"{path}[]" if option["type"] == "list" else path
    inner = option.get("suboptions")
    if inner:
        told["suboptions"] = {name: _suboption(f"{below}.{name}", part) for name, part in inner.items()}
    return told


class Key(NamedTuple):
    """A key of a module's result: where it is, as `results[].needs`, its type, its description."""

    module: str
    path: str
    type: str
    description: str

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2].removesuffix("[]")


def result_keys() -> list[Key]:
    """The keys of all modules' results, at every depth, in order of the modules."""
    modules = sorted((PLUGINS / "modules").glob("*.py"))
    return [key for path in modules for key in _keys(path.stem, documentation(path, "RETURN"), "")]


def _keys(module: str, returned: dict[str, Any], above: str) -> Iterator[Key]:
    for name, key in returned.items():
        text = key["description"]
        yield Key(module, f"{above}{name}", key["type"], " ".join(text) if isinstance(text, list) else text)
        below = f"{above}{name}[]." if key["type"] == "list" else f"{above}{name}."
        yield from _keys(module, key.get("contains", {}), below)


def results_page() -> str:
    """The page with all keys of results: a row for each meaning of each key."""
    rows: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for key in result_keys():
        places = rows.setdefault((key.name, key.type, key.description), {})
        places.setdefault(key.path.rpartition(".")[0], []).append(key.module)
    lines = []
    for (name, kind, text), places in sorted(rows.items()):
        where = "; ".join(
            ", ".join(f"`{module}`" for module in modules) + (f" in `{above}`" if above else "")
            for above, modules in places.items()
        )
        lines.append(f"| `{name}` | {kind} | {_plain(text)} | {where} |\n")
    return _RESULTS_PAGE + "".join(lines)


def _plain(text: str) -> str:
    """Ansible's markup as Markdown, in one cell of a table."""
    text = re.sub(r"[MP]\((?:virtshape\.instancetypes\.)?(\w+)(?:#\w+)?\)", r"`\1`", text)
    text = re.sub(r"(?:O|RV|V|C)\(((?:[^)\\]|\\.)*)\)", lambda match: f"`{match[1]}`", text)
    return text.replace("\\)", ")").replace("|", "\\|")
