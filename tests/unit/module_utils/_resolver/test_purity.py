"""The resolver and the capabilities outside of their folders `cluster` are pure: they import the standard library."""

import ast
import functools
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[4] / "plugins" / "module_utils" / "_resolver"
# Parts of the standard library have a clock, chance or the outer world in them, too.
IMPURE = {"time", "random", "secrets", "os", "io", "socket", "subprocess", "pathlib", "threading", "urllib"}
PURE = {"urllib.parse"}
# Modules that are pure otherwise read the clock by these.
CLOCK = {"now", "utcnow", "today"}


UTILS = ROOT.parent
SOURCES = sorted(
    path
    for path in UTILS.rglob("*.py")
    if path.parent != UTILS and {"cluster", "_cluster", "_yaml"}.isdisjoint(path.relative_to(UTILS).parts[:-1])
)


@functools.cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imported(path: Path) -> Iterator[tuple[int, set[str]]]:
    """(line, modules outside of the package) of each import; what touches the cluster counts as `..`."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield node.lineno, {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.lineno, {str(node.module)}
        elif isinstance(node, ast.ImportFrom):
            below = path.parent.relative_to(UTILS).parts
            kept = below[: len(below) - node.level + 1]
            places = [(*kept, *(node.module or "").split("."), alias.name) for alias in node.names]
            places = [tuple(part for part in place if part) for place in places]
            outside = any(place[0] == "_cluster" or place[:2] == (below[0], "cluster") for place in places)
            yield node.lineno, {".."} if outside else set()


def test_only_the_standard_library_is_imported() -> None:
    wrong = []
    for path in SOURCES:
        for line, modules in imported(path):
            names = {module.partition(".")[0] or ".." for module in modules - PURE}
            if names - set(sys.stdlib_module_names) or names & IMPURE:
                wrong.append(f"{path.relative_to(UTILS)}:{line} imports {sorted(names)}")
    assert wrong == []


def test_no_code_reads_the_clock() -> None:
    wrong = [
        f"{path.relative_to(UTILS)}:{node.lineno}: {node.attr}"
        for path in SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr in CLOCK
    ]
    assert wrong == []
