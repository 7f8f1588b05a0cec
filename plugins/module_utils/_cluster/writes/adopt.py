"""Adopts VMs: adds an instancetype and a preference that leave their VMIs unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..._resolver.api.keys import FIELD_MANAGER
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, namespace_of, namespaced_name
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, MatcherField
from ..._resolver.api.write import Write, json_patch
from ..._resolver.choose import adopt as rules
from ..._resolver.choose.adopt import Adoption, Candidate
from ..._resolver.guest.effect import GuestEffect, admitted_effect
from ..._resolver.kubevirt.webhooks.mutate import admit
from ..._resolver.preflight.object_keys import keys_for_guest
from ..client.errors import ApiError, is_outdated, value_or_default
from ..client.session import Session
from ..reads.admission import Mutators
from ..reads.lookup import ClusterLookup
from ..task import Task
from .engine import WriteOutcome, run_dry, run_writes, send

_VM = KINDS["VirtualMachine"]
_VMI = KINDS["VirtualMachineInstance"]
_CHANGED = "the VM changed while the task ran, so nothing was written; run the task again"


@dataclass(eq=False)
class AdoptOutcome(WriteOutcome):
    """The outcome for one VM.

    vm: the live VM. adoption: None if the VM already has an instancetype. effect: what the adoption does to
    the guest. declared_elsewhere: what to warn of because another writer declares the VM, or None.
    """

    vm: Manifest
    adoption: Adoption | None = None
    effect: GuestEffect | None = None
    changed: bool = False
    declared_elsewhere: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        return namespaced_name(self.vm)

    @property
    def label(self) -> str:
        return "/".join(self.key)


def adopt(
    session: Session,
    vms: list[Manifest],
    task: Task,
    instancetypes: list[str] | None = None,
    preferences: list[str] | None = None,
    accept: Sequence[str] = (),
) -> list[AdoptOutcome]:
    """Chooses an instancetype and a preference for each VM; returns outcomes in the order of `vms`.

    instancetypes, preferences: shell patterns of the names to choose from; None for all. accept: the fields that may
    differ, see `choose.adopt`.
    Raises TaskFailed if no candidate matches a pattern, RequestFailed if the VMIs cannot be read.
    """
    outcomes = [AdoptOutcome(vm) for vm in vms]
    todo = [outcome for outcome in outcomes if not INSTANCETYPE.matcher_of(outcome.vm)]
    if not todo:
        return outcomes
    lookup = ClusterLookup(session)
    cluster = lookup.cluster
    assumption = [cluster.kubevirt.assumption] if cluster.kubevirt.assumption else []
    namespaces = sorted({outcome.vm["metadata"]["namespace"] for outcome in todo})
    live = [item for namespace in namespaces for item in session.list(_VMI, namespace)]
    vmis = {namespaced_name(item): item for item in live}
    running = [(outcome.vm, vmis[outcome.key]) for outcome in todo if outcome.key in vmis]
    lookup.gather(key for pair in running for key in keys_for_guest(*pair, cluster.release))
    due: dict[AdoptOutcome, Candidate] = {}
    for outcome in todo:
        namespace = outcome.vm["metadata"]["namespace"]
        outcome.warnings += assumption
        outcome.adoption = rules.adopt(
            outcome.vm,
            _candidates(lookup, INSTANCETYPE, namespace, instancetypes, outcome.warnings, task),
            _candidates(lookup, PREFERENCE, namespace, preferences, outcome.warnings, task),
            cluster,
            accept,
        )
        chosen = outcome.adoption.chosen
        if chosen is None:
            outcome.failed = outcome.adoption.problem or "no instancetype has the CPU, memory and devices of the VM"
            continue
        outcome.failed, warning = rules.conflict(outcome.vm, chosen, FIELD_MANAGER, task.force_conflicts)
        outcome.declared_elsewhere = warning
        if outcome.failed is None:
            outcome.changed = True
            due[outcome] = chosen
        future = admit(chosen.vm, outcome.vm, cluster)
        outcome.effect = admitted_effect(outcome.vm, future, vmis.get(outcome.key), cluster)
    if task.server_dry_run or not task.check_mode:
        send_patch = _dry_run if task.check_mode else _write
        run_writes(due, lambda outcome: send_patch(session, outcome, due[outcome]), task)
    return outcomes


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
                f"{matcher_field.matcher}s: no {matcher_field.matcher} that the namespace {namespace} can use"
                f" matches {pattern!r}"
            )
    if patterns is None:
        return candidates
    return [
        candidate
        for candidate in candidates
        if any(fnmatchcase(candidate["metadata"]["name"], pattern) for pattern in patterns)
    ]


def _write(session: Session, outcome: AdoptOutcome, chosen: Candidate) -> None:
    outcome.changed = False
    try:
        # A retry fails if the first attempt has bumped the generation, which the patch tests: a read shows the outcome.
        answer = send(session, _patch(outcome, chosen), lambda: _is_written(session, outcome.vm, chosen.instancetype))
    except ApiError as error:
        if not is_outdated(error):
            raise
        outcome.failed = _CHANGED
        return
    outcome.changed = _has_come(session, outcome, chosen, answer)


def _has_come(session: Session, outcome: AdoptOutcome, chosen: Candidate, answer: Manifest | None) -> bool:
    """Whether the VM of an answer has the chosen instancetype. A VM without it fails."""
    if not answer or (INSTANCETYPE.matcher_of(answer) or {}).get("name") == chosen.instancetype["name"]:
        return True
    outcome.failed = Mutators(session).undone("spec.instancetype", _VM, namespace_of(outcome.vm))
    return False


def _dry_run(session: Session, outcome: AdoptOutcome, chosen: Candidate) -> None:
    client = session.dry_run_session()
    warnings, outcome.warnings = outcome.warnings, []
    run_dry(outcome, lambda _outcome: _has_come(session, outcome, chosen, send(client, _patch(outcome, chosen))))
    outcome.changed = outcome.failed is None
    outcome.warnings = [*warnings, *(f"{outcome.label}: {warning}" for warning in outcome.warnings)]


def _patch(outcome: AdoptOutcome, chosen: Candidate) -> Write:
    steps = rules.patch(outcome.vm, chosen.vm)
    return json_patch(_VM.path(*outcome.key), steps, fieldManager=FIELD_MANAGER, fieldValidation="Strict")


def _is_written(session: Session, vm: Manifest, instancetype: Manifest) -> bool:
    """Whether the patch took effect although the response was lost."""
    live = value_or_default(lambda: session.get(_VM, *namespaced_name(vm)), None)
    return live is not None and INSTANCETYPE.matcher_of(live) == instancetype
