"""A plugin of pytest that runs tests once for every mutant; `mutants.py` tells it which mutants there are.

First all tests run as they are, and each function's tests are noted. Then, for each mutant, a fork of this process runs
those of its function until one fails or they have taken long enough: those first that noticed most of the function's
other mutants, then those of the module's own file and those of whole results, then the fastest. The modules are shared
out among as many processes as MUTANTS_JOBS says.
"""

from __future__ import annotations

import functools
import gc
import itertools
import json
import mmap
import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

SURVIVED, NOTICED, UNTESTED = 0, 1, 33
# A mutant may go on for ever. Tests of one that does not may take so many times their usual time, and some seconds.
PATIENCE = 20
# So many seconds of tests are spent on one mutant; what would take longer might notice some that survive.
BUDGET = 3.0
MUTANT = "MUTANT_UNDER_TEST"
FORKS = multiprocessing.get_context("fork")

PACKAGE = import_module("ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver")


def pytest_configure() -> None:
    """The conformance vectors import `_resolver` by itself; the mutants are those in the collection."""
    sys.modules["_resolver"] = PACKAGE
    for found in walk_packages(PACKAGE.__path__, f"{PACKAGE.__name__}."):
        sys.modules[found.name[found.name.index("_resolver") :]] = import_module(found.name)


def pytest_runtestloop(session: pytest.Session) -> bool:
    """In place of pytest's own loop."""
    if session.testsfailed:
        raise session.Interrupted("the tests cannot be collected")
    caches = _caches()
    tests, seconds = _reached(session, caches)
    if session.testsfailed:
        raise session.Failed("tests fail without any mutant")
    gc.collect()
    gc.freeze()
    work = json.loads(Path(os.environ["MUTANTS_WORK"]).read_text(encoding="utf-8"))
    shares = int(os.environ["MUTANTS_JOBS"])
    # The largest first, in turn, so that all processes end at about the same time.
    names = sorted(work, key=lambda name: len(work[name]["mutants"]), reverse=True)

    def try_all(share: list[str]) -> None:
        for name in share:
            _try_out(name, work[name], tests, seconds, caches)

    # Forks, so that what was collected and seen need not be sent.
    workers = [FORKS.Process(target=try_all, args=(names[share::shares],)) for share in range(shares)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise session.Failed("a process failed; what it had not tried is not known")
    return True


def _try_out(
    name: str,
    part: Mapping[str, Any],
    tests: Mapping[str, list[pytest.Item]],
    seconds: Mapping[pytest.Item, float],
    caches: list[Any],
) -> None:
    """Tries the mutants of one module and keeps the results."""
    start, counts = time.monotonic(), [0, 0]
    path = Path(part["results"])
    results = json.loads(path.read_text(encoding="utf-8"))
    noticed = Counter[tuple[str, pytest.Item]]()
    own = {f"test_{name.rpartition('/')[2]}", "test_approved"}
    for mutant in part["mutants"]:
        function = f"{part['module']}.{mutant.partition('__mutmut_')[0]}"
        items = sorted(
            tests.get(function, ()),
            key=lambda item: (-noticed[function, item], item.path.stem not in own, seconds[item]),
        )
        chosen = _affordable(items, seconds)
        limit = 10 + PATIENCE * sum(seconds[item] for item in chosen)
        code, item = _fate(f"{part['module']}.{mutant}", chosen, limit, caches) if chosen else (UNTESTED, None)
        if item:
            noticed[function, item] += 1
        counts[code in (SURVIVED, UNTESTED)] += 1
        results["codes"][mutant] = code
        path.write_text(json.dumps(results), encoding="utf-8")
    print(f"{name}: {counts[0]} noticed, {counts[1]} not, {time.monotonic() - start:.0f} s", flush=True)


def _affordable(items: list[pytest.Item], seconds: Mapping[pytest.Item, float]) -> list[pytest.Item]:
    """The first of the tests, but one at least."""
    spent = list(itertools.accumulate(seconds[item] for item in items))
    return [item for item, after in zip(items, spent) if after <= BUDGET or item is items[0]]


def _reached(
    session: pytest.Session, caches: list[Any]
) -> tuple[dict[str, list[pytest.Item]], dict[pytest.Item, float]]:
    """The tests that reach each mutated function when nothing is remembered, and the seconds that each test takes."""
    from mutmut.state import state

    tests: dict[str, list[pytest.Item]] = {}
    seconds = {}
    os.environ[MUTANT] = "stats"
    for item, following in zip(session.items, [*session.items[1:], None]):
        for cache in caches:
            cache.cache_clear()
        start = time.process_time()
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        seconds[item] = time.process_time() - start
        for function in state()._stats:
            tests.setdefault(function, []).append(item)
        state()._stats.clear()
    os.environ[MUTANT] = ""
    return tests, seconds


def _caches() -> list[Any]:
    """What functions remember, which a mutant must not get from them."""
    kinds = (functools._lru_cache_wrapper,)
    return [found for found in gc.get_objects() if isinstance(found, kinds) and _is_ours(found)]


def _is_ours(function: Any) -> bool:
    path = getattr(sys.modules.get(getattr(function, "__module__", "")), "__file__", None) or ""
    return path.startswith(str(Path.cwd()))


def _fate(mutant: str, items: list[pytest.Item], limit: float, caches: list[Any]) -> tuple[int, pytest.Item | None]:
    """Runs the tests in a fork with the mutant: SURVIVED, or what else its exit code is, and the test that failed."""
    with mmap.mmap(-1, 4) as ran:
        pid = os.fork()
        if pid == 0:
            code = NOTICED
            try:
                # In seconds of CPU: the machine may be busy.
                signal.setitimer(signal.ITIMER_PROF, limit)
                os.environ[MUTANT] = mutant
                for cache in caches:
                    cache.cache_clear()
                for number, (item, following) in enumerate(zip(items, [*items[1:], None])):
                    ran[:] = number.to_bytes(4)
                    if not _passes(item, following):
                        break
                else:
                    code = SURVIVED
            finally:
                os._exit(code)
        _pid, status = os.waitpid(pid, 0)
        code = os.waitstatus_to_exitcode(status)
        return code, None if code == SURVIVED else items[int.from_bytes(ran[:])]


def _passes(item: pytest.Item, following: pytest.Item | None) -> bool:
    return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=following))
