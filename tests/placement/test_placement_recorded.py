"""The nodes that pods fit on, beside what the real kube-scheduler said of them: `run.py --record`."""

from __future__ import annotations

from judged import CASES, batch, ours, recorded
from random_clusters import cluster

VERDICTS = recorded()


def test_nothing_is_missing() -> None:
    assert len(VERDICTS) == CASES
    assert sum(map(len, VERDICTS)) >= 2000
    # Both answers are frequent, so that neither would do for all.
    fits = sum(bool(nodes) for verdict in VERDICTS for nodes in verdict)
    assert 0.25 < fits / sum(map(len, VERDICTS)) < 0.75


def test_the_same_nodes_for_each_pod_alone() -> None:
    wrong = [seed for seed, said in enumerate(VERDICTS) if ours(cluster(seed)) != said]
    assert not wrong, f"clusters with these seeds differ: {wrong[:10]}"


def test_in_a_batch_the_first_pod_goes_where_it_fits_alone() -> None:
    for seed, said in enumerate(VERDICTS[:200]):
        first = batch(cluster(seed))[0]
        assert first in (said[0] or [""]), seed
