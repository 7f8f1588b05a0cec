"""Whether a pod will run, of several answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def verdict(results: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """{evaluated, fits, problem} of several such answers; `problem` is empty for a pod that fits.

    Where one answer is certain that the pod does not fit, it does not matter that another one is not evaluated.
    """
    all_results = list(results)
    certain = any(result["evaluated"] and not result["fits"] for result in all_results)
    problems = dict.fromkeys(result["problem"] for result in all_results if not result["fits"])
    return {
        "evaluated": certain or all(result["evaluated"] for result in all_results),
        "fits": not problems,
        "problem": "; ".join(problems),
    }
