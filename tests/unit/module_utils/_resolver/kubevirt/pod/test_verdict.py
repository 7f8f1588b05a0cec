"""The verdict of several results."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.pod.manifests import verdict

FITS = {"evaluated": True, "fits": True}
FULL = {"evaluated": True, "fits": False, "problem": "full"}
SMALL = {"evaluated": True, "fits": False, "problem": "small"}
UNKNOWN = {"evaluated": False, "fits": False, "problem": "gone"}


@pytest.mark.parametrize(
    ("results", "evaluated", "fits", "problem"),
    [
        ([FITS], True, True, ""),
        ([FITS, FITS], True, True, ""),
        ([FITS, FULL], True, False, "full"),
        ([SMALL, FULL], True, False, "small; full"),
        ([FULL, FULL], True, False, "full"),
        ([FITS, UNKNOWN], False, False, "gone"),
        # A certain result counts.
        ([UNKNOWN, FULL], True, False, "gone; full"),
    ],
)
def test_verdict(results: list[dict[str, Any]], evaluated: bool, fits: bool, problem: str) -> None:
    assert verdict(results) == {"evaluated": evaluated, "fits": fits, "problem": problem}
