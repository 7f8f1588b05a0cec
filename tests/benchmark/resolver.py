"""Measures the speed of the resolver: ``resolver.py [--rounds N] [--profile] [--out FILE]``.

A case is what a caller has and wants as JSON: parse VM, instancetype and preference, apply, serialise the answer.
One thread, the standard library alone, the cases of random/apply-a.jsonl; no assertion on time is made
anywhere, so run it on an idle machine and compare with docs/benchmarks.md. The environment variable MEASURED names
another checkout to measure.
"""

import argparse
import cProfile
import gc
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

CHECKOUT = Path(__file__).resolve().parents[2]
MEASURED = Path(os.environ.get("MEASURED", CHECKOUT)).resolve()
MODULE_UTILS = MEASURED / "plugins" / "module_utils"
COLLECTIONS = MEASURED / ".cache" / "collections"
FILTERS = "ansible_collections.virtshape.instancetypes.plugins.plugin_utils._filter_functions.vm"
CASES = CHECKOUT / "tests" / "conformance" / "vectors" / "random" / "apply-a.jsonl"
IMPORTS = 11
# An encoder like that of json.dumps, but made once and without a check for objects that contain themselves.
ENCODER = json.JSONEncoder(separators=(",", ":"), check_circular=False)

sys.path.insert(0, str(MODULE_UTILS))

from results import record  # noqa: E402

from _resolver.api import schema  # noqa: E402
from _resolver.api.errors import Panic  # noqa: E402
from _resolver.kubevirt.instancetype import applier, conflict  # noqa: E402


def main() -> int:
    """Measures, prints a table and, if asked for, a profile."""
    parser = argparse.ArgumentParser(description="Benchmark of the resolver.")
    parser.add_argument("--rounds", type=int, default=9, metavar="N", help="rounds over all cases (default 9)")
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    parser.add_argument("--out", type=Path, help="the file of results to add these to")
    arguments = parser.parse_args()

    texts = inputs()
    solve(texts)  # compiles the types, fills the caches
    stages: dict[str, Callable[[], None]] = {"parse + apply + serialise": lambda: solve(texts)}
    given = [json.loads(text) for text in texts]
    answers = [answer(case) for case in given]
    stages["  parse"] = lambda: each(json.loads, texts)
    stages["  apply"] = lambda: each(answer, given)
    stages["    of it canonical form"] = lambda: each(canonical, given)
    stages["  serialise"] = lambda: each(serialise, answers)

    print(f"{len(texts)} cases, {arguments.rounds} rounds, Python {sys.version.split()[0]}")
    print(f"{'':26}{'cases/s':>10}{'µs/case':>10}{'spread':>9}")
    medians = {}
    for name, stage in stages.items():
        seconds = measured(stage, arguments.rounds)
        median = medians[name.strip()] = statistics.median(seconds)
        spread = (max(seconds) - min(seconds)) / median
        print(f"{name:26}{len(texts) / median:10,.0f}{median / len(texts) * 1e6:10.1f}{spread:9.0%}")
    imports = {}
    for place, first in (("in ansible-playbook", "import ansible.cli.playbook"), ("in an empty process", "")):
        with tempfile.TemporaryDirectory() as bytecode:
            uncompiled, *result = [import_time(bytecode, first) for _unused in range(IMPORTS)]
        imports[place] = statistics.median(result)
        print(
            f"import {place}: {imports[place]:.1f} ms ({min(result):.1f} to {max(result):.1f});"
            f" uncompiled {uncompiled:.1f} ms"
        )
    cases = {name: round(len(texts) / seconds) for name, seconds in medians.items()}
    milliseconds = {place: round(result, 1) for place, result in imports.items()}
    record(arguments.out, "resolver", {"cases_per_second": cases, "import_milliseconds": milliseconds})
    if arguments.profile:
        profile(texts)
    return 0


def inputs() -> list[str]:
    """The cases' inputs as the JSON text that a caller would have."""
    lines = CASES.read_text(encoding="utf-8").splitlines()
    return [json.dumps(json.loads(line)["input"], separators=(",", ":")) for line in lines]


def solve(texts: list[str]) -> None:
    for text in texts:
        serialise(answer(json.loads(text)))


def each(function: Callable[[Any], Any], values: list[Any]) -> None:
    for value in values:
        function(value)


def answer(case: dict[str, Any]) -> Any:
    template = case["vm"]["spec"].get("template") or {}
    try:
        return applier.apply(template, case["instancetype"], case["preference"])
    except conflict.ConflictError as error:
        return {"conflicts": conflict.paths(error.conflicts)}
    except Panic as panic:
        return {"crash": panic.message}


def canonical(case: dict[str, Any]) -> None:
    """The first steps of `answer`, before it applies anything."""
    schema.canonical("VirtualMachineInstanceTemplateSpec", case["vm"]["spec"].get("template"))
    for part, type_name in (
        ("instancetype", "VirtualMachineInstancetypeSpec"),
        ("preference", "VirtualMachinePreferenceSpec"),
    ):
        if case[part] is not None:
            schema.canonical(type_name, case[part])


def serialise(result: Any) -> str:
    return ENCODER.encode(result)


def measured(stage: Callable[[], None], rounds: int) -> list[float]:
    """Seconds of CPU of each round: the work waits for nothing, and other processes do not count."""
    seconds = []
    for _unused in range(rounds):
        gc.collect()
        start = time.process_time()
        stage()
        seconds.append(time.process_time() - start)
    return seconds


def import_time(bytecode: str, first: str) -> float:
    """Milliseconds of CPU that a new process takes to import what the filters import.

    bytecode: the directory that keeps it; the first import has to write it. first: what the process has executed
    before; ansible-playbook has imported all that the filters need of the standard library.
    """
    code = (
        f"{first}\nimport sys, time; sys.path.insert(0, sys.argv[1]); start = time.process_time();"
        f"import {FILTERS}; print((time.process_time() - start) * 1000)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    command = [sys.executable, "-c", code, str(COLLECTIONS)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout)


def profile(texts: list[str]) -> None:
    profiler = cProfile.Profile()
    profiler.runcall(solve, texts)
    pstats.Stats(profiler).strip_dirs().sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    sys.exit(main())
