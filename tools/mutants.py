"""Mutation tests of the resolver: ``mutants.py [MODULE ...] [--some] [--survivors] [--known]``.

A MODULE is a file of `plugins/module_utils/_resolver` without its suffix (``api/quantity``); all of them without
one. mutmut changes one thing at a time in a copy of the checkout, and the tests that reach the function are
run; a change that no test notices survives. Prints for each module how many do, and with --survivors what they are.
What was noticed once stays known until the function changes: a second run tries what survived, and what is new. With
--some it tries a third: of each function the 1st, 4th, 7th, 11th, 14th and so on.

mutmut's own runner starts pytest for each mutant; here one pytest forks for each (`mutants_session.py`), which is
several times as fast.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parent.parent
STAGE = CHECKOUT / ".cache" / "mutants"
COLLECTION = Path("ansible_collections", "virtshape", "instancetypes")
RESOLVER = Path("plugins", "module_utils", "_resolver")
RESULTS = STAGE / "results"
WORK = STAGE / "work.json"

STAGED = (
    "plugins",
    "roles/common_instancetypes",
    "roles/local_cluster/files/kubevirt_emulation",
    "tests/conftest.py",
    "tests/conformance",
    "tests/tools",
    "tests/unit/conftest.py",
    "tests/unit/filter",
    "tests/unit/module_utils/_resolver",
    "tests/unit/properties",
    "tests/unit/support",
    "tests/virtctl",
)
TESTS = (
    "tests/unit/module_utils/_resolver",
    "tests/unit/filter",
    "tests/unit/properties",
    "tests/conformance/test_vectors.py",
    "tests/conformance/test_releases.py",
    "tests/virtctl",
)
# Left out: what looks at the source, which is mutated, and what would take too long for each survivor: the examples,
# which run Ansible, and of the vectors the random ones, the matrix and what repeats the main set for each release.
CHOSEN = (
    "not test_purity and not test_examples and not is_missing and not (test_vectors and (matrix or random))"
    " and not (test_releases and (apply or expand))"
)

# Exit codes of a run: no test noticed, and no test reaches the function. All others are mutants that were noticed.
SURVIVED = 0
UNTESTED = 33
COLUMNS = {"mutants": 9, "tried": 8, "survive": 9, "untested": 10}


def main() -> int:
    """Tries the mutants asked for; exits 1 where more than a tenth of a module's survive."""
    parser = argparse.ArgumentParser(description="Mutation tests of the resolver.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as quantity or apply/cpu; default: all")
    parser.add_argument("--some", action="store_true", help="try a third of them")
    parser.add_argument("--survivors", action="store_true", help="show what survived")
    parser.add_argument("--known", action="store_true", help="try nothing, tell what the last runs gave")
    arguments = parser.parse_args()

    root = CHECKOUT / RESOLVER
    known = [file.relative_to(root).with_suffix("").as_posix() for file in sorted(root.rglob("*.py"))]
    unknown = set(arguments.modules) - set(known)
    if unknown:
        parser.error(f"there is no module {min(unknown)} in {RESOLVER}")
    modules = arguments.modules or [name for name in known if not name.endswith("__init__")]
    if not arguments.known:
        stage()
        try_out(modules, some=arguments.some)
    return report(modules, show=arguments.survivors)


def stage() -> None:
    """Makes the copy like the checkout. It has modules in the place that their names tell, and in no other."""
    home = STAGE / COLLECTION
    wanted = set()
    for name in STAGED:
        source = CHECKOUT / name
        for file in [source] if source.is_file() else source.rglob("*"):
            target = home / file.relative_to(CHECKOUT)
            if not file.is_file() or file.suffix == ".pyc":
                continue
            wanted.add(target)
            if not target.exists() or target.stat().st_mtime != file.stat().st_mtime:
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, target)
    for file in home.rglob("*"):
        if file.is_file() and file not in wanted and ".cache" not in file.parts and file.suffix != ".pyc":
            file.unlink()
    # mutmut looks for settings where it is run, and pytest in the directories above where there are none.
    settings = '[tool.mutmut]\nsource_paths = ["ansible_collections"]\n[tool.pytest.ini_options]\n'
    (STAGE / "pyproject.toml").write_text(settings, encoding="utf-8")


