"""The facts that hold of a VM now: the states whose beginning is an event.

The core judges: drift, what the guest lacks, what KubeVirt refuses. Here each judgement becomes a fact with the object
that caused it, so that the same cause is told once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from .._resolver.api import release_schema
from .._resolver.api.errors import KubeVirtError, value_or_none
from .._resolver.api.manifest import (
    Manifest,
    condition_of,
    created_at,
    has_condition,
    metadata_of,
    name_of,
    namespace_of,
    template_specs,
)
from .._resolver.api.matcher import MatcherField
from .._resolver.api.name_rules import one_line
from .._resolver.api.state import ACTIVE
from .._resolver.api.tree import copy
from .._resolver.change import drift as drifts
from .._resolver.change.drift import Drift, MatcherDrift
from .._resolver.guest.effect import UNKNOWN as UNKNOWN_EFFECT
from .._resolver.guest.effect import UNREAD_VMI
from .._resolver.kubevirt.admission import launcher_pod, validate
from .._resolver.kubevirt.admission.response import invalid
from .._resolver.kubevirt.instancetype import find
from .._resolver.kubevirt.instancetype.lookup import Lookup
from .._resolver.kubevirt.vm.readiness import HALTED, run_strategy
from .._resolver.preflight.findings import start_failures

DRIFTED: Final = "drifted"
RESTART_REQUIRED: Final = "restart_required"
REVISION_LOST: Final = "revision_lost"
DEPRECATED_IN_USE: Final = "deprecated_in_use"
REFUSED: Final = "refused_at_next_start"
UNSCHEDULABLE: Final = "unschedulable"
QUOTA_BLOCKED: Final = "quota_blocked"
STOPPED: Final = "stopped_unexpectedly"
OUTDATED: Final = "boot_source_outdated"
BROKEN: Final = "broken"
RUNNING: Final = "running"
DELETED: Final = "deleted"
MENDED: Final = "mended"
"""The end of another state that was told, by which a ticket about it can be closed."""

TRANSITIONS: Final = (
    DRIFTED,
    RESTART_REQUIRED,
    REVISION_LOST,
    DEPRECATED_IN_USE,
    REFUSED,
    UNSCHEDULABLE,
    QUOTA_BLOCKED,
    STOPPED,
    OUTDATED,
    BROKEN,
    RUNNING,
    DELETED,
    MENDED,
)
BEGINNINGS: Final = TRANSITIONS[:-1]
"""The transitions that are told by default: all but MENDED."""

# They do not keep a VM from running; other transitions tell them.
_RUNS_ON: Final = ("restart", "obsolete", "migration")
_ENDED: Final = ("Failed", "Succeeded")
_EXCEEDED: Final = "exceeded quota"
# Their messages say why KubeVirt or Kubernetes created no guest, pod or disk.
_BLOCKED: Final = ("Failure", "Synchronized")
_CLAIM: Final = "PersistentVolumeClaim"
_TARGETS: Final = {"pvc": _CLAIM, "snapshot": "VolumeSnapshot"}


class Fact(NamedTuple):
    """A state that holds of a VM.

    what: what makes it this state and no other, such as the generation from which a VM has drifted: a state with
    another `what` is another one. cause: what else the id depends on; it may change while the state lasts.
    text: one line for people.
    """

    what: str
    text: str
    cause: str = ""


class VMFacts(NamedTuple):
    """The facts about a VM now.

    held: the facts that hold, by the name of the transition. unknown: transitions that cannot be judged now.
    """

    held: dict[str, Fact]
    unknown: frozenset[str]


def facts_of(drift: Drift) -> VMFacts:
    """The facts of a VM. drift: the VM with its VMI and the cluster's objects."""
    held: dict[str, Fact] = {}
    unknown: set[str] = set()
    _add_revisions(drift, held, unknown)
    _add_judgements(drift, held, unknown)
    try:
        outdated = _outdated(drift.vm, drift.cluster.objects)
        held.update({OUTDATED: outdated} if outdated.what else {})
    except KubeVirtError:
        unknown.add(OUTDATED)
    held.update(_of_guest(drift.vm, drift.known_vmi))
    # Whether another VM is broken, only its diagnosis says.
    unknown |= set() if is_settled(drift) else {BROKEN}
    if metadata_of(drift.vm).get("deletionTimestamp"):
        # The end of its guest is meant. Whether that had ended before, the last look says.
        held.pop(STOPPED, None)
        unknown.add(STOPPED)
    if drift.vmi is UNREAD_VMI:
        unknown |= {RUNNING, UNSCHEDULABLE, QUOTA_BLOCKED, STOPPED} - held.keys()
    return VMFacts(held, frozenset(unknown))


