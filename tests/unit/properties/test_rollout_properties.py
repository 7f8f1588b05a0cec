"""Runs of fleets, whatever fails when: never more VMs down than allowed, never a guest twice, and every run ends."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from plugins.module_utils._rollout import rollout, vm_decision
from plugins.module_utils._rollout.rollout import Limits, Rollout

# A VM before the run: its decision, and whether it is down, restarts, and is broken for good.
KINDS = {
    "running": ("refresh", False, True, False),
    "waits": ("restart", False, True, False),
    "halted": ("refresh", False, False, False),
    "fallen": ("refresh", True, False, False),
    "broken": ("refresh", True, False, True),
    "current": ("none", False, False, False),
    "stray": ("none", True, False, True),
    "pinned": ("pinned", False, False, False),
    "refused": ("refused", False, True, False),
}
AMOUNTS = st.integers(1, 12).map(str) | st.integers(0, 100).map(lambda share: f"{share}%")


@st.composite
def fleets(draw: st.DrawFn) -> dict[str, str]:
    kinds = draw(st.lists(st.sampled_from(list(KINDS)), min_size=1, max_size=25))
    return {f"shop/vm-{number}": kind for number, kind in enumerate(kinds)}


def planned(label: str, kind: str) -> dict[str, Any]:
    decision, down, disruptive, broken = KINDS[kind]
    return {
        "namespace": "shop",
        "name": label.partition("/")[2],
        "decision": decision,
        "complaint": f"{label}: no" if decision == "refused" else "",
        "disruptive": disruptive,
        "down": down,
        "broken": broken,
        "touched": disruptive or down,
        "previous": {},
        "state": {"instancetype": {"state": "drifted", "revision": "old"}},
    }


class Cluster:
    """VMs that come up again after a restart, or do not: `luck` decides."""

    def __init__(self, fleet: dict[str, str], state: Rollout, luck: st.DataObject) -> None:
        self.state, self._luck = state, luck
        self.down = {label for label, kind in fleet.items() if KINDS[kind][1]}
        self.healable = {label for label, kind in fleet.items() if not KINDS[kind][3]}
        self.began_with = len(self.down)
        self.most_down = len(self.down)
        self.refreshed: list[str] = []

    def change(self, labels: list[str]) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
        """Changes VMs: each goes down, and comes up unless it fails."""
        self.refreshed += labels
        went_down = {label for label in labels if self.state.vms[label]["disruptive"]}
        self.down |= went_down
        self.most_down = max(self.most_down, len(self.down))
        results, unhealthy = {}, {}
        for label in labels:
            fate = self._luck.draw(st.sampled_from(["fine", "fine", "fine", "refused", "stays down"]))
            results[label] = {"changed": fate != "refused", "failed": fate == "refused", "msg": "no"}
            if fate == "stays down" and label in self.down:
                unhealthy[label] = "not ready"
            elif label in self.healable:
                self.down.discard(label)
        return results, unhealthy


def run(state: Rollout, cluster: Cluster, luck: st.DataObject, clock: list[int]) -> None:
    """Runs the batches like the module; a run that waits for room in vain stops."""
    while not state.ended:
        clock[0] += 1
        left = rollout.begin(state, str(clock[0]))
        while left and not state.stopped:
            labels = rollout.next_wave(state, left, cluster.down)
            if not labels:
                state.stopped = rollout.room_timeout(state, left, cluster.down, 300)
                break
            rollout.mark_in_progress(state, labels)
            assert state.ended or len(state.failures) >= len(labels)
            rollout.record_results(state, *cluster.change(labels))
            left = [label for label in left if label not in labels]
            if left:
                rollout.stop_if_too_many_failed(state)
        rollout.end_batch(state, luck.draw(st.sampled_from(["", "", "", "the shop does not answer"])), 1)


@given(fleets(), AMOUNTS, AMOUNTS, AMOUNTS, st.integers(0, 3), st.booleans(), st.data())
def test_runs_keep_their_limits(
    fleet: dict[str, str], size: str, most: str, failures: str, canary: int, never: bool, luck: st.DataObject
) -> None:
    vms = {label: planned(label, kind) for label, kind in fleet.items()}
    if never:
        vms = {label: {**vm, "disruptive": False, "touched": vm["down"]} for label, vm in vms.items()}
    stuck = {label: "ErrorPvcNotFound" for label, kind in fleet.items() if KINDS[kind][3]}
    restart = "never" if never else "if_required"
    state = rollout.plan(vms, stuck, len(vms), Limits(size, most, failures, canary), restart, False)
    due = [label for label, vm in vms.items() if vm["decision"] in vm_decision.DUE]
    assert sorted(label for batch in state.batches for label in batch) == sorted(due)
    largest = max(1, rollout.amount(size, len(vms), round_up=True), canary)
    assert all(0 < len(batch) <= largest for batch in state.batches)

    cluster, clock = Cluster(fleet, state, luck), [0]
    run(state, cluster, luck, clock)
    assert len(cluster.refreshed) == len(set(cluster.refreshed)) and set(cluster.refreshed) <= set(due)
    assert cluster.most_down <= max(state.max_unavailable, cluster.began_with)
    assert clock[0] <= len(due)
    if state.stopped:
        assert len(state.failures) > state.max_failures or "down" in state.stopped
    else:
        assert set(cluster.refreshed) == set(due) and len(state.failures) <= state.max_failures
    # The state is plain data, and goes on as if nothing had been.
    assert Rollout.of(state.as_data()) == state

    now = {label: {"instancetype": {"revision": "new"}} for label in cluster.refreshed}
    had = rollout.previous_revisions(state, now, moves=False)
    assert set(had) == set(cluster.refreshed)
    failed = [label for label in had if state.outcomes[label]["failed"]]
    assert list(had)[: len(failed)] == failed


@given(st.integers(0, 100), st.integers(0, 500))
def test_shares_are_rounded_as_asked(share: int, total: int) -> None:
    exact = share * total / 100
    assert rollout.amount(f"{share}%", total) <= exact <= rollout.amount(f"{share}%", total, round_up=True)
    assert rollout.amount(str(share), total) == share
