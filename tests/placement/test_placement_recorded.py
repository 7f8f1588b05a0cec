"""The nodes that pods fit on, beside what the real kube-scheduler said of them: `run.py --record`."""

from judged import CASES, Case, batch, ours, recorded
from random_clusters import cluster

VERDICTS = recorded()


def test_nothing_is_missing() -> None:
    assert len(VERDICTS) == CASES
    assert sum(map(len, VERDICTS)) >= 2000
    # Both answers are frequent, so that neither would do for all.
    fits = sum(bool(nodes) for verdict in VERDICTS for nodes in verdict)
    assert 0.25 < fits / sum(map(len, VERDICTS)) < 0.75


def test_each_pod_alone_fits_the_recorded_nodes() -> None:
    wrong = [seed for seed, said in enumerate(VERDICTS) if not _agree(cluster(seed), said)]
    assert not wrong, f"clusters with these seeds differ: {wrong[:10]}"


def _agree(case: Case, said: list[list[str]]) -> bool:
    answers = zip(ours(case), said)
    return all(got.agrees(expected) and (not got.unknown or "slices" in case) for got, expected in answers)


def test_claims_of_devices_are_frequent_and_mostly_known() -> None:
    with_claims = [
        (pod, got, said)
        for seed in range(2, len(VERDICTS), 4)
        for pod, got, said in zip(cluster(seed)["pending"], ours(cluster(seed)), VERDICTS[seed])
        if pod["spec"].get("resourceClaims")
    ]
    assert len(with_claims) >= 400
    assert sum(not got.unknown for _pod, got, _said in with_claims) > len(with_claims) / 2
    assert sum(bool(got.fits) for _pod, got, _said in with_claims) > 20
    assert sum(not said for _pod, _got, said in with_claims) > 100


def test_batch_places_its_first_pod_as_if_alone() -> None:
    for seed, said in enumerate(VERDICTS[:200]):
        if seed % 4 == 2:
            continue
        first = batch(cluster(seed, devices=False))[0]
        assert first in (said[0] or [""]), seed