def ended_guest(vmi: Manifest) -> Manifest:
    """The part of a VMI whose guest has ended by itself that a later look needs; {} for other VMIs.

    KubeVirt soon replaces it by the VMI of another guest.
    """
    metadata, phase = metadata_of(vmi), (vmi.get("status") or {}).get("phase")
    if phase not in _ENDED or metadata.get("deletionTimestamp"):
        return {}
    return {"metadata": {"uid": metadata.get("uid")}, "status": {"phase": phase}}


def with_ended_guest(vm: Manifest, facts: VMFacts, ended: Manifest | None) -> VMFacts:
    """The facts of a VM, one of whose guests has ended since the last look (`ended_guest`), or None."""
    stopped = dict(_of_guest(vm, ended)).get(STOPPED) if ended else None
    if stopped is None or STOPPED in facts.held or STOPPED in facts.unknown:
        return facts
    return facts._replace(held={**facts.held, STOPPED: stopped})


def is_settled(drift: Drift) -> bool:
    """Whether a VM runs, or is stopped, as it is declared to be, as far as its own status says."""
    vm, guest = drift.vm, drift.known_vmi or {}
    if metadata_of(vm).get("deletionTimestamp") or has_condition(vm, "Failure"):
        return False
    if has_condition(vm, "Ready") or condition_of(guest or vm, "Paused").get("reason") == "PausedByUser":
        return True
    return run_strategy(vm) in (HALTED, "Manual") and drift.vmi is None


def facts_of_diagnosis(diagnosis: Mapping[str, Any]) -> VMFacts:
    """Whether a VM is broken, as `chain.diagnose` has it; nothing else."""
    unknown = frozenset(TRANSITIONS) - {BROKEN}
    if diagnosis["state"] == "pending":
        return VMFacts({}, unknown | {BROKEN})
    link = diagnosis.get("link")
    if link is None or link in _RUNS_ON:
        return VMFacts({}, unknown)
    times = [item["time"] for item in diagnosis["evidence"]]
    return VMFacts({BROKEN: Fact(link, f"{link}: {diagnosis['problem']}", "".join(times[:1]))}, unknown)


def _add_revisions(drift: Drift, held: dict[str, Fact], unknown: set[str]) -> None:
    """Adds facts from the captured revisions and the live objects."""
    parts = drift.parts
    if any(part.state == drifts.UNKNOWN for part in parts.values()):
        unknown |= {DRIFTED, REVISION_LOST, DEPRECATED_IN_USE, REFUSED, RESTART_REQUIRED}
        return
    drifted = {field: part for field, part in parts.items() if part.state == drifts.DRIFTED}
    if drifted:
        whats = [
            f"{_object(drift, field, part)}:{part.current_generation}:{part.revision}"
            for field, part in drifted.items()
        ]
        held[DRIFTED] = Fact(" ".join(whats), "; ".join(map(_drift_text, drifted.values())))
    lost = [part.revision for part in parts.values() if part.state == drifts.REVISION_LOST]
    if lost:
        held[REVISION_LOST] = Fact(" ".join(lost), f"the captured revision {' and '.join(lost)} was deleted")
    old = {field: part for field, part in parts.items() if part.object_state not in ("", ACTIVE)}
    if old:
        whats = [f"{_object(drift, field, part)}:{part.object_state}:{part.replacement}" for field, part in old.items()]
        held[DEPRECATED_IN_USE] = Fact(" ".join(whats), "; ".join(map(_state_text, old.values())))


def _object(drift: Drift, matcher_field: MatcherField, part: MatcherDrift) -> str:
    """The live object, with its UID."""
    live = value_or_none(find.live_object, drift.vm, matcher_field, drift.cluster.objects)
    return f"{part.kind}/{part.name}:{metadata_of(live or {}).get('uid') or ''}"


def _drift_text(part: MatcherDrift) -> str:
    now = "another object of this name" if part.recreated else f"generation {part.current_generation}"
    return f"{part.kind} {part.name} is {now}, the VM has captured generation {part.generation}"


def _state_text(part: MatcherDrift) -> str:
    return f"{part.kind} {part.name} is {part.object_state}" + (f"; use {part.replacement}" if part.replacement else "")


