"""References that are to stay as they are; tests/templates has the substitution."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.kubevirt.template.substitution import (
    escaped,
    references,
    substitute,
)


@pytest.mark.parametrize(
    "value",
    ["a ${A} ${A}${B}", "${{A}}", "x${{A}}", "$${A}", "$A $(A)", {"${A}": ["${B}", 5, None, True]}, "${A} ${{A}}"],
)
def test_what_is_escaped_comes_back(value: Any) -> None:
    result = escaped(value, "DOLLAR")
    assert set(references(result)) <= {"DOLLAR"}
    assert substitute(result, {"DOLLAR": "$"}) == value
