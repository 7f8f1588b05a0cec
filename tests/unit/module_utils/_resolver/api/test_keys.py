"""All names that are written into users' objects are of one domain, and stand in one file."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from plugins.module_utils._resolver.api import keys
from plugins.module_utils._resolver.api.name_rules import label_key

ROOT = Path(__file__).parents[5]
KEYS = {name: value for name, value in vars(keys).items() if name.endswith(("_LABEL", "_ANNOTATION"))}
OWN = {name: value for name, value in KEYS.items() if name != "MANAGED_BY_LABEL"}


@pytest.mark.parametrize("name", sorted(OWN))
def test_each_key_is_of_the_one_domain(name: str) -> None:
    assert OWN[name].startswith(f"{keys.DOMAIN}/")
    assert not label_key(OWN[name])


def test_no_two_keys_are_the_same() -> None:
    assert len(set(KEYS.values())) == len(KEYS)


def test_only_one_file_spells_the_keys() -> None:
    spelt = {
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in (ROOT / "plugins").rglob("*.py")
        if path.name != "keys.py"
        for node in texts(ast.parse(path.read_text()))
        if re.search(r"virtshape\.(dev|io)/", str(node.value))
    }
    assert not spelt


def texts(tree: ast.AST) -> Iterator[ast.Constant]:
    """The texts of a file that are no docstrings or documentation of a module, which span lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.lineno == node.end_lineno:
            yield node


@pytest.mark.parametrize("folder", ["docs", "extensions", "playbooks", "plugins", "roles"])
def test_no_text_names_another_domain(folder: str) -> None:
    # Go modules are named after a domain too, but no object is.
    files = [
        path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".yml", ".md", ".j2", ".json", ".txt")
    ]
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        for match in re.finditer(r"[\w.-]*virtshape\.(?:dev|io)\b", path.read_text())
        if not f".{match[0]}".endswith(f".{keys.DOMAIN}")
    }
    assert files and not found
