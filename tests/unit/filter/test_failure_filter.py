"""The filter _failure: why a task failed, also one with a loop."""

from typing import Any

import pytest
from loaded_filters import FILTERS

failure = FILTERS["_failure"]
LOOPED = {
    "msg": "One or more items failed",
    "results": [
        {"ansible_loop_var": "item", "msg": "fine"},
        {"ansible_loop_var": "item", "failed": True, "msg": "shop web is down"},
        {"ansible_loop_var": "item", "failed": True, "msg": "another"},
    ],
}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"msg": "no"}, "no"),
        (LOOPED, "shop web is down"),
        # The results of a module of the collection: its message counts and names them.
        ({"msg": "1 of 2 failed", "results": [{"failed": True, "msg": "a"}]}, "1 of 2 failed"),
        ({"msg": "no", "results": [{"ansible_loop_var": "item", "failed": True}]}, "no"),
        ({}, "failed"),
    ],
)
def test_the_reason_of_a_failure(result: dict[str, Any], expected: str) -> None:
    assert failure(result) == expected
    assert failure({}, "its tasks cannot be run") == "its tasks cannot be run"
