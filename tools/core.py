"""Proves that the core stands alone: deletes capabilities from a copy of the checkout, and checks what is left.

python tools/core.py           all capabilities
python tools/core.py --each    each capability by itself, with those that are built on it
python tools/core.py NAME ...  these capabilities, with those that are built on them
python tools/core.py --sizes   only how many lines belong to what

The types have to hold, and the tests have to pass as they are: those of the core, a fixed list, and those of the
capabilities that are left. `capabilities.yml` lists both, and all else that belongs to a capability.

What a capability hands in is named where a module, a filter or the check is put together: in an import, and as an
element of a tuple or a list, or an argument of a call, from which it is left out. A name that is used in any other way
makes the proof fail, as does an import in any other file.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tools/capabilities.yml").read_text())
CAPABILITIES: dict[str, dict[str, list[str]]] = TABLE["capabilities"]
CORE_TESTS: list[str] = TABLE["core_tests"]
COLLECTION = "ansible_collections.virtshape.instancetypes."
# Where modules, filters and the check are put together, and may therefore name capabilities.
ASSEMBLED = (
    "plugins/module_utils/_catalog_conversions.py",
    "plugins/module_utils/_vm_options.py",
    "plugins/modules/*.py",
    "plugins/inventory/*.py",
    "plugins/plugin_utils/_check/command.py",
    "plugins/plugin_utils/_filter_functions/*.py",
)
TEXTS = (".py", ".yml", ".yaml", ".j2", ".md", ".go", ".sh")


class Unproven(Exception):
    """The table or a file does not have the form that the proof needs."""


def with_dependents(names: Iterable[str]) -> set[str]:
    """The capabilities and all that are built on them."""
    result: set[str] = set()
    due = set(names)
    while due:
        result |= due
        due = {other for name in due for other in CAPABILITIES[name].get("base_of", ())} - result
    return result


def files_of(patterns: Iterable[str], root: Path = ROOT) -> set[Path]:
    """The files that match, also those in folders that match. Raises Unproven."""
    result: set[Path] = set()
    for pattern in patterns:
        found = list(root.glob(pattern))
        if not found:
            raise Unproven(f"tools/capabilities.yml: no file matches {pattern}; correct the table")
        result |= {file for path in found for file in ([path] if path.is_file() else path.rglob("*")) if file.is_file()}
    return {path for path in result if "__pycache__" not in path.parts}


def belonging_to(name: str, root: Path = ROOT) -> set[Path]:
    """All files of a capability: its folder, and what the table lists. Raises Unproven."""
    folder = f"plugins/module_utils/_{name}"
    own = [folder] if (root / folder).is_dir() else []
    return files_of([*own, *CAPABILITIES[name]["files"], *CAPABILITIES[name]["tests"]], root)


def copy_checkout(target: Path) -> None:
    """Copies the files that git knows or would add, and links what is installed."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
    (target / ".venv").symlink_to(ROOT / ".venv")
    collections = target / ".cache/collections/ansible_collections"
    (collections / "virtshape").mkdir(parents=True)
    (collections / "virtshape/instancetypes").symlink_to("../../../..")
    for other in (ROOT / ".cache/collections/ansible_collections").iterdir():
        if other.name != "virtshape":
            (collections / other.name).symlink_to(other)


def is_left(root: Path, path: Path, node: ast.ImportFrom, name: str) -> bool:
    """Whether what an import names is still there; what is not the collection's always is."""
    parts = (node.module or "").split(".") if node.module else []
    if node.level:
        folder = path.parents[node.level - 1].joinpath(*parts)
    elif (node.module or "").startswith(COLLECTION):
        folder = root.joinpath(*(node.module or "").removeprefix(COLLECTION).split("."))
    else:
        return True
    return any(place.exists() for place in (folder.with_suffix(".py"), folder / f"{name}.py", folder / name))


class _LeftOut(ast.NodeTransformer):
    """Leaves out elements of tuples and lists, and arguments of calls, that are made of a lost name."""

    def __init__(self, lost: set[str]) -> None:
        self._lost = lost

    def _is_lost(self, node: ast.expr) -> bool:
        while isinstance(node, (ast.Call, ast.Attribute)):
            node = node.func if isinstance(node, ast.Call) else node.value
        return isinstance(node, ast.Name) and node.id in self._lost

    def visit_Tuple(self, node: ast.Tuple) -> ast.AST:
        node.elts = [item for item in node.elts if not self._is_lost(item)]
        return self.generic_visit(node)

    def visit_List(self, node: ast.List) -> ast.AST:
        node.elts = [item for item in node.elts if not self._is_lost(item)]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node.args = [item for item in node.args if not self._is_lost(item)]
        node.keywords = [item for item in node.keywords if not self._is_lost(item.value)]
        return self.generic_visit(node)


