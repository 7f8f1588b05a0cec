"""The rollout of a refresh to a fleet: which VMs, in which order and batches, when to wait, stop and roll back.

A `Rollout` is the state of a run, plain data that passes from task to task. The functions here decide; whoever carries
them out says what was seen and what became of it. VMs are named NAMESPACE/NAME.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Final, NamedTuple

from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.change.drift import DRIFTED
from .vm_decision import DUE, NEVER, REFUSED, UNREADABLE, Facts

_SHOWN: Final = 5
_BROKEN_OFF: Final = "its batch was broken off"


class Limits(NamedTuple):
    """The sizes of a run, as texts such as `10` or `20%`. canary: the number of VMs of the first batch, 0 for none."""

    batch_size: str = "20%"
    max_unavailable: str = "20%"
    max_failures: str = "0"
    canary: int = 1


@dataclass
class Rollout:
    """The state of a run.

    vms: the decision on each selected VM, see `vm_decision.planned_vm`. batches: the VMs that are due, in order.
    max_unavailable, max_failures: numbers of VMs. share: what max_unavailable is a share of, in words.
    started: the begin of the run, UTC. holder: the name of the run where runs share a Lease.
    next_batch: the number of the next batch, from 0. begun: when the last one began, "" for none. longest: the seconds
    of the longest batch.
    outcomes, rollbacks: the outcomes of VMs. stopped, out_of_time, rollback_stopped: why the run, or its rollback,
    ended early; "" if it did not.
    """

    vms: dict[str, Facts]
    batches: list[list[str]]
    max_unavailable: int
    max_failures: int
    share: str = ""
    started: str = ""
    holder: str = ""
    next_batch: int = 0
    begun: str = ""
    longest: float = 0.0
    outcomes: dict[str, Facts] = field(default_factory=dict)
    rollbacks: dict[str, Facts] = field(default_factory=dict)
    stopped: str = ""
    out_of_time: str = ""
    rollback_stopped: str = ""

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Rollout:
        """The state from `as_data`. Raises TypeError or KeyError for other data."""
        return cls(**{entry.name: data[entry.name] for entry in fields(cls)})

    def as_data(self) -> Facts:
        return asdict(self)

    @property
    def ended(self) -> bool:
        """Whether no further batch begins."""
        return bool(self.stopped or self.out_of_time) or self.next_batch >= len(self.batches)

    @property
    def failures(self) -> list[str]:
        """One line for each VM that failed, or that is refused."""
        refused = [vm["complaint"] for vm in self.vms.values() if vm["decision"] in (REFUSED, UNREADABLE)]
        return refused + [outcome["complaint"] for outcome in self.outcomes.values() if outcome["failed"]]


def amount(text: str, total: int, *, round_up: bool = False) -> int:
    """A number of VMs, or a percentage of a total. text: such as `10` or `20%`."""
    if not text.endswith("%"):
        return int(text)
    share = int(text[:-1]) * total
    return -(-share // 100) if round_up else share // 100


def plan(
    vms: Mapping[str, Facts], stuck: Mapping[str, str], fleet: int, limits: Limits, restart: str, shared: bool
) -> Rollout:
    """Plans a run.

    vms: label → VM, see `vm_decision.planned_vm`. stuck: label → status of the VMs that count for max_unavailable and
    are stuck; where runs share a limit (`shared`), of all VMs, else of the selected ones. fleet: the number of VMs that
    count. If stuck VMs that this run does not heal leave no room for a restart, it stops before it begins.
    """
    most = max(1, amount(limits.max_unavailable, fleet))
    share = ""
    if limits.max_unavailable.endswith("%"):
        of = "VMs that the runs share" if shared else "selected VMs"
        share = f"{limits.max_unavailable.replace('%', ' %')} of the {fleet} {of}"
    rollout = Rollout(dict(vms), [], most, amount(limits.max_failures, len(vms)), share)
    due = {label: vm for label, vm in vms.items() if vm["decision"] in DUE}
    fallen = [label for label, vm in due.items() if vm["down"] and not vm["broken"]]
    broken = [label for label, vm in due.items() if vm["broken"]]
    disrupted = [label for label, vm in due.items() if vm["disruptive"] and not vm["down"]]
    calm = [label for label, vm in due.items() if not vm["touched"]]
    others = {label: status for label, status in stuck.items() if label not in due or label in broken}
    room = most - len(others)
    size = max(1, amount(limits.batch_size, len(vms), round_up=True))
    if disrupted and room < 1:
        rollout.stopped = _no_room(others, most, share)
    elif len(rollout.failures) > rollout.max_failures:
        rollout.stopped = _too_many(rollout)
    restarted = size if restart == NEVER else max(1, min(size, room))
    ordered = [*fallen, *disrupted, *calm, *broken]
    canary = set(ordered[: limits.canary])
    rollout.batches = _chunks(ordered[: limits.canary], restarted)
    for labels, most_of in ((fallen, restarted), (disrupted, restarted), (calm, size), (broken, size)):
        rollout.batches += _chunks([label for label in labels if label not in canary], most_of)
    return rollout


def _chunks(labels: Sequence[str], size: int) -> list[list[str]]:
    return [list(labels[start : start + size]) for start in range(0, len(labels), size)]


def _no_room(others: Mapping[str, str], maximum: int, share: str) -> str:
    named = [f"{label} ({status})" for label, status in others.items()]
    may = f"at most {maximum} {'VM' if maximum == 1 else 'VMs'} may be down{f' ({share})' if share else ''}"
    return (
        f"{may}, and {len(others)} {'is' if len(others) == 1 else 'are'} down that no refresh heals: {_first(named)};"
        f" repair or stop them, or set revision_refresh_max_unavailable to more than {len(others)}"
    )


def _first(texts: Sequence[str], separator: str = ", ") -> str:
    return separator.join(texts[:_SHOWN]) + (f"{separator}..." if len(texts) > _SHOWN else "")


def _too_many(rollout: Rollout) -> str:
    failures = rollout.failures
    return f"{len(failures)} failed, at most {rollout.max_failures} may: {_first(failures, '; ')}"


def begin(rollout: Rollout, now: str) -> list[str]:
    """Begins the next batch. Its VMs count as failed until `record_results` says what became of them. now: UTC."""
    batch = rollout.batches[rollout.next_batch]
    rollout.next_batch += 1
    rollout.begun = now
    return batch


def next_wave(rollout: Rollout, remaining: Sequence[str], down: Collection[str]) -> list[str]:
    """The remaining VMs of a batch that may be changed now; [] if others have to come up first.

    down: all VMs that are down now and count. A VM that is down already can be restarted without adding to them.
    """
    free = [label for label in remaining if label in down or not rollout.vms[label]["touched"]]
    others = [label for label in remaining if label not in free]
    return free + others[: max(0, rollout.max_unavailable - len(set(down)))]


def mark_in_progress(rollout: Rollout, labels: Iterable[str]) -> None:
    """Notes that VMs are about to be changed: they count as failed until it is known what became of them."""
    for label in labels:
        rollout.outcomes[label] = _outcome({"changed": True, "failed": True}, f"{label}: {_BROKEN_OFF}")


def record_results(rollout: Rollout, results: Mapping[str, Facts], unhealthy: Mapping[str, str]) -> None:
    """Notes what became of VMs. results: the results of controller_revision. unhealthy: label → why a VM is not
    healthy.
    """
    rollout.outcomes.update(_judged(results, unhealthy))


def _judged(results: Mapping[str, Facts], unhealthy: Mapping[str, str]) -> dict[str, Facts]:
    judged = {}
    for label, result in results.items():
        why = result.get("msg", "failed") if result["failed"] else unhealthy.get(label, "")
        judged[label] = _outcome({**result, "failed": bool(why)}, f"{label}: {why}" if why else "")
    return judged


def _outcome(result: Facts, complaint: str) -> Facts:
    return {
        "changed": bool(result.get("changed")),
        "restarted": bool(result.get("restarted")),
        "needs": result.get("needs", ""),
        "failed": bool(result["failed"]),
        "complaint": complaint,
    }


def room_timeout(rollout: Rollout, remaining: Sequence[str], down: Collection[str], seconds: float) -> str:
    """Why the run stops after it waited in vain to change the remaining VMs, because too many others are down.

    remaining, down: see `next_wave`. seconds: how long it waited.
    """
    others = sorted(set(down) - set(remaining))
    touched = [label for label in remaining if rollout.vms[label]["touched"] and label not in down]
    return (
        f"{len(others)} others are down for {seconds:g} s, and {len(touched)} more would be; at most"
        f" {rollout.max_unavailable} may: {_first(others)}"
    )


def stop_if_too_many_failed(rollout: Rollout) -> bool:
    """Stops the run if more VMs failed than may. Returns whether it is stopped."""
    if not rollout.stopped and len(rollout.failures) > rollout.max_failures:
        rollout.stopped = _too_many(rollout)
    return bool(rollout.stopped)


def end_batch(rollout: Rollout, health_problem: str, seconds: float) -> None:
    """Ends the last batch: with the complaint of the user's health tasks, and its duration in seconds."""
    if not rollout.begun:
        return
    rollout.begun = ""
    rollout.longest = max(rollout.longest, seconds)
    for label in rollout.batches[rollout.next_batch - 1]:
        outcome = rollout.outcomes.get(label)
        if health_problem and outcome is not None and not outcome["failed"]:
            outcome.update(failed=True, complaint=f"{label}: health check: {health_problem}")
    stop_if_too_many_failed(rollout)


