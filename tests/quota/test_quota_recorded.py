"""Pods and claims beside what the real API server's admission said of them: `run.py --record`."""

from __future__ import annotations

from collections import Counter

from admission import differences, ours, recorded
from random_quotas import NAMESPACES, namespace

SAID = recorded()


def test_nothing_is_missing() -> None:
    verdicts = Counter(one["verdict"] for said in SAID for one in said["objects"])

    assert len(SAID) == NAMESPACES
    assert sum(verdicts.values()) >= 500
    # All answers are frequent, so that none would do for all.
    assert all(verdicts[verdict] >= 25 for verdict in ("admitted", "invalid", "limits", "quota")), verdicts


def test_the_same_of_each_object_and_of_the_sums() -> None:
    wrong = [
        f"namespace {seed}: {line}"
        for seed, said in enumerate(SAID)
        for line in differences(said, ours(namespace(seed)))
    ]

    assert not wrong, "\n".join(wrong[:5])
