"""Compares a declared VM with the live VM. For the manifest of the options see `vm.manifest`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..api import managed_fields
from ..api.errors import value_or_none
from ..api.managed_fields import FieldPath, TakeOver, keep_managers
from ..api.manifest import Manifest
from ..api.matcher import INSTANCETYPE, MATCHER_FIELDS, MatcherField
from ..api.tree import copy, merge, set_at, value_at
from ..kubevirt.admission import mutate
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype.infer import IGNORE
from ..kubevirt.vm import vmi
from ..kubevirt.vm.readiness import run_strategy
from ..kubevirt.vm.vmi import guest_figures
from ..ownership.writers import field_conflict
from . import rewrites
from .plan import APPLY, Plan, largest_removed, managers_to_take, present
from .plugged import adapted, is_part_of, unplug_patch
from .rewrites import CONTROLLER, RUN_STRATEGY, RUNNING
from .vm.manifest import DEFAULT_MEMORY

DEFAULT_RUN_STRATEGY: Final = "Always"
_MEMORY: Final[FieldPath] = ("spec", "template", "spec", "domain", "memory", "guest")


def with_live_values(
    desired: dict[str, Any],
    live: dict[str, Any] | None,
    manager: str,
    force: bool = False,
    take_over: TakeOver = keep_managers,
) -> tuple[Manifest, set[FieldPath] | None, Sequence[Manifest]]:
    """The declared VM, adapted to the live VM so that equivalent values are no difference; the fields that count as
    declared by us before; and the volumes that somebody plugged into the VM and that stay (`plugged.adapted`).

    - An undeclared run strategy or memory stays unchanged; a new VM gets the default.
    - A matcher that admission inferred counts as the declared one. A later apply sends its name, because KubeVirt
      rejects inferFromVolume with a name. If the policy is Ignore and nothing was inferred when the VM was created,
      inference is not repeated: a new label on a disk does not resize a VM.
    - Another spelling of a matcher's kind is the same kind; `running` is another spelling of a run strategy. A takeover
      from its owner replaces it: two managers cannot own two spellings.
    - A VM that the cluster's reference policy expanded has no matchers; the values from virt-controller stay.
    - What else KubeVirt writes to a spec: see `rewrites`. force: plugged volumes that are not declared do not stay.
    """
    # The template is most of a VM, and a task may have ten thousand, so it is copied only where it changes.
    own = {
        matcher_field.name: {**matcher}
        for matcher_field in MATCHER_FIELDS
        if (matcher := matcher_field.matcher_of(desired))
    }
    result = {**desired, "spec": {**desired["spec"], **own}}
    if live is None:
        if "runStrategy" not in result["spec"] and "running" not in result["spec"]:
            result["spec"]["runStrategy"] = DEFAULT_RUN_STRATEGY
        _keep_memory(result, None, None)
        return result, None, ()
    owned_fields = managed_fields.applied_fields(live, manager)
    if RUN_STRATEGY in (owned_fields or ()) and "runStrategy" not in result["spec"] and "runStrategy" in live["spec"]:
        result["spec"]["runStrategy"] = live["spec"]["runStrategy"]
    same_power = live["spec"].get("running") is not None and result["spec"].get("runStrategy") == run_strategy(live)
    if same_power and not managers_to_take(live, {RUNNING: None}, manager, take_over):
        del result["spec"]["runStrategy"]
    result, with_rewritten, plugged = adapted(result, live, owned_fields, manager, force)
    if expanded(result, live):
        return _without_expanded(result, live), owned_fields, plugged
    owned_fields = with_rewritten
    for matcher_field in MATCHER_FIELDS:
        owned_fields = _reconcile_matcher(matcher_field, result, live, owned_fields)
    _keep_memory(result, live, owned_fields)
    if owned_fields is not None and not _has_memory(live):
        # Admission removes the memory of a VM with an inferred instancetype, but its manager still owns it.
        owned_fields = owned_fields - {_MEMORY}
    return result, owned_fields, plugged


def as_created(desired: Manifest) -> Manifest:
    """The VM that a declaration creates."""
    return with_live_values(desired, None, "")[0]


def plan_vm(
    desired: Manifest, live: Manifest | None, manager: str, force: bool = False, take_over: TakeOver = keep_managers
) -> tuple[Plan, Sequence[Manifest]]:
    """The plan for a declared VM, and the plugged volumes that stay, see `with_live_values`."""
    manifest, owned_fields, plugged = with_live_values(desired, live, manager, force, take_over)
    step = present(manifest, live, owned_fields, manager, force, take_over)
    if live is not None and value_at(manifest, RUN_STRATEGY) is not None:
        # The other spelling of the run strategy is declared too.
        running = managers_to_take(live, {RUNNING: None}, manager, take_over)
        step = step._replace(taken_from=tuple(dict.fromkeys((*step.taken_from, *running))))
    return _with_merge_patch(step, live, manager, force), plugged


def _with_merge_patch(step: Plan, live: dict[str, Any] | None, manager: str, force: bool) -> Plan:
    """The plan with changes that KubeVirt accepts only together, and removals that server-side apply leaves out.

    force: take fields of other managers.
    """
    if live is None or step.action != APPLY:
        return step
    return _without_pins(_without_plugged(_without_running(step, live, manager, force), live, force), live, manager)


def _without_plugged(step: Plan, live: dict[str, Any], force: bool) -> Plan:
    """The plan with the removal of the disks whose plugged volumes it removes."""
    patch = unplug_patch(step.manifest, live) if force or step.conflict is None else None
    if patch is None:
        return step
    disks = patch[rewrites.DISKS]
    before = copy(step.before)
    set_at(before, rewrites.DISKS, value_at(live, rewrites.DISKS))
    after = copy(step.after)
    if disks:
        set_at(after, rewrites.DISKS, disks)
    return step._replace(before=before, after=after, merge_patch={**step.merge_patch, **patch})


def _without_pins(step: Plan, live: dict[str, Any], manager: str) -> Plan:
    """The plan without the revisionName of a replaced instancetype or preference, whoever set it.

    Name and revisionName change in one request: up to KubeVirt 1.4 virt-controller would set the revisionName again.
    The same removes the whole of a matcher whose name goes, for no VM starts with the parts that others own.
    """
    merge_patch: dict[FieldPath, Any] = {}
    before, retained = copy(step.before), step.retained
    for matcher_field in MATCHER_FIELDS:
        desired, current = matcher_field.matcher_of(step.manifest), matcher_field.matcher_of(live)
        if not current or (desired and desired.get("revisionName")):
            continue
        path, pinned = ("spec", matcher_field.name), bool(current.get("revisionName"))
        removed = before.get("spec", {}).get(matcher_field.name, {}) if desired is None else {}
        if removed and (
            pinned
            or ("name" in removed and managed_fields.owners(managed_fields.fields_of_others(live, manager), path))
        ):
            merge_patch |= {**managed_fields.leaf_fields(step.after), **_removals(step, live), path: None}
            merge(before, {"spec": {matcher_field.name: current}})
            retained = tuple(entry for entry in retained if not managed_fields.is_inside(entry[0], path))
        elif (
            pinned
            and desired
            and (
                desired.get("name") != current.get("name")
                or matcher_field.kind_of(desired) != matcher_field.kind_of(current)
            )
        ):
            fields = {"name": desired.get("name"), "kind": desired.get("kind"), "revisionName": None}
            merge_patch |= {(*path, field): value for field, value in fields.items()}
            merge(before, {"spec": {matcher_field.name: {"revisionName": current["revisionName"]}}})
    merge_patch = {**step.merge_patch, **merge_patch}
    gone = {field for field, value in merge_patch.items() if value is None}
    patch = {
        field: value
        for field, value in merge_patch.items()
        if not any(field[:length] in gone for length in range(1, len(field)))
    }
    return step._replace(before=before, merge_patch=patch, retained=retained)


def _removals(step: Plan, live: dict[str, Any]) -> dict[FieldPath, None]:
    """The fields that a plan removes: with the instancetype that comes instead of them in one request."""
    desired = managed_fields.leaf_fields(step.manifest)
    removed = managed_fields.leaf_fields(step.before).keys() - desired.keys()
    return {largest_removed(field, removed, desired, live): None for field in removed}


def _without_running(step: Plan, live: dict[str, Any], manager: str, force: bool) -> Plan:
    """The plan with the change from the deprecated `running` to a run strategy.

    KubeVirt rejects both and neither, so one merge patch swaps them. A merge patch causes no conflict; therefore the
    plan refuses to take another manager's `running`, as the API server would.
    """
    declared = value_at(step.manifest, RUN_STRATEGY)
    running = value_at(live, RUNNING)
    if declared is None or running is None:
        return step
    owners = [
        name
        for name in managed_fields.owners(managed_fields.fields_of_others(live, manager), RUNNING)
        if not rewrites.taken_back(name, RUNNING, live) and name not in step.taken_from
    ]
    if owners and not force:
        return step._replace(refusal=field_conflict({name: ["spec.running"] for name in owners}, live))
    before = merge(copy(step.before), {"spec": {"running": running}})
    return step._replace(before=before, merge_patch={**step.merge_patch, RUNNING: None, RUN_STRATEGY: declared})


def _keep_memory(desired: dict[str, Any], live: dict[str, Any] | None, owned_fields: set[FieldPath] | None) -> None:
    """Adds memory to a VM without an instancetype; one whose inference may fail does not count."""
    matcher = INSTANCETYPE.matcher_of(desired)
    if _has_memory(desired) or (matcher and matcher.get("inferFromVolumeFailurePolicy") != IGNORE):
        return
    if live is None or not (_has_memory(live) or INSTANCETYPE.matcher_of(live)):
        guest = DEFAULT_MEMORY
    elif _MEMORY in (owned_fields or ()) and _has_memory(live):
        guest = value_at(live, _MEMORY)
    else:
        return
    desired["spec"]["template"] = copy(desired["spec"]["template"])
    set_at(desired, _MEMORY, guest)


def _has_memory(vm: dict[str, Any]) -> bool:
    domain = (vm["spec"]["template"].get("spec") or {}).get("domain") or {}
    resources = domain.get("resources") or {}
    return bool(domain.get("memory") or any("memory" in (resources.get(part) or {}) for part in ("requests", "limits")))


def _reconcile_matcher(
    matcher_field: MatcherField, desired: dict[str, Any], live: dict[str, Any], owned_fields: set[FieldPath] | None
) -> set[FieldPath] | None:
    matcher, live_matcher = matcher_field.matcher_of(desired), matcher_field.matcher_of(live)
    path = ("spec", matcher_field.name)
    if matcher and matcher.get("inferFromVolumeFailurePolicy") == IGNORE and not live_matcher:
        del desired["spec"][matcher_field.name]
        return None if owned_fields is None else {field for field in owned_fields if field[:2] != path}
    if matcher is None or live_matcher is None:
        return owned_fields
    if matcher.get("inferFromVolume") and live_matcher.get("name") and not live_matcher.get("inferFromVolume"):
        inferred = {field: live_matcher[field] for field in ("name", "kind") if live_matcher.get(field)}
        desired["spec"][matcher_field.name] = inferred
        if owned_fields is not None and any(field[:2] == path for field in owned_fields):
            owned_fields = {field for field in owned_fields if field[:2] != path} | {
                (*path, field) for field in inferred
            }
    elif (
        matcher.get("name")
        and matcher_field.kind_of(matcher) is not None
        and matcher_field.kind_of(matcher) == matcher_field.kind_of(live_matcher)
    ):
        matcher.pop("kind", None)
        if live_matcher.get("kind") and (owned_fields is None or (*path, "kind") in owned_fields):
            matcher["kind"] = live_matcher["kind"]
    elif matcher.get("name") and live_matcher.get("kind") and not matcher.get("kind"):
        # Without a kind, a value that another manager owns would stay.
        matcher["kind"] = matcher_field.cluster_kind
    return owned_fields


def expanded(desired: dict[str, Any], live: dict[str, Any]) -> bool:
    """Whether virt-controller has replaced the declared matchers by the expanded spec (KubeVirt ≥ 1.4)."""
    declared = [matcher_field for matcher_field in MATCHER_FIELDS if matcher_field.matcher_of(desired)]
    if not declared or any(
        matcher_field.matcher_of(live) or matcher_field.reference_of(live) for matcher_field in MATCHER_FIELDS
    ):
        return False
    controller_fields = managed_fields.updated_fields(live, CONTROLLER)
    if INSTANCETYPE in declared:
        # Every instancetype has memory, which virt-controller writes for no other reason.
        return any(field[:-1] == _MEMORY[:-1] for field in controller_fields)
    return any(field[0] == "spec" and field not in rewrites.WITHOUT_EXPANSION for field in controller_fields)


def _without_expanded(desired: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    """The declared VM without matchers, and without values that the expansion contains."""
    result = copy(desired)
    for matcher_field in MATCHER_FIELDS:
        result["spec"].pop(matcher_field.name, None)
    controller_fields = managed_fields.updated_fields(live, CONTROLLER)
    for field, value in managed_fields.leaf_fields(result).items():
        expanded_field = any(managed_fields.is_inside(field, other) for other in controller_fields)
        if expanded_field and is_part_of(value, value_at(live, field)):
            del value_at(result, field[:-1])[field[-1]]
    return result


def size_mismatch(declared: Manifest, live: Manifest, cluster: Cluster) -> str | None:
    """A note if an expanded VM has another size than its declared matchers give now, or None.

    The cluster's reference policy replaced the matchers, so the VM does not follow them. Whether the play or the
    instancetype changed is unknown.
    """
    admitted = value_or_none(mutate.mutate, declared, cluster.objects, release=cluster.release)
    intended = value_or_none(vmi.build, admitted, cluster) if admitted else None
    actual = value_or_none(vmi.build, live, cluster)
    if intended is None or actual is None or _size(intended.spec) == _size(actual.spec):
        return None
    return (
        f"the cluster's reference policy replaced the instancetype by its values ({_size(actual.spec)}); the"
        f" instancetype now gives {_size(intended.spec)}, which the VM does not get: declare cpu and memory to change"
        " the VM"
    )


def _size(spec: Manifest) -> str:
    figures = guest_figures(spec)
    return f"{figures['vcpus']} vCPU, {figures.get('memory', 'no memory')}"