def previous_revisions(rollout: Rollout, now: Mapping[str, Facts], moves: bool) -> dict[str, Facts]:
    """The earlier revisions of the VMs that this run has changed, the failed ones first: label → matcher → revision.

    now: label → the result of virtual_machine_info for the VM. moves: a move has its `previous` state instead.
    """
    tried = [label for label in rollout.outcomes if label in now]
    failed = [label for label in tried if rollout.outcomes[label]["failed"]]
    previous = {}
    for label in [*failed, *(label for label in tried if label not in failed)]:
        vm = rollout.vms[label]
        if moves:
            # The state now says nothing: the cluster may have changed it again.
            before = vm["previous"] if rollout.outcomes[label]["changed"] else {}
        else:
            before = {
                matcher_field.name: vm["state"][matcher_field.name]["revision"]
                for matcher_field in MATCHER_FIELDS
                if (vm["state"].get(matcher_field.name) or {}).get("state") == DRIFTED
                and matcher_field.name in now[label]
                and now[label][matcher_field.name]["revision"] != vm["state"][matcher_field.name]["revision"]
            }
        if before:
            previous[label] = before
    return previous


def record_rollbacks(rollout: Rollout, results: Mapping[str, Facts], unhealthy: Mapping[str, str]) -> None:
    """Notes what became of VMs that were rolled back, like `record_results`."""
    rollout.rollbacks.update(_judged(results, unhealthy))


