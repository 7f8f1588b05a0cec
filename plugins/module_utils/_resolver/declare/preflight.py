"""What the cluster will say to a VM, before it is asked, and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..api import managed_fields as ownership
from ..api import schema
from ..api.matcher import INSTANCETYPE, PREFERENCE, ROLES, Role
from ..api.tree import copy
from ..choose import fitting, suggestions
from ..choose.suggestions import SUGGESTED, Names, either
from ..instancetype.find import find
from ..instancetype.find.find import Lookup
from ..instancetype.webhooks import mutate, validate
from . import sources
from .plan import Plan

__all__ = ["Issue", "issues", "result"]

Manifest = dict[str, Any]


class Issue(NamedTuple):
    """One line about a VM. certain: the cluster refuses it, or it cannot start; else it could not be checked."""

    text: str
    certain: bool = True


def issues(plan: Plan, live: Manifest | None, objects: Lookup, listed: Names) -> list[Issue]:
    """What is wrong with a planned VM: inference, unknown objects, conflicts, requirements, in KubeVirt's order.

    objects: what the cluster holds. listed: all manifests of a kind in a namespace, for suggestions.
    Only the first failing step is told, as KubeVirt does; the remedy names what would do instead.
    """
    vm = result(plan, live)
    operation = "CREATE" if live is None else "UPDATE"
    mutated = mutate.mutate(vm, objects, live, operation)
    if mutated.refusal is not None or mutated.vm is None:
        answer = mutated.refusal.as_json() if mutated.refusal is not None else {}
        # KubeVirt does not say which field it could not infer.
        roles = suggestions.not_inferred(vm, objects)
        remedy = "; ".join(dict.fromkeys(suggestions.to_add(role, vm, objects, listed) for role in roles))
        return [Issue(_line(answer, remedy, [f"spec.{role.matcher}.inferFromVolume" for role in roles]))]
    unknown = [issue for role in ROLES for issue in _unknown(mutated.vm, role, objects, listed)]
    unknown += [Issue(text) for text in sources.missing(vm, live, objects, listed)]
    if unknown:
        return unknown
    answer = validate.validate("VirtualMachine", mutated.vm, objects, operation=operation).as_json()
    if answer["allowed"]:
        return []
    return [Issue(_line(answer, _remedy(answer, mutated.vm, objects, listed)))]


def result(plan: Plan, live: Manifest | None) -> Manifest:
    """The object as it will be when the plan is carried out, before admission."""
    if live is None:
        return plan.manifest
    result = copy(live)
    for field in ownership.declared(plan.before):
        ownership.take(result, field)
    for field, value in plan.first.items():
        if value is None:
            ownership.take(result, field)
        else:
            ownership.put(result, field, value)
    for field, value in ownership.declared(plan.manifest).items():
        ownership.put(result, field, value)
    return result


def _matcher(role: Role, vm: Manifest) -> Manifest:
    return role.matcher_of(vm) or {}


def _line(answer: dict[str, Any], remedy: str, suspects: Iterable[str] = ()) -> str:
    causes = answer.get("causes") or []
    told = [cause["field"] for cause in causes if cause.get("field")]
    fields = ", ".join(dict.fromkeys(told or suspects))
    message = " ".join(str(answer.get("message", "is refused")).split())
    return "; ".join(part for part in (f"{fields}: {message}" if fields else message, remedy) if part)


def _unknown(vm: Manifest, role: Role, objects: Lookup, listed: Names) -> list[Issue]:
    """KubeVirt accepts a VM whose instancetype does not exist, and then does not start it."""
    found = find.spec(vm, role, objects)
    if found.error is None:
        return []
    if found.error.code not in (404, 500):
        return [Issue(f"spec.{role.matcher}: could not be checked: {found.error.message}", certain=False)]
    matcher = _matcher(role, vm)
    kind = role.kind_of(matcher)
    field = f"spec.{role.matcher}.{'revisionName' if matcher.get('revisionName') else 'name'}"
    if kind is None or matcher.get("revisionName"):
        return [Issue(f"{field}: {found.error.message}")]
    namespace = vm["metadata"].get("namespace", "") if find.KINDS[kind].namespaced else ""
    names = [manifest["metadata"]["name"] for manifest in listed(kind, namespace)]
    close = difflib.get_close_matches(str(matcher.get("name")), names, n=SUGGESTED, cutoff=0.5)
    elsewhere = _in_other_scope(role, kind, vm, matcher.get("name"), listed)
    if elsewhere:
        return [Issue(f"{field}: {found.error.message}; {elsewhere}")]
    hint = f"did you mean {either(close)}?" if close else f"there are {len(names)} {kind}s"
    return [Issue(f"{field}: {found.error.message}; {hint}")]


def _in_other_scope(role: Role, kind: str, vm: Manifest, name: Any, listed: Names) -> str:
    """The remedy where there is such an object, but of the other kind."""
    other = role.kind if kind == role.cluster_kind else role.cluster_kind
    namespace = vm["metadata"].get("namespace", "") if find.KINDS[other].namespaced else ""
    if not any(manifest["metadata"]["name"] == name for manifest in listed(other, namespace)):
        return ""
    return f"there is a {other} of that name: set {role.matcher}.kind to {other}"


def _remedy(answer: dict[str, Any], vm: Manifest, objects: Lookup, listed: Names) -> str:
    stage = answer.get("stage")
    if stage == "apply" and "conflicts with selected" in str(answer.get("message")):
        return "leave these fields to the instancetype, or give the VM none"
    if vm["spec"].get("instancetype") and stage in ("apply", "requirements"):
        would_do = _fitting(vm, objects, listed)
        if would_do:
            return f"{either(would_do)} would do"
    elif stage == "requirements":
        return suggestions.to_add(INSTANCETYPE, vm, objects, listed)
    return ""


def _fitting(vm: Manifest, objects: Lookup, listed: Names) -> list[str]:
    """The best instancetypes, of the kind that the VM names, with which its preference is content."""
    # A kind that there is not has been told already.
    kind = INSTANCETYPE.kind_of(vm["spec"]["instancetype"]) or INSTANCETYPE.cluster_kind
    preference = find.spec(vm, PREFERENCE, objects).spec
    namespace = vm["metadata"].get("namespace", "") if find.KINDS[kind].namespaced else ""
    spec = schema.canonical("VirtualMachineInstanceSpec", vm["spec"]["template"].get("spec"))
    series = fitting.series_of(str(vm["spec"]["instancetype"].get("name", "")))
    found = fitting.fitting(listed(kind, namespace), fitting.Wanted(preference=preference, spec=spec, series=series))
    return [manifest["metadata"]["name"] for manifest in found[:SUGGESTED]]