def _add_judgements(drift: Drift, held: dict[str, Fact], unknown: set[str]) -> None:
    """Adds facts about what the guest lacks, and whether KubeVirt would start the VM."""
    if drift.cluster.kubevirt.assumption:
        # Its configuration may be unreadable for a moment only.
        unknown |= {REFUSED, RESTART_REQUIRED}
    generation = str(metadata_of(drift.vm).get("generation") or "")
    if RESTART_REQUIRED not in unknown and drift.pending.needs == UNKNOWN_EFFECT:
        unknown.add(RESTART_REQUIRED)
    if RESTART_REQUIRED not in unknown and drift.restart_required:
        guest = str(metadata_of(drift.known_vmi or {}).get("uid") or "")
        fields = ", ".join(drift.pending.outstanding)
        held[RESTART_REQUIRED] = Fact(
            f"{guest}:{fields}", drift.pending.reason or f"the guest lacks {fields}", generation
        )
    if REFUSED not in unknown and REVISION_LOST not in held:
        message = " ".join(_refusal(drift).split())
        if message:
            held[REFUSED] = Fact(message, message, generation)


def _refusal(drift: Drift) -> str:
    """Why KubeVirt rejects the VM or cannot start it, in its words; "" if it starts it."""
    cluster = drift.cluster
    vm = release_schema.canonical("VirtualMachine", copy(drift.vm), cluster.release)
    applied = copy(vm)
    try:
        response = validate.virtual_machine(applied, cluster)
    except KubeVirtError as error:
        return error.message
    if not response.allowed:
        return response.message
    spec = applied["spec"]["template"]["spec"]
    devices = launcher_pod.not_permitted(spec, "spec.template.spec", cluster.kubevirt)
    causes = [*start_failures(vm, applied, drift.vm, cluster), *devices]
    return invalid(causes).message if causes else ""


def _of_guest(vm: Manifest, vmi: Manifest | None) -> Iterator[tuple[str, Fact]]:
    """The facts that a VM and its VMI report."""
    status = (vmi or {}).get("status") or {}
    uid, phase = str(metadata_of(vmi or {}).get("uid") or ""), status.get("phase")
    if phase == "Running":
        yield RUNNING, Fact(uid, f"the guest runs on {status.get('nodeName') or 'a node'}")
    scheduled = condition_of(vmi or {}, "PodScheduled")
    if scheduled.get("status") == "False" and scheduled.get("reason") == "Unschedulable":
        yield UNSCHEDULABLE, Fact(uid, _condition_text(scheduled))
    for condition_type in _BLOCKED:
        for manifest in (vm, vmi or {}):
            condition = condition_of(manifest, condition_type)
            if _EXCEEDED in str(condition.get("message")):
                yield (
                    QUOTA_BLOCKED,
                    Fact(uid, _condition_text(condition), str(condition.get("lastTransitionTime") or "")),
                )
    failed = _failed_guest(vm, vmi, phase)
    if failed:
        yield STOPPED, Fact(failed, f"the guest ended, though the run strategy is {run_strategy(vm)}")


def _condition_text(condition: Manifest) -> str:
    return one_line(condition.get("message") or condition.get("reason"))


def _failed_guest(vm: Manifest, vmi: Manifest | None, phase: str | None) -> str:
    """The UID of the guest that ended by itself; "" if none did. A guest that is being deleted was to stop."""
    metadata = metadata_of(vmi or {})
    ends = phase == "Failed" or (phase == "Succeeded" and run_strategy(vm) == "Always")
    if ends and not metadata.get("deletionTimestamp"):
        return str(metadata.get("uid") or "")
    failure = (vm.get("status") or {}).get("startFailure") or {}
    return str(failure.get("lastFailedVMIUID") or "")


def _outdated(vm: Manifest, objects: Lookup) -> Fact:
    """The disks that are older than what their DataSources offer now; without any, a Fact of nothing.

    Raises KubeVirtError if an object cannot be read.
    """
    whats, texts = [], []
    for name, spec in template_specs(vm).items():
        reference = spec.get("sourceRef") or {}
        if reference.get("kind") != "DataSource":
            continue
        place = reference.get("namespace") or namespace_of(vm)
        source = objects.get("DataSource", place, str(reference.get("name")))
        disk = objects.get(_CLAIM, namespace_of(vm), name)
        offered = None if source is None else _offered(source, place, objects)
        # Both times are of the API server, in one format.
        if disk is not None and offered is not None and created_at(disk) < created_at(offered):
            whats.append(f"{name}:{metadata_of(offered).get('uid') or name_of(offered)}")
            texts.append(f"the DataSource {place}/{reference.get('name')} has a newer image than the disk {name}")
    return Fact(" ".join(whats), "; ".join(texts))


def _offered(source: Manifest, namespace: str, objects: Lookup) -> Manifest | None:
    """The claim or snapshot that new disks of a DataSource are cloned from."""
    # The status has the end of a chain of DataSources.
    origin = (source.get("status") or {}).get("source") or (source.get("spec") or {}).get("source") or {}
    for field, kind in _TARGETS.items():
        if origin.get(field):
            return objects.get(kind, origin[field].get("namespace") or namespace, str(origin[field].get("name")))
    return None
