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
_RESULT = re.compile(r"RV\(virtshape\.instancetypes\.(\w+)#module:(\w+)\)")
_SAME_KEYS = re.compile(f"with the keys of {_RESULT.pattern}")


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
            content: dict[str, Any] = yaml.safe_load(ast.literal_eval(node.value)) or {}
            return content
    return {}


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
        yield from _keys(module, contents(key), below)


def contents(key: dict[str, Any]) -> dict[str, Any]:
    """The keys in a key of a result: its own, and those of the key of another module that its description names."""
    other = _SAME_KEYS.search(str(key["description"]))
    shared = contents(documentation(PLUGINS / "modules" / f"{other[1]}.py", "RETURN")[other[2]]) if other else {}
    return {**shared, **key.get("contains", {})}


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
    text = _RESULT.sub(r"`\2` of `\1`", text)
    text = re.sub(r"[MP]\((?:virtshape\.instancetypes\.)?(\w+)(?:#\w+)?\)", r"`\1`", text)
    text = re.sub(r"(?:O|RV|V|C)\(((?:[^)\\]|\\.)*)\)", lambda match: f"`{match[1]}`", text)
    return text.replace("\\)", ")").replace("|", "\\|")
