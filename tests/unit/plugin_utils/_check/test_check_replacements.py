"""The check judges the replacements of deprecated and obsolete objects."""

from collections.abc import Callable
from typing import Any

from checked_files import CHECKED, instancetype, preference

Check = Callable[..., tuple[int, list[str]]]


def ended(manifest: dict[str, Any], state: str, replacement: str) -> dict[str, Any]:
    manifest["metadata"]["labels"] = {"instancetypes.virtshape.io/state": state}
    manifest["metadata"]["annotations"] = {"instancetypes.virtshape.io/replacement": replacement}
    return manifest


def test_replacements_are_checked(check: Check) -> None:
    catalog = [
        preference("big", requirements={"cpu": {"guest": 4}}),
        ended(instancetype("a", 4), "deprecated", "b"),
        ended(instancetype("b", 2), "obsolete", "nowhere"),
    ]
    code, lines = check({"catalog.yaml": catalog}, "--catalog", "none")
    assert (code, [line.partition(" metadata.annotations: ")[2] or line for line in lines]) == (
        0,
        [
            "the replacement b is itself obsolete; use nowhere [replacement]",
            "the replacement b does not fit the preferences big, which a fits [replacement]",
            "a guest that moves to b changes: domain.cpu.sockets 4 -> 2 [replacement]",
            "the replacement nowhere does not exist; add it, or name another object [replacement]",
            f"3 objects {CHECKED}: 3 warnings, 1 note",
        ],
    )
