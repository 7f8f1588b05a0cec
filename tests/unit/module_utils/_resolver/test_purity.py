"""The resolver is pure: what it imports is the standard library and itself."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4] / "plugins" / "module_utils" / "_resolver"
# Of the standard library too the cluster has parts with a clock, chance or the outer world in them.
IMPURE = {"time", "random", "secrets", "os", "io", "socket", "subprocess", "pathlib", "threading", "urllib"}
PURE = {"urllib.parse"}
# What reads the clock in modules that are pure otherwise.
CLOCK = {"now", "utcnow", "today"}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_standard_library_is_imported(path: Path) -> None:
    depth = len(path.relative_to(ROOT).parts)
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = {str(node.module)}
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= depth, f"{path.name}:{node.lineno} imports from outside of the resolver"
            continue
        else:
            continue
        names = {module.partition(".")[0] for module in modules - PURE}
        assert names <= set(sys.stdlib_module_names), f"{path.name}:{node.lineno} imports {names}"
        assert not names & IMPURE, f"{path.name}:{node.lineno} imports {names}"


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_reads_the_clock(path: Path) -> None:
    attributes = [node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)]
    assert not CLOCK & set(attributes)
