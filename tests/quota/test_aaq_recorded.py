"""AAQ's four ways of counting beside what AAQ's own code counted."""

import pytest
from aaq import WAYS, cases, ours, recorded

SAID = recorded()
CASES = cases()


def test_nothing_is_missing() -> None:
    assert len(SAID) == len(CASES) >= 500


@pytest.mark.parametrize("way", WAYS)
def test_usage_of_every_pod_matches_aaq(way: str) -> None:
    wrong = [number for number, (case, said) in enumerate(zip(CASES, SAID)) if ours(case)[way] != said[way]]

    assert not wrong, f"{len(wrong)} of {len(CASES)} differ, first {wrong[:5]}"
