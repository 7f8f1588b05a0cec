"""Predicts how the cluster will respond to a VM, with the remedy.

It finds rejections by admission, missing disks, guests too small to boot, and accepted VMs that KubeVirt cannot start.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from ..api import behaviour
from ..api.errors import KubeVirtError, Panic, value_or_none
from ..api.finding import CANNOT_BOOT, ERROR, NEVER_STARTS, UNUSED, WARNING, Finding
from ..api.manifest import Manifest, name_of
from ..api.matcher import INSTANCETYPE, MATCHER_FIELDS, PREFERENCE, Inferring, MatcherField
from ..api.name_rules import first_names, join_or, one_line
from ..api.release import is_newer
from ..api.state import ACTIVE, OBSOLETE, state_of
from ..api.tree import copy
from ..choose import suggestions
from ..choose.fitting import series_of
from ..choose.suggestions import Lister, of_kind, resembling
from ..kubevirt.admission import admitter, firmware, launcher_pod, validate, virtual_machine
from ..kubevirt.admission.mutate import AdmissionResult
from ..kubevirt.admission.response import Response, invalid
from ..kubevirt.admission.rule import INVALID, Cause
from ..kubevirt.cluster import Cluster
from ..kubevirt.instancetype import find
from ..kubevirt.instancetype.lookup import Lookup
from ..kubevirt.vm import vmi
from ..kubevirt.vm.readiness import HALTED, has_guest, run_strategy
from ..kubevirt.vm.vmi_defaults import set_vmi_defaults
from .derived_names import too_long
from .guest_size import too_little_memory, unused_sockets
from .lost_objects import lost_revision
from .plugging import unplugged_volumes
from .references import missing_references, missing_sources


def start_failures(vm: Manifest, applied: Manifest, live: Manifest | None, cluster: Cluster) -> list[Cause]:
    """Why KubeVirt will not create the VMI of a VM (startVMI) or its pod, with the fields of the VM; empty if it will,
    or if it already rejects the VM.

    vm: the admitted VM, canonical. applied: the same with instancetype, preference and defaults in its template.
    live: the live VM.
    """
    try:
        metadata, spec = vmi.build_in_place(copy(vm), cluster)
    except KubeVirtError as error:
        return [Cause(INVALID, error.message, "")]
    set_vmi_defaults(spec, cluster.kubevirt, maximums=False)
    before = None if live is None else live["spec"]
    namespace = vm["metadata"].get("namespace", "")
    try:
        causes = list(dict.fromkeys(admitter.vmi(metadata, spec, cluster.kubevirt)))
        if causes and admitter.virtual_machine_causes(applied["spec"], vm["spec"], before, namespace, cluster.kubevirt):
            return []
    except Panic:
        # virt-api crashes on the VM, too.
        return []
    return causes or list(launcher_pod.causes(spec, "spec.template.spec", cluster.kubevirt))


_TEMPLATE: Final = "spec.template.spec"
_NOT_STARTED: Final = (HALTED, "Manual")
_CANNOT_START: Final = "KubeVirt accepts the VM, but cannot start it"
_SHOWN: Final = 5


Check = Callable[[Manifest, "Manifest | None", Lookup], Iterable[Finding]]
"""Further findings about a VM that KubeVirt admits: (the VM, the live VM, the cluster's objects) → findings."""


def findings(
    admission: AdmissionResult,
    live: Manifest | None,
    cluster: Cluster,
    lister: Lister,
    checks: Sequence[Check] = (),
    inferring: Inferring = MappingProxyType({}),
) -> list[Finding]:
    """Findings about a planned VM: inference, unknown objects, conflicts, requirements, in KubeVirt's order.

    live: the live VM. lister: returns all manifests of a kind in a namespace, for suggestions. checks: add to these.
    inferring: options that infer what KubeVirt does not. Like KubeVirt, reports only the first failing step; the remedy
    names what would work instead.
    """
    vm, admitted = admission.vm, admission.admitted
    if admitted is None:
        # KubeVirt does not say which matcher it could not infer.
        matcher_fields = suggestions.uninferred_fields(vm, cluster)
        remedy = "; ".join(
            dict.fromkeys(
                suggestions.matcher_remedy(matcher_field, vm, cluster, lister, inferring)
                for matcher_field in matcher_fields
            )
        )
        missing = any(suggestions.missing_source(matcher_field, vm, cluster) for matcher_field in matcher_fields[:1])
        suspects = [f"spec.{matcher_field.name}.inferFromVolume" for matcher_field in matcher_fields]
        return [replace(_of_response(admission.refusal or Response(False), remedy, suspects), missing=missing)]
    unplugged = unplugged_volumes(admitted, live, cluster.kubevirt)
    return [
        *_admitted_findings(admission, admitted, live, cluster, lister, checks),
        *_dropped_matchers(admission, admitted, cluster, inferring),
        *state_findings(admitted, live, cluster),
        *_crashing_removals(admitted, live, cluster),
        *([Finding.of_line(unplugged, WARNING)] if unplugged else []),
    ]


def state_findings(vm: Manifest, live: Manifest | None, cluster: Cluster) -> Iterator[Finding]:
    """A finding for each deprecated or obsolete object that a VM gets; what the live VM has already, it keeps.

    vm: the admitted VM.
    """
    for matcher_field in MATCHER_FIELDS:
        if live is not None and _identity(matcher_field, vm) == _identity(matcher_field, live):
            continue
        manifest = value_or_none(find.live_object, vm, matcher_field, cluster.objects)
        state = state_of(manifest or {})
        if state.name == ACTIVE:
            continue
        obsolete = state.name == OBSOLETE
        reason = "obsolete, so only VMs that already have it may use it" if obsolete else state.text
        remedy = f"use {state.replacement or f'another {matcher_field.name}'}" if obsolete else ""
        yield Finding(
            f"{matcher_field.matcher_or_empty(vm).get('name')} is {reason}",
            ERROR if obsolete else WARNING,
            f"spec.{matcher_field.name}.name",
            remedy,
            rule=state.name,
        )


def _crashing_removals(admitted: Manifest, live: Manifest | None, cluster: Cluster) -> Iterator[Finding]:
    """A doubt for each matcher whose removal may crash virt-controller, and with it the handling of all VMs."""
    if live is None or not cluster.release.has(behaviour.CRASHES_WITHOUT_MATCHER):
        return
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.reference_of(live).get("controllerRevisionRef") and matcher_field.matcher_of(admitted) is None:
            yield Finding(
                "once it is removed, the next start of the VM crashes virt-controller of KubeVirt 1.5 to 1.7, except"
                " for the latest patches",
                WARNING,
                f"spec.{matcher_field.name}",
                "upgrade KubeVirt first, or delete and create the VM again",
            )


def _identity(matcher_field: MatcherField, vm: Manifest) -> tuple[str | None, Any]:
    """The kind and the name of the object that a VM's matcher names."""
    matcher = matcher_field.matcher_or_empty(vm)
    return matcher_field.kind_of(matcher), matcher.get("name")


def _dropped_matchers(
    admission: AdmissionResult, admitted: Manifest, cluster: Cluster, inferring: Inferring
) -> Iterator[Finding]:
    """A note for each matcher that the failure policy Ignore drops, which KubeVirt does silently."""
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.matcher_of(admission.vm) is not None and matcher_field.matcher_of(admitted) is None:
            reason = suggestions.inference_blocker(matcher_field, admission.vm, cluster, inferring)
            if reason:
                yield Finding(f"the VM gets none, since KubeVirt is {reason}", WARNING, f"spec.{matcher_field.name}")


def _admitted_findings(
    admission: AdmissionResult,
    admitted: Manifest,
    live: Manifest | None,
    cluster: Cluster,
    lister: Lister,
    checks: Sequence[Check],
) -> list[Finding]:
    vm = admission.vm
    lost = [
        found for matcher_field in MATCHER_FIELDS for found in _lost_revision(admitted, matcher_field, live, cluster)
    ]
    if lost:
        # KubeVirt's errors for a VM without the object, such as that a preference requires more memory than none.
        response = validate.virtual_machine(copy(admitted), cluster)
        unmet = response.stage == validate.REQUIREMENTS
        return lost if response.allowed else [replace(_of_response(response, lost[0].line), missing=unmet)]
    names = list(too_long(admitted, live, cluster))
    missing = [
        found for matcher_field in MATCHER_FIELDS for found in _missing_object(admitted, matcher_field, cluster, lister)
    ]
    missing += [Finding.of_line(line, missing=True) for line in missing_sources(vm, live, cluster.objects, lister)]
    if missing:
        return [*names, *missing]
    # Somebody else may still create what must exist before the VM starts.
    absent = missing_references(admitted, cluster.objects, live, lister)
    later = [Finding.of_line(line, WARNING, missing=True) for line in absent]
    further = [found for check in checks for found in check(vm, live, cluster.objects)]
    return [*names, *_validation_findings(admitted, live, cluster, lister), *later, *further]


def _validation_findings(admitted: Manifest, live: Manifest | None, cluster: Cluster, lister: Lister) -> list[Finding]:
    # The validating webhook applies instancetype, preference and defaults to its input.
    applied = copy(admitted)
    response = validate.virtual_machine(applied, cluster)
    if response.allowed:
        preference = value_or_none(find.effective_spec, admitted, PREFERENCE, cluster.objects, cluster.release)
        boot, idle = too_little_memory(applied, preference), unused_sockets(applied)
        barred = _barred_fields(applied["spec"]["template"]["spec"], cluster)
        warnings = [Finding.of_line(boot, WARNING, rule=CANNOT_BOOT)] if boot else []
        warnings += [Finding.of_line(idle, WARNING, rule=UNUSED)] if idle else []
        warnings += _unpermitted_devices(admitted, applied, cluster)
        return [*(barred or _start_findings(admitted, applied, live, cluster)), *warnings]
    return [_of_response(response, _remedy(response, admitted, cluster, lister))]


def _unpermitted_devices(vm: Manifest, applied: Manifest, cluster: Cluster) -> Iterator[Finding]:
    """Doubts: an administrator may still permit the devices. A VM and its instancetype never share a kind of them."""
    own = vm["spec"]["template"]["spec"]["domain"]["devices"]
    listed = first_names(sorted(cluster.kubevirt.permitted_devices or ()), _SHOWN) or "none"
    remedy = f"{_CANNOT_START} until the KubeVirt object lists the device; it lists {listed}"
    for cause in launcher_pod.not_permitted(applied["spec"]["template"]["spec"], _TEMPLATE, cluster.kubevirt):
        kind = cause.field.rpartition(".")[2].partition("[")[0]
        field = cause.field if own.get(kind) else f"spec.{INSTANCETYPE.name}"
        yield Finding(cause.message, WARNING, field, remedy, rule=NEVER_STARTS)


def _barred_fields(spec: Manifest, cluster: Cluster) -> list[Finding]:
    """Findings about fields that the configuration forbids; warnings if it is unreadable, and so only assumed."""
    kubevirt = cluster.kubevirt
    closed = [*firmware.ARCHITECTURE(spec, _TEMPLATE, kubevirt), *firmware.PERSISTENT(spec, _TEMPLATE, kubevirt)]
    barred = list(virtual_machine.live_updates(spec, _TEMPLATE, kubevirt))
    severity = WARNING if kubevirt.assumption else ERROR
    return [replace(_of_response(invalid(causes), ""), severity=severity) for causes in (closed, barred) if causes]


def _starts_now(vm: Manifest, live: Manifest | None) -> bool:
    """Whether KubeVirt starts the VM now."""
    return run_strategy(vm) not in _NOT_STARTED and not (live is not None and has_guest(live))


def _start_findings(vm: Manifest, applied: Manifest, live: Manifest | None, cluster: Cluster) -> list[Finding]:
    """The errors of KubeVirt when it starts the VM (FailedCreate).

    A VM that does not start now may change until then, and a newer KubeVirt may permit more.
    """
    certain = _starts_now(vm, live) and not cluster.kubevirt.assumption and not is_newer(cluster.kubevirt.version)
    severity = ERROR if certain else WARNING
    return [
        replace(_of_response(invalid([cause]), _CANNOT_START), severity=severity, rule=NEVER_STARTS)
        for cause in start_failures(vm, applied, live, cluster)
    ]


def _of_response(response: Response, remedy: str, suspects: Iterable[str] = ()) -> Finding:
    """The finding for a rejecting response of a webhook. suspects: its fields if the response names none."""
    reported = [cause.field for cause in response.causes if cause.field]
    fields = ", ".join(dict.fromkeys(reported or suspects))
    message = one_line(response.message or "is refused")
    return replace(Finding.of_line(f"{fields}: {message}" if fields else message), remedy=remedy)


def _lost_revision(
    vm: Manifest, matcher_field: MatcherField, live: Manifest | None, cluster: Cluster
) -> Iterator[Finding]:
    """A revision of the live VM that was deleted: KubeVirt accepts changes of the VM, but neither starts nor stops it,
    even if the VM names another object.
    """
    pinned = matcher_field.matcher_or_empty(vm).get("revisionName")
    restored = live is not None and pinned and matcher_field.matcher_or_empty(live).get("revisionName") == pinned
    if (pinned and not restored) or cluster.release.has(behaviour.REFUSES_UNKNOWN_OBJECTS):
        return
    if text := lost_revision(vm, matcher_field, cluster.objects, cluster.release):
        due = _starts_now(vm, live)
        yield Finding.of_line(text, ERROR if due else WARNING, missing=due, rule=NEVER_STARTS)


def _missing_object(vm: Manifest, matcher_field: MatcherField, cluster: Cluster, lister: Lister) -> Iterator[Finding]:
    """The missing objects of the VM's matchers: KubeVirt accepts such a VM and then does not start it."""
    try:
        find.effective_spec(vm, matcher_field, cluster.objects, cluster.release)
        return
    except KubeVirtError as failure:
        error = failure
    if error.code not in (404, 500):
        yield Finding(f"could not be checked: {error.message}", WARNING, f"spec.{matcher_field.name}")
        return
    matcher = matcher_field.matcher_or_empty(vm)
    kind = matcher_field.kind_of(matcher)
    field = f"spec.{matcher_field.name}.{'revisionName' if matcher.get('revisionName') else 'name'}"
    if kind is None or matcher.get("revisionName"):
        # A matcher of an unknown kind counts as one whose object does not exist.
        yield Finding(error.message, field=field, missing=not cluster.release.has(behaviour.REFUSES_UNKNOWN_OBJECTS))
        return
    names = [name_of(manifest) for manifest in of_kind(kind, vm, lister)]
    close = resembling(str(matcher.get("name")), names)
    elsewhere = _in_other_scope(matcher_field, kind, vm, matcher.get("name"), lister)
    hint = f"did you mean {join_or(close)}?" if close else f"the cluster has {len(names)} {kind}s"
    yield Finding(error.message, field=field, remedy=elsewhere or hint, missing=True)


def _in_other_scope(matcher_field: MatcherField, kind: str, vm: Manifest, name: Any, lister: Lister) -> str:
    """The remedy if an object of that name exists with the other kind."""
    other = matcher_field.kind if kind == matcher_field.cluster_kind else matcher_field.cluster_kind
    exists = any(name_of(manifest) == name for manifest in of_kind(other, vm, lister))
    return "" if not exists else f"a {other} has this name; set {matcher_field.name}.kind to {other}"


def _remedy(response: Response, vm: Manifest, cluster: Cluster, lister: Lister) -> str:
    stage = response.stage
    if "conflicts with selected" in response.message:
        return "remove these fields from the VM, or remove its instancetype"
    if vm["spec"].get("instancetype") and stage in (validate.APPLY, validate.REQUIREMENTS):
        examples = _fitting_names(vm, cluster, lister)
        if examples:
            return f"use for example {join_or(examples)}"
    elif stage == validate.REQUIREMENTS:
        return suggestions.matcher_remedy(INSTANCETYPE, vm, cluster, lister, {})
    return ""


def _fitting_names(vm: Manifest, cluster: Cluster, lister: Lister) -> list[str]:
    """The best instancetypes of the VM's kind that meet the requirements of its preference."""
    # A missing kind has been reported already.
    kind = INSTANCETYPE.kind_of(vm["spec"]["instancetype"]) or INSTANCETYPE.cluster_kind
    preference = value_or_none(find.effective_spec, vm, PREFERENCE, cluster.objects, cluster.release)
    series = series_of(str(vm["spec"]["instancetype"].get("name", "")))
    best = suggestions.best_instancetypes(of_kind(kind, vm, lister), vm, preference, cluster, series)
    return [name_of(manifest) for manifest in best]
