"""Preferred machine types."""

from typing import Any

import pytest

from plugins.module_utils._resolver.api import release
from plugins.module_utils._resolver.kubevirt.preference.machine import machine

EMPTY: dict[str, Any] = {"machine": {}}
NONE: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("preference", "at", "expected"),
    [
        (EMPTY, "1.5", None),
        (NONE, "1.5", None),
        (EMPTY, "1.4", {"type": ""}),
        (NONE, "1.4", None),
        ({"machine": {"preferredMachineType": "q35"}}, "1.4", {"type": "q35"}),
        ({"machine": {"preferredMachineType": "q35"}}, "1.9", {"type": "q35"}),
    ],
)
def test_typeless_preference_sets_empty_machine_before_1_5(
    preference: dict[str, Any], at: str, expected: dict[str, Any] | None
) -> None:
    domain: dict[str, Any] = {}
    machine(preference, {"domain": domain}, release.parse_release(at))
    assert domain == ({} if expected is None else {"machine": expected})


def test_machine_type_of_vm_stays() -> None:
    domain = {"machine": {"type": "pc"}}
    machine({"machine": {"preferredMachineType": "q35"}}, {"domain": domain})
    assert domain == {"machine": {"type": "pc"}}
