"""The names that docstrings refer to exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PLUGINS = Path(__file__).parents[3] / "plugins"
FILES = sorted(PLUGINS.rglob("*.py"))
# `name`, `module.name` or `Class.name` after "see", what "Raises" names with its module, and names that only code has.
REFERENCE = re.compile(r"\b[Ss]ee `([\w.]+)`|Raises (\w+\.\w+)|(?<!`)`(_\w+)`(?!`)")
# Other names with a dot are fields of the API unless the first is ours.
OWNED = re.compile(r"(?<!`)`(\w+)\.((?!py`)\w+)`(?!`)")
FILE = re.compile(r"`([\w/]+\.py)`")


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module defines: functions, classes, variables, parameters, and the keys of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_references_of_docstrings_exist() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    modules = {part for path in FILES for part in (path.stem, path.parent.name)}
    owners: dict[str, set[str]] = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef)):
                name = path.stem if isinstance(node, ast.Module) else node.name
                owners.setdefault(name, set()).update(defined(node), modules)
    everything = set().union(*owners.values())
    files = "".join(f"/{path.relative_to(PLUGINS)}\n" for path in FILES)
    stale = []
    for path in FILES:
        text = " ".join(path.read_text(encoding="utf-8").split())
        found = []
        for match in REFERENCE.finditer(text):
            owner, _dot, name = (match[1] or match[2] or match[3]).rpartition(".")
            if name not in (owners.get(owner.rpartition(".")[2], modules) if owner else everything):
                found.append(match[0])
        found += [match[0] for match in OWNED.finditer(text) if match[2] not in owners.get(match[1], {match[2]})]
        found += [match[0] for match in FILE.finditer(text) if f"/{match[1]}\n" not in files]
        stale += [f"{path.relative_to(PLUGINS)}: {reference}" for reference in found]
    assert stale == []
