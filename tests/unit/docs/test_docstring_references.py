"""The names that docstrings refer to exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PLUGINS = Path(__file__).parents[3] / "plugins"
FILES = sorted(PLUGINS.rglob("*.py"))
# `name`, `module.name` or `Class.name` after "see", and what "Raises" names with its module.
REFERENCE = re.compile(r"\b[Ss]ee `([\w.]+)`|Raises (\w+\.\w+)")


def defined(tree: ast.AST) -> Iterator[str]:
    """The names that a module defines: functions, classes, variables, parameters, and the keys of dictionaries."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_references_of_docstrings_exist() -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
    names = {path: set(defined(tree)) for path, tree in trees.items()}
    everything = set().union(*names.values())
    owners: dict[str, set[str]] = {}
    for path, own in names.items():
        owners.setdefault(path.stem, set()).update(own)
        for node in ast.walk(trees[path]):
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name, set()).update(defined(node))
    modules = {part for path in FILES for part in (path.stem, path.parent.name)}
    stale = []
    for path in FILES:
        for match in REFERENCE.finditer(" ".join(path.read_text(encoding="utf-8").split())):
            owner, _dot, name = (match[1] or match[2]).rpartition(".")
            known = owners.get(owner.rpartition(".")[2], set()) if owner else everything
            if name not in known | modules:
                stale.append(f"{path.relative_to(PLUGINS)}: {match[0]}")
    assert stale == []
