"""Which snapshots go: only own ones, of this very VM, that neither number nor age keeps."""

from datetime import datetime, timezone
from typing import Any

import pytest

from plugins.module_utils._snapshots.change import Keep, superfluous

Manifest = dict[str, Any]
VM = {"metadata": {"name": "web", "uid": "uid-of-web"}}
NOW = datetime(2026, 11, 29, 12, tzinfo=timezone.utc)
READY = {"readyToUse": True}


def snapshot(day: int, status: Manifest = READY, uid: str = "uid-of-web", source: str = "web", **more: Any) -> Manifest:
    labels = {"instancetypes.virtshape.io/snapshot-of": uid} if uid else {}
    created = f"2026-11-{day:02}T12:00:00Z"
    metadata = {"name": f"s{day}", "creationTimestamp": created, "labels": labels, **more}
    return {"metadata": metadata, "spec": {"source": {"name": source}}, "status": status}


def deleted(*snapshots: Manifest, in_use: tuple[str, ...] = (), **keep: int) -> list[str]:
    return [item["metadata"]["name"] for item in superfluous(snapshots, VM, Keep(**keep), NOW, in_use)]


@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        ({"newest": 1}, ["s10", "s20", "s28"]),
        ({"newest": 3}, ["s10"]),
        ({"newest": 9}, []),
        ({"newest": -1}, ["s10", "s20", "s28", "s29"]),
        ({"days": 1}, ["s10", "s20", "s28"]),
        ({"days": 10}, ["s10"]),
        ({"newest": 2, "days": 10}, ["s10"]),
        ({"newest": 3, "days": 1}, ["s10"]),
    ],
)
def test_number_or_age_keeps_snapshots(keep: dict[str, int], expected: list[str]) -> None:
    assert deleted(*(snapshot(day) for day in (28, 10, 29, 20)), **keep) == expected


@pytest.mark.parametrize(
    "other",
    [
        snapshot(1, uid=""),
        snapshot(1, uid="uid-of-another"),
        snapshot(1, source="db"),
        snapshot(1, status={"phase": "InProgress"}),
        snapshot(1, deletionTimestamp="2026-11-29T12:00:00Z"),
    ],
)
def test_other_snapshots_stay(other: Manifest) -> None:
    assert not deleted(other, snapshot(29), newest=1)


def test_snapshot_that_is_being_restored_stays() -> None:
    assert not deleted(snapshot(1), snapshot(29), in_use=("s1",), newest=1)


def test_failed_snapshot_is_none_of_the_newest() -> None:
    failed = {"phase": "Failed", "readyToUse": False}
    assert deleted(snapshot(20), snapshot(28, failed), newest=1) == ["s28"]
    assert deleted(snapshot(20), snapshot(28, failed), newest=1, days=2) == []
