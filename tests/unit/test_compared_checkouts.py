"""`tests/benchmark/compare.py`: which differences between two checkouts it reports. Nothing is timed here."""

import importlib.util
import random
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARK = Path(__file__).resolve().parents[1] / "benchmark"


@pytest.fixture(scope="module")
def compare() -> ModuleType:
    path, modules = list(sys.path), set(sys.modules)
    spec = importlib.util.spec_from_file_location("benchmark_compare", BENCHMARK / "compare.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        # Its neighbours have names such as `run`, which other tests may import from elsewhere.
        sys.path[:] = path
        for name in set(sys.modules) - modules:
            if BENCHMARK in Path(getattr(sys.modules[name], "__file__", None) or "/").parents:
                del sys.modules[name]
    return module


@pytest.mark.parametrize(("rounds", "dropped"), [(6, 0), (8, 0), (9, 1), (10, 1), (12, 2), (20, 5)])
def test_the_range_is_that_of_the_sign_test(compare: ModuleType, rounds: int, dropped: int) -> None:
    """The ranks are those of published tables of the median's 95 percent confidence interval."""
    assert compare.dropped(rounds) == dropped


def test_slowdown_is_detected_and_noise_is_not(compare: ModuleType) -> None:
    chance = random.Random(5)
    noise = [(chance.uniform(0.9, 1.1), chance.uniform(0.9, 1.1)) for _unused in range(20)]
    assert not compare.is_worse(compare.compared(noise), limit=5)
    slower = [(before, before * chance.uniform(1.06, 1.10)) for before, _now in noise]
    result = compare.compared(slower)
    assert 1.06 < result.low < result.ratio < result.high < 1.10
    assert compare.is_worse(result, limit=5)
    assert not compare.is_worse(result, limit=10)


def test_large_ratio_explained_by_chance_is_ignored(compare: ModuleType) -> None:
    assert not compare.is_worse(compare.Compared(1, 1.2, 1.2, 0.8, 1.5), limit=5)


def test_table_marks_worse_and_better_results(compare: ModuleType) -> None:
    pairs = {"create, s": [(1.0, 2.0)] * 6, "delete, s": [(2.0, 1.0)] * 6, "same, s": [(1.0, 1.0)] * 6}
    result = list(compare.lines({name: compare.compared(each) for name, each in pairs.items()}, limit=5))
    assert result[2:] == [
        "| create, s | 1 | 2 | x2.00 | 2.00 to 2.00 | **worse** |",
        "| delete, s | 2 | 1 | x0.50 | 0.50 to 0.50 | better |",
        "| same, s | 1 | 1 | x1.00 | 1.00 to 1.00 |  |",
    ]
