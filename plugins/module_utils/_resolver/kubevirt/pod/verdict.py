"""Whether a pod will run, of several answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def verdict(answers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """{judged, fits, problem} of several such answers; `problem` is empty for a pod that fits.

    Where one answer is certain that the pod does not fit, it does not matter that another one is not judged.
    """
    known = list(answers)
    certain = any(one["judged"] and not one["fits"] for one in known)
    problems = dict.fromkeys(one["problem"] for one in known if not one["fits"])
    return {
        "judged": certain or all(one["judged"] for one in known),
        "fits": not problems,
        "problem": "; ".join(problems),
    }
