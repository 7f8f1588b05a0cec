"""Proves that the core stands alone: deletes capabilities from a copy of the checkout, and checks what is left.

python tools/core.py           all capabilities
python tools/core.py --each    each capability by itself, with those that are built on it
python tools/core.py NAME ...  these capabilities, with those that are built on them

Style, types and the unit tests that are left have to pass. The table of what belongs to a capability is
`capabilities.yml`. What a capability hands in is a line in the file where a module, a filter or the check is put
together; such lines are deleted. Other code that imports a deleted file makes the proof fail.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TABLE: dict[str, Any] = yaml.safe_load((ROOT / "tools/capabilities.yml").read_text())
CAPABILITIES: dict[str, dict[str, list[str]]] = TABLE["capabilities"]
COLLECTION = "ansible_collections.virtshape.instancetypes."
# Where modules, filters and the check are put together, and may therefore name capabilities.
ASSEMBLED = (
    "plugins/modules/*.py",
    "plugins/inventory/*.py",
    "plugins/plugin_utils/_check/command.py",
    "plugins/plugin_utils/_filter_functions/*.py",
)


def with_dependents(names: Iterable[str]) -> set[str]:
    """The capabilities and all that are built on them."""
    result: set[str] = set()
    due = set(names)
    while due:
        result |= due
        due = {other for name in due for other in CAPABILITIES[name].get("base_of", ())} - result
    return result


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


def delete(root: Path, patterns: Iterable[str]) -> None:
    found = {pattern: list(root.glob(pattern)) for pattern in patterns}
    for pattern in (pattern for pattern, paths in found.items() if not paths):
        raise SystemExit(f"tools/capabilities.yml: no file matches {pattern}; correct the table")
    for path in {path for paths in found.values() for path in paths}:
        # A folder of one capability may hold a file of another.
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def deleted_imports(root: Path, path: Path) -> Iterator[tuple[ast.ImportFrom | ast.Import, list[str]]]:
    """Each import of the collection's or of the tests' own code that finds no file, with the names that it binds."""
    helpers = {file.stem for file in (ROOT / "tests").rglob("*.py")}
    left = {file.stem for file in (root / "tests").rglob("*.py")}
    place = path.relative_to(root).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            lost = [item.asname or item.name for item in node.names if item.name in helpers - left]
            if lost:
                yield node, lost
        if not isinstance(node, ast.ImportFrom):
            continue
        name = node.module or ""
        if node.level:
            folder = root.joinpath(*place[: len(place) - node.level], *filter(None, name.split(".")))
        elif name.startswith((COLLECTION, "plugins.")):
            folder = root.joinpath(*name.removeprefix(COLLECTION).split("."))
        else:
            if name.rpartition(".")[2] in helpers - left:
                yield node, [item.asname or item.name for item in node.names]
            continue
        if folder.with_suffix(".py").exists():
            continue
        lost = [
            item.asname or item.name
            for item in node.names
            if not (folder / f"{item.name}.py").exists() and not (folder / item.name).is_dir()
        ]
        if lost:
            yield node, lost


def drop_lines(root: Path, path: Path) -> None:
    """Deletes the imports of deleted files, and what the file hands in of them."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    names: list[str] = []
    for node, lost in deleted_imports(root, path):
        assert node.end_lineno is not None
        if len(lost) < len(node.names):
            for index in range(node.lineno - 1, node.end_lineno):
                lines[index] = re.sub(rf"\b({'|'.join(lost)})\b,? ?", "", lines[index])
        else:
            lines[node.lineno - 1 : node.end_lineno] = [""] * (node.end_lineno - node.lineno + 1)
        names += lost
    if names:
        lost = "|".join(names)
        # What a lost function is called with goes with it; what a function of another capability gets is left out.
        handed_in = rf"(\w+=)?\b({lost})(\(\w*\)|\.\w+)?,[ ]?"
        text = re.sub(rf"^[ ]+{handed_in}\n|{handed_in}", "", "".join(lines), flags=re.MULTILINE)
        text = re.sub(rf"\b(\w+=\w+)\(({lost})\),", r"\1(),", text)
        path.write_text(text, encoding="utf-8")


def cut(root: Path, names: set[str]) -> None:
    """Deletes capabilities, what is handed in of them, and their tests."""
    folders = [f"plugins/module_utils/_{name}" for name in names]
    delete(root, [folder for folder in folders if (root / folder).is_dir()])
    delete(root, [pattern for name in names for pattern in CAPABILITIES[name]["files"]])
    delete(root, TABLE["beside_the_core"])
    for pattern in ASSEMBLED:
        for path in root.glob(pattern):
            drop_lines(root, path)
    # A test that imports deleted code belongs to it, and so does what imports that test's helpers.
    due = True
    while due:
        due = [path for path in root.glob("tests/**/*.py") if any(True for _lost in deleted_imports(root, path))]
        for path in due:
            path.unlink()


def check(root: Path) -> list[str]:
    """The commands that failed, with the end of their output."""
    environment = {
        **os.environ,
        "ANSIBLE_CONFIG": str(root / "ansible.cfg"),
        "ANSIBLE_COLLECTIONS_PATH": str(root / ".cache/collections"),
        "PYTHONPATH": str(root / ".cache/collections"),
    }
    python = [sys.executable, "-m"]
    tests = [path for path in ("tests/unit", "tests/conformance", "tests/virtctl") if (root / path).is_dir()]
    commands = [
        [*python, "ruff", "check", "--quiet", "--fix", "--select", "I,F401", "plugins", "tests"],
        [*python, "ruff", "format", "--quiet", "plugins", "tests"],
        [*python, "ruff", "check", "--output-format", "concise", "plugins", "tests"],
        [*python, "mypy", *(f"plugins/{name}" for name in ("inventory", "modules", "module_utils", "plugin_utils"))],
        [*python, "pytest", "--quiet", "--numprocesses", "2", "--dist", "worksteal", *tests],
    ]
    failures = []
    for command in commands:
        done = subprocess.run(command, cwd=root, env=environment, check=False, text=True, capture_output=True)
        print(f"   {' '.join(command[2:4])}: {(done.stdout.strip().splitlines() or ['passed'])[-1]}", flush=True)
        if done.returncode:
            failures.append(f"{' '.join(command[2:])}\n{done.stdout[-20000:]}{done.stderr[-2000:]}")
    return failures


def lines_of(root: Path) -> int:
    """Lines of Python below plugins."""
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in (root / "plugins").rglob("*.py"))


def prove(names: Sequence[str]) -> bool:
    """Whether the checkout without these capabilities passes. Prints what does not."""
    cut_names = with_dependents(names)
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        root = Path(folder)
        copy_checkout(root)
        cut(root, cut_names)
        print(f"== without {', '.join(sorted(cut_names))}: {lines_of(root):,} lines of Python in plugins", flush=True)
        failures = check(root)
    for failure in failures:
        print(failure)
    return not failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", choices=[*CAPABILITIES, []], help="capabilities to delete; default: all")
    parser.add_argument("--each", action="store_true", help="delete each capability by itself")
    options = parser.parse_args()
    groups = [[name] for name in CAPABILITIES] if options.each else [options.name or list(CAPABILITIES)]
    results = [prove(group) for group in groups]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
