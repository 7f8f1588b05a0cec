"""What Ansible sends to a target for each module: the source of all that it imports, found as Ansible finds it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from ansible.executor.module_common import ModuleDepFinder

PLUGINS = Path(__file__).parents[3] / "plugins"
COLLECTION = ("ansible_collections", "virtshape", "instancetypes", "plugins")

# KiB of source at most, with a hundredth to spare for what a module does itself. One that outgrows its line imports
# something for one function of it: move that function.
MOST = {
    "boot_source": 465,
    "boot_source_info": 285,
    "catalog": 590,
    "catalog_info": 195,
    "controller_revision": 480,
    "controller_revision_info": 345,
    "expand_info": 280,
    "instancetype": 335,
    "instancetype_info": 195,
    "lease": 90,
    "placement_info": 445,
    "preference": 335,
    "preference_info": 195,
    "quota_info": 440,
    "upgrade_info": 715,
    "virtual_machine": 785,
    "virtual_machine_adopt": 395,
    "virtual_machine_export": 345,
    "virtual_machine_info": 430,
    "virtual_machine_power": 160,
}


@cache
def imported(path: Path) -> frozenset[Path]:
    """The files that Ansible packs for the imports of one file; lazy imports are among them."""
    module = ".".join((*COLLECTION, *path.relative_to(PLUGINS).with_suffix("").parts))
    finder = ModuleDepFinder(module, ast.parse(path.read_text(encoding="utf-8")))
    found = (name[len(COLLECTION) :] for name in finder.submodules if name[: len(COLLECTION)] == COLLECTION)
    return frozenset(file for parts in found for file in _files(parts))


def _files(parts: tuple[str, ...]) -> Iterator[Path]:
    """The file of a module, or of the one that a name is imported from, and those of the packages around it."""
    whole = PLUGINS.joinpath(*parts).with_suffix(".py")
    file = whole if whole.is_file() else PLUGINS.joinpath(*parts[:-1]).with_suffix(".py")
    if file.is_file():
        yield file
    packages = (folder / "__init__.py" for folder in file.parents if PLUGINS / "module_utils" in folder.parents)
    yield from (package for package in packages if package.is_file())


def packed(module: str) -> set[Path]:
    """All files that are packed for a module, itself among them."""
    found: set[Path] = set()
    due = {PLUGINS / "modules" / f"{module}.py"}
    while due:
        found |= due
        due = {file for path in due for file in imported(path)} - found
    return found


def test_every_module_has_a_line() -> None:
    assert {path.stem for path in (PLUGINS / "modules").glob("[!_]*.py")} == set(MOST)


@pytest.mark.parametrize("module", MOST)
def test_a_module_is_light_to_carry(module: str) -> None:
    files = packed(module)
    size = sum(path.stat().st_size for path in files)

    assert len(files) > 20
    assert size <= MOST[module] * 1024, f"{size / 1024:.0f} KiB in {len(files)} files"


@pytest.mark.parametrize("module", [name for name in MOST if name.endswith("_info")])
def test_a_module_that_reads_carries_nothing_that_writes_or_is_asked_before(module: str) -> None:
    own = PLUGINS / "module_utils"
    carried = {path.relative_to(own) for path in packed(module) if path.is_relative_to(own) and path.stat().st_size}

    assert not [path for path in carried if path.parts[:2] == ("_cluster", "act")]
    declare, webhooks = Path("_resolver/declare"), Path("_resolver/instancetype/webhooks")
    asked_before = {declare / "plan.py", declare / "preflight.py", webhooks / "mutate.py", webhooks / "validate.py"}
    if module == "upgrade_info":
        # It has templates make VMs.
        asked_before.remove(webhooks / "mutate.py")
    assert not carried & asked_before
