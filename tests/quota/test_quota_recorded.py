"""Pods and claims beside what the real API server's admission said of them: `run.py --record`."""

from collections import Counter

from admission import differences, ours, ours_in_any_order, recorded, unexpected
from random_quotas import CONTRADICTORY, NAMESPACES, contradiction, namespace

SAID, TRIED = (recorded()[part] for part in ("created", "tried"))


def test_nothing_is_missing() -> None:
    verdicts = Counter(item["verdict"] for said in SAID for item in said["objects"])

    assert len(SAID) == NAMESPACES
    assert sum(verdicts.values()) >= 500
    # All answers are frequent, so that none would do for all.
    assert all(verdicts[verdict] >= 25 for verdict in ("admitted", "invalid", "limits", "quota")), verdicts


def test_verdicts_and_sums_match_the_recording() -> None:
    wrong = [
        f"namespace {seed}: {line}"
        for seed, said in enumerate(SAID)
        for line in differences(said, ours(namespace(seed)))
    ]

    assert not wrong, "\n".join(wrong[:5])


def test_contradictory_limit_ranges_are_recorded_often_enough() -> None:
    answers = [answers for said in TRIED for answers in said]

    assert len(TRIED) == CONTRADICTORY
    # The API server said different things of the same pod.
    assert sum(len(item) > 1 for item in answers) >= 30
    assert sum(len({answer["verdict"] for answer in item}) > 1 for item in answers) >= 10


def test_all_answers_of_contradictory_limit_ranges_are_predicted() -> None:
    known = [ours_in_any_order(contradiction(seed)) for seed in range(len(TRIED))]
    wrong = [
        f"contradiction {seed}: {line}" for seed, said in enumerate(TRIED) for line in unexpected(said, known[seed])
    ]

    assert not wrong, "\n".join(wrong[:5])
    # There is no order that does not come up, except among three LimitRanges and by chance.
    missed = sum(len(got) > len(said) for item, answers in zip(known, TRIED) for got, said in zip(item, answers))
    assert missed <= 8