def try_out(modules: list[str], *, some: bool) -> None:
    """Mutates the modules in the copy, runs what is to be tried and keeps the results."""
    work = {}
    for name in modules:
        results = _mutate(name)
        names = [mutant for mutant, code in results["codes"].items() if code in (None, SURVIVED, UNTESTED)]
        tried = [mutant for mutant in names if not some or mutant[-1] in "147"]
        if tried:
            work[name] = {"module": _module(name), "mutants": tried, "results": str(_results_file(name))}
    WORK.write_text(json.dumps(work), encoding="utf-8")
    tests = [(COLLECTION / test).as_posix() for test in TESTS]
    command = [sys.executable, "-m", "pytest", "--rootdir=.", "-q", "-p", "no:cacheprovider", "-p", "mutants_session"]
    settings = {
        "HYPOTHESIS_PROFILE": "mutants",
        "MUTANTS_JOBS": str(os.cpu_count() or 1),
        "MUTANTS_WORK": str(WORK),
        # No other plugin is used.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join((str(STAGE), str(Path(__file__).parent))),
    }
    environment = {**os.environ, **settings}
    try:
        if work:
            subprocess.run([*command, "-k", CHOSEN, *tests], cwd=STAGE, check=True, env=environment)
    finally:
        for name in modules:
            _copied(name).unlink()  # the next run copies it


def report(modules: list[str], *, show: bool) -> int:
    """Prints the table and what survived."""
    print(f"{'module':24}" + "".join(f"{column:>{width}}" for column, width in COLUMNS.items()))
    worst, totals = 0.0, Counter[str]()
    for name in modules:
        results = _results(name)
        tried = {mutant: code for mutant, code in results["codes"].items() if code is not None}
        survived = sorted(mutant for mutant, code in tried.items() if code == SURVIVED)
        untested = sorted(mutant for mutant, code in tried.items() if code == UNTESTED)
        figures = {
            "mutants": len(results["codes"]),
            "tried": len(tried),
            "survive": len(survived),
            "untested": len(untested),
        }
        totals.update(figures)
        if tried:
            worst = max(worst, _share(figures))
            print(_line(name, figures))
        for mutant in (*survived, *untested) if show else ():
            print(f"  {mutant}\n{results['differences'][mutant]}")
    if totals["tried"]:
        print(_line("all", totals))
    return 1 if worst > 0.1 else 0


def _share(figures: Mapping[str, int]) -> float:
    return (figures["survive"] + figures["untested"]) / figures["tried"]


def _line(name: str, figures: Mapping[str, int]) -> str:
    counts = "".join(f"{figures[column]:{width}}" for column, width in COLUMNS.items())
    return f"{name:24}{counts}{_share(figures):8.1%}"


def _mutate(name: str) -> dict[str, Any]:
    """Puts the mutants of a module into the copy; returns what is known of them."""
    from mutmut.mutation.file_mutation import mutate_file_contents

    os.chdir(STAGE)
    copied = _copied(name)
    made = mutate_file_contents(str(copied), copied.read_text(encoding="utf-8"))
    copied.write_text(made.code, encoding="utf-8")
    old = _results(name)
    same = {
        function for function, digest in made.hash_by_function_name.items() if old["hashes"].get(function) == digest
    }
    lines = made.code.splitlines()
    results = {
        "hashes": dict(made.hash_by_function_name),
        "codes": {
            mutant: old["codes"].get(mutant) if _function(mutant) in same else None for mutant in made.mutant_names
        },
        "differences": {
            mutant: _difference(lines, made.line_span_by_function_name, mutant) for mutant in made.mutant_names
        },
    }
    _results_file(name).parent.mkdir(parents=True, exist_ok=True)
    _results_file(name).write_text(json.dumps(results), encoding="utf-8")
    return results


def _difference(lines: list[str], spans: Mapping[str, Any], mutant: str) -> str:
    before, after = (
        lines[spans[function].start - 1 : spans[function].end]
        for function in (f"{_function(mutant)}__mutmut_orig", mutant)
    )
    found = difflib.unified_diff(before, after, lineterm="", n=0)
    # The names of the two differ always.
    told = [line for line in found if not line.startswith(("---", "+++", "@@")) and "__mutmut_" not in line]
    return "\n".join(f"    {line}" for line in told)


def _function(mutant: str) -> str:
    return mutant.partition("__mutmut_")[0]


def _module(name: str) -> str:
    return ".".join((*COLLECTION.parts, *RESOLVER.parts, *name.split("/")))


def _copied(name: str) -> Path:
    return STAGE / COLLECTION / RESOLVER / f"{name}.py"


def _results_file(name: str) -> Path:
    return RESULTS / f"{name}.json"


def _results(name: str) -> dict[str, Any]:
    path = _results_file(name)
    if not path.exists():
        return {"hashes": {}, "codes": {}, "differences": {}}
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


if __name__ == "__main__":
    sys.exit(main())
