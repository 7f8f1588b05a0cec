"""What an upload says of its progress."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.boot.progress import (
    VARIABLE,
    Progress,
)


def test_each_tenth_is_said_once_and_a_new_try_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "progress"
    monkeypatch.setenv(VARIABLE, str(path))
    progress = Progress("disk-1", 1000)
    for count in (1, 99, 100, 150, 1000, 5, 200):
        progress.told(count)
    assert [line.partition(" of ")[0] for line in path.read_text().splitlines()] == [
        "disk-1: 10 %",
        "disk-1: 100 %",
        "disk-1: 0 %",
        "disk-1: 20 %",
    ]
    assert progress.read == 200


def test_nobody_has_to_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    Progress("disk-1", 10).told(10)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none" / "progress"))
    progress = Progress("disk-1", 0)
    progress.told(0)
    assert progress.read == 0