def disassemble(root: Path, path: Path) -> None:
    """Leaves out of a file what it imports of deleted files. Raises Unproven."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    replaced: list[tuple[ast.stmt, str]] = []
    lost: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            left = [item for item in node.names if is_left(root, path, node, item.name)]
            lost |= {item.asname or item.name for item in node.names if item not in left}
            if len(left) < len(node.names):
                kept = ast.ImportFrom(node.module, left, node.level)
                replaced.append((node, ast.unparse(kept) if left else ""))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and _names(node) & lost:
            _LeftOut(lost).visit(node)
            replaced.append((node, ast.unparse(node)))
    if not replaced:
        return
    lines = source.splitlines()
    for node, text in sorted(replaced, key=lambda item: -item[0].lineno):
        assert node.end_lineno is not None
        lines[node.lineno - 1 : node.end_lineno] = [" " * node.col_offset + text] if text else []
    result = "\n".join(lines) + "\n"
    if still := _names(ast.parse(result)) & lost:
        raise Unproven(f"{path.relative_to(root)}: uses {', '.join(sorted(still))} of a capability outside of a list")
    path.write_text(result, encoding="utf-8")


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def cut(root: Path, names: set[str]) -> None:
    """Deletes capabilities with their tests, and leaves out what they hand in. Raises Unproven."""
    for path in set().union(*(belonging_to(name, root) for name in names)):
        path.unlink()
    for pattern in ASSEMBLED:
        for path in root.glob(pattern):
            disassemble(root, path)


def tests_left(root: Path) -> list[str]:
    """The tests of the core, and those of the capabilities that are left which need no cluster. Raises Unproven."""
    listed = files_of(CORE_TESTS)
    for name in CAPABILITIES:
        listed |= {path for path in files_of(CAPABILITIES[name]["tests"]) if path.is_relative_to(ROOT / "tests/unit")}
    listed -= files_of(TABLE["beside_the_core"])
    names = [str(path.relative_to(ROOT)) for path in sorted(listed) if path.match("test_*.py")]
    return [name for name in names if (root / name).exists()]


def check_table() -> None:
    """Raises Unproven for a test that the table does not have."""
    listed = files_of(
        [*CORE_TESTS, *TABLE["beside_the_core"], *(path for item in CAPABILITIES.values() for path in item["tests"])]
    )
    if missing := set((ROOT / "tests/unit").rglob("test_*.py")) - listed:
        names = ", ".join(sorted(str(path.relative_to(ROOT)) for path in missing))
        raise Unproven(f"tools/capabilities.yml: does not say whose tests these are: {names}")


def check(root: Path) -> list[str]:
    """The commands that failed, with the end of their output."""
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(root / ".cache/collections"),
        "PYTHONPATH": str(root / ".cache/collections"),
    }
    python = [sys.executable, "-m"]
    typed = [f"plugins/{name}" for name in ("inventory", "modules", "module_utils", "plugin_utils")]
    commands = [
        [*python, "mypy", *(folder for folder in typed if any((root / folder).rglob("*.py")))],
        [*python, "pytest", "--quiet", "--numprocesses", "2", "--dist", "worksteal", *tests_left(root)],
    ]
    failures = []
    for command in commands:
        done = subprocess.run(command, cwd=root, env=environment, check=False, text=True, capture_output=True)
        print(f"   {command[2]}: {(done.stdout.strip().splitlines() or ['passed'])[-1]}", flush=True)
        if done.returncode:
            failures.append(f"{command[2]}\n{done.stdout[-20000:]}{done.stderr[-2000:]}")
    return failures


def sizes() -> None:
    """Prints the lines of each capability, of all that belongs to it, and those of the rest."""
    print(f"{'':14}{'plugins':>9}{'tests':>9}{'other':>9}")
    rest = {path for path in (ROOT / "plugins").rglob("*") if path.suffix in (".py", ".yml", ".j2")}
    for name in [*CAPABILITIES, "core"]:
        own = rest | files_of(CORE_TESTS) if name == "core" else belonging_to(name)
        rest -= own
        lines = Counter({"plugins": 0, "tests": 0})
        for path in own:
            folder = path.relative_to(ROOT).parts[0]
            text = path.read_text(encoding="utf-8", errors="ignore") if path.suffix in TEXTS else ""
            lines[folder if folder in lines else "other"] += len(text.splitlines())
        print(f"{name:14}" + "".join(f"{lines[part]:9,}" for part in ("plugins", "tests", "other")))


def prove(names: Sequence[str]) -> bool:
    """Whether the checkout without these capabilities passes. Prints what does not."""
    cut_names = with_dependents(names)
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        root = Path(folder)
        copy_checkout(root)
        cut(root, cut_names)
        print(f"== without {', '.join(sorted(cut_names))}", flush=True)
        failures = check(root)
    for failure in failures:
        print(failure)
    return not failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", choices=[*CAPABILITIES, []], help="capabilities to delete; default: all")
    parser.add_argument("--each", action="store_true", help="delete each capability by itself")
    parser.add_argument("--sizes", action="store_true", help="print how many lines belong to what")
    options = parser.parse_args()
    try:
        check_table()
        if options.sizes:
            sizes()
            return
        groups = [[name] for name in CAPABILITIES] if options.each else [options.name or list(CAPABILITIES)]
        results = [prove(group) for group in groups]
    except Unproven as error:
        sys.exit(str(error))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
