"""Which guests are warned of as too small."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.preflight.issues import (
    too_little_memory,
)


def applied(memory: str | None, preference: str | None = None) -> dict[str, Any]:
    domain = {"memory": {"guest": memory}} if memory else {}
    spec: dict[str, Any] = {"template": {"spec": {"domain": domain}}}
    return {"spec": {**spec, **({"preference": {"name": preference}} if preference else {})}}


@pytest.mark.parametrize(
    ("memory", "preference", "least"),
    [
        ("4Mi", None, "32Mi"),
        ("32Mi", None, None),
        ("32Mi", "windows.11", "512Mi"),
        ("256M", "Fedora", "512Mi"),
        ("512Mi", "fedora.s390x", None),
        ("4Mi", "own", "32Mi"),
        ("much", None, None),
        (None, None, None),
    ],
)
def test_least_memory(memory: str | None, preference: str | None, least: str | None) -> None:
    warning = too_little_memory(applied(memory, preference), {} if preference else None)
    assert (warning is None) if least is None else (warning or "").endswith(f"give it {least} or more")


def test_requirements_of_the_preference_are_checked_by_kubevirt() -> None:
    assert too_little_memory(applied("4Mi", "fedora"), {"requirements": {"memory": {"guest": "1Mi"}}}) is None
    assert too_little_memory(applied("4Mi", "fedora"), {"requirements": {"cpu": {"guest": 1}}})
