"""The resolver is pure: what it imports is the standard library and itself."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[4] / "plugins" / "module_utils" / "_resolver"
# Of the standard library too the cluster has parts with a clock, chance or the outer world in them.
IMPURE = {"time", "random", "secrets", "os", "io", "socket", "subprocess", "pathlib", "threading", "urllib"}
PURE = {"urllib.parse"}
# What reads the clock in modules that are pure otherwise.
CLOCK = {"now", "utcnow", "today"}


SOURCES = sorted(ROOT.rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[int, set[str]]]:
    """(line, modules outside of the package) of each import; what leaves the resolver by dots counts as `..`."""
    depth = len(path.relative_to(ROOT).parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield node.lineno, {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, {str(node.module)}
        elif isinstance(node, ast.ImportFrom) and node.level > depth:
            yield node.lineno, {".."}


def test_only_the_standard_library_is_imported() -> None:
    wrong = []
    for path in SOURCES:
        for line, modules in imported(path):
            names = {module.partition(".")[0] or ".." for module in modules - PURE}
            if names - set(sys.stdlib_module_names) or names & IMPURE:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {sorted(names)}")
    assert wrong == []


def test_no_code_reads_the_clock() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.attr}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in CLOCK
    ]
    assert wrong == []