def summary(rollout: Rollout) -> str:
    """The plan in one line."""
    due = sum(vm["decision"] in DUE for vm in rollout.vms.values())
    batches = len(rollout.batches)
    share = f" ({rollout.share})" if rollout.share else ""
    return (
        f"{len(rollout.vms)} virtual machine{'' if len(rollout.vms) == 1 else 's'}, {due} due, in {batches}"
        f" batch{'' if batches == 1 else 'es'}; at most {rollout.max_unavailable}{share} may be down at a time and"
        f" {rollout.max_failures} may fail"
    )


def batch_summary(rollout: Rollout) -> str:
    """The outcome of the last batch, in one line."""
    batch = rollout.batches[rollout.next_batch - 1]
    outcomes = [rollout.outcomes[label] for label in batch if label in rollout.outcomes]
    counts = {
        "changed": sum(outcome["changed"] for outcome in outcomes),
        "restarted": sum(outcome["restarted"] for outcome in outcomes),
        "failed": sum(outcome["failed"] for outcome in outcomes),
        "not reached": len(batch) - len(outcomes),
    }
    done = ", ".join(f"{count} {word}" for word, count in counts.items() if count or word == "changed")
    return (
        f"batch {rollout.next_batch} of {len(rollout.batches)}: {len(batch)} VM{'' if len(batch) == 1 else 's'}, {done}"
    )
