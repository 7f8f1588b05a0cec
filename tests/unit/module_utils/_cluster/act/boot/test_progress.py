"""What an upload shows of its progress."""

from __future__ import annotations

from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.act.boot.progress import Progress
from ansible_collections.virtshape.instancetypes.plugins.module_utils._cluster.client.screen import shown_by


def test_each_tenth_is_shown_once_and_a_new_try_begins_anew() -> None:
    lines: list[str] = []
    progress = Progress("disk-1", 1000)
    with shown_by(lines.append):
        for count in (1, 99, 100, 150, 1000, 5, 200):
            progress.told(count)
    progress.told(700)
    assert [line.partition(" of ")[0] for line in lines] == [
        "disk-1: 10 %",
        "disk-1: 100 %",
        "disk-1: 0 %",
        "disk-1: 20 %",
    ]
    assert progress.read == 700


def test_an_empty_file_is_uploaded_at_once() -> None:
    lines: list[str] = []
    with shown_by(lines.append):
        Progress("disk-1", 0).told(0)
    assert lines == ["disk-1: 100 % of 0 bytes uploaded"]
