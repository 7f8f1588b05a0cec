"""Adopts VMs: adds an instancetype and a preference that leave their VMIs unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from ..._cluster.client.errors import ApiError, is_outdated
from ..._cluster.client.session import Session
from ..._cluster.reads.lookup import ClusterLookup
from ..._cluster.task import Task
from ..._cluster.writes.engine import run
from ..._resolver.api.manifest import Manifest, namespaced_name
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField, ObjectKey
from ..._resolver.api.write import json_patch
from ..._resolver.change.step import VM, VMI, Act, Decision, Facts, Job, Refusal, Seen, Step
from ..._resolver.guest.effect import GuestEffect
from ..._resolver.guest.predict import admitted_effect
from ..._resolver.kubevirt.admission.mutate import admit
from ..._resolver.preflight.object_keys import keys_for_guest
from .. import adopt as choose
from .. import change
from ..adopt import Adoption

_CHANGED = "the VM changed while the task ran, so nothing was written; run the task again"


@dataclass(eq=False)
class AdoptGoal:
    """The adoption of a VM.

    vm: the live VM. adoption: None if the VM already has an instancetype. effect: what the adoption does to the guest.
    declared_elsewhere: what to warn of because another writer declares the VM, or None.
    """

    vm: Manifest
    adoption: Adoption | None = None
    effect: GuestEffect | None = None
    declared_elsewhere: str | None = None


AdoptJob = Job[AdoptGoal]


def adopt_job(vm: Manifest, adoption: Adoption | None = None, effect: GuestEffect | None = None) -> AdoptJob:
    return Job(ObjectKey(VM.kind, *namespaced_name(vm)), AdoptGoal(vm, adoption, effect))


def adopt(
    session: Session,
    vms: list[Manifest],
    task: Task,
    instancetypes: list[str] | None = None,
    preferences: list[str] | None = None,
    accept: Sequence[str] = (),
) -> list[AdoptJob]:
    """Chooses an instancetype and a preference for each VM; returns jobs in the order of `vms`.

    instancetypes, preferences: shell patterns of the names to choose from; None for all. accept: the fields that may
    differ, as `_adoption.adopt` has them.
    Raises TaskFailed if no candidate matches a pattern, RequestFailed if the VMIs cannot be read.
    """
    jobs = [adopt_job(vm) for vm in vms]
    todo = [job for job in jobs if not INSTANCETYPE.named_in(job.goal.vm)]
    if not todo:
        return jobs
    lookup = ClusterLookup(session)
    cluster = lookup.cluster
    assumption = [cluster.kubevirt.assumption] if cluster.kubevirt.assumption else []
    live = [item for namespace in sorted({job.key.namespace for job in todo}) for item in session.list(VMI, namespace)]
    vmis = {namespaced_name(item): item for item in live}
    for job in todo:
        job.seen = Seen(job.goal.vm, vmis.get((job.key.namespace, job.key.name)))
    running = [(job.goal.vm, job.seen.vmi) for job in todo if job.seen.vmi is not None]
    lookup.gather(key for pair in running for key in keys_for_guest(*pair, cluster.release))
    for job in todo:
        job.warnings += assumption
        goal, namespace = job.goal, job.key.namespace
        adoption = goal.adoption = choose.adopt(
            goal.vm,
            _candidates(lookup, INSTANCETYPE, namespace, instancetypes, job.warnings, task),
            _candidates(lookup, PREFERENCE, namespace, preferences, job.warnings, task),
            cluster,
            accept,
        )
        if adoption.chosen is None:
            job.failed = adoption.problem or "no instancetype has the CPU, memory and devices of the VM"
            continue
        job.failed, goal.declared_elsewhere = change.conflict(
            goal.vm, adoption.chosen, session.field_manager, task.force_conflicts
        )
        goal.effect = admitted_effect(goal.vm, admit(adoption.chosen.vm, goal.vm, cluster), job.seen.vmi, cluster)
    told = {job: len(job.warnings) for job in todo}
    run(session, todo, [Step("adopt", partial(_decide, session.field_manager))], task, facts=lookup)
    for job, count in told.items():
        # These are about the dry run of one VM.
        job.warnings[count:] = [f"{job.label}: {warning}" for warning in job.warnings[count:]]
    return jobs


def _candidates(
    lookup: ClusterLookup,
    matcher_field: MatcherField,
    namespace: str,
    patterns: list[str] | None,
    warnings: list[str],
    task: Task,
) -> list[Manifest]:
    """The objects that VMs of the namespace can use, cluster-wide objects first.

    If the task may not list a kind, a warning says so and the kind is skipped.
    """
    candidates: list[Manifest] = []
    for kind, place in ((matcher_field.cluster_kind, ""), (matcher_field.kind, namespace)):
        candidates += lookup.list(kind, place)
        problem = lookup.problem(kind, place)
        if problem is not None:
            warnings.append(f"cannot list {kind}, so the task ignores them: {problem.message}")
    names = {manifest["metadata"]["name"] for manifest in candidates}
    for pattern in patterns or ():
        if not any(fnmatchcase(name, pattern) for name in names):
            task.report_missing(
                f"{matcher_field.name}s: no {matcher_field.name} that the namespace {namespace} can use"
                f" matches {pattern!r}"
            )
    if patterns is None:
        return candidates
    return [
        candidate
        for candidate in candidates
        if any(fnmatchcase(candidate["metadata"]["name"], pattern) for pattern in patterns)
    ]


def _decide(field_manager: str, job: AdoptJob, _facts: Facts) -> Decision:
    vm, adoption = job.goal.vm, job.goal.adoption
    if adoption is None or adoption.chosen is None:
        return None
    chosen = adoption.chosen
    patch = change.patch(vm, chosen.vm)
    writes = (json_patch(job.key.path, patch, fieldManager=field_manager, fieldValidation="Strict"),)

    def instancetype_of(live: Manifest | None) -> Manifest:
        return INSTANCETYPE.matcher_of(live or {}) or {}

    return Act(
        writes,
        writes,
        # A retry fails if the first attempt has bumped the generation, which the patch tests: a read shows the outcome.
        took_effect=lambda now: instancetype_of(now.live) == chosen.instancetype,
        may_be_found=True,
        on_error=_failure,
        undone=lambda answer: (
            "" if instancetype_of(answer).get("name") == chosen.instancetype["name"] else "spec.instancetype"
        ),
    )


def _failure(refusal: Refusal) -> str:
    return _CHANGED if isinstance(refusal, ApiError) and is_outdated(refusal) else str(refusal)
