"""The nodes that pods fit on, beside what the real kube-scheduler said of them: `run.py --record`."""

from judged import CASES, batch, ours, recorded
from random_clusters import cluster

VERDICTS = recorded()


def test_nothing_is_missing() -> None:
    assert len(VERDICTS) == CASES
    assert sum(map(len, VERDICTS)) >= 2000
    # Both answers are frequent, so that neither would do for all.
    fits = sum(bool(nodes) for verdict in VERDICTS for nodes in verdict)
    assert 0.25 < fits / sum(map(len, VERDICTS)) < 0.75


def test_each_pod_alone_fits_the_recorded_nodes() -> None:
    wrong = [seed for seed, said in enumerate(VERDICTS) if list(map(set, ours(cluster(seed)))) != list(map(set, said))]
    assert not wrong, f"clusters with these seeds differ: {wrong[:10]}"


def test_batch_places_its_first_pod_as_if_alone() -> None:
    for seed, said in enumerate(VERDICTS[:200]):
        first = batch(cluster(seed))[0]
        assert first in (said[0] or [""]), seed
