"""The capture of a VM's instancetype and preference by virt-controller (KubeVirt ``revision/store.go``).

It creates a ControllerRevision for a matcher if the reference in the VM's status has none, or differs in name, kind or
volume; then it patches the references. Releases before 1.5 write the revision's name into the matcher instead. The API
server's responses are predicted from the given objects.
"""

from typing import Any, NamedTuple

import checkout  # noqa: F401  # pylint: disable=unused-import

from _resolver.api import release_schema, schema
from _resolver.api.manifest import name_of, namespace_of
from _resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, MatcherField
from _resolver.api.release import Release
from _resolver.kubevirt.apply import applier
from _resolver.kubevirt.apply.conflict import webhook_message
from _resolver.kubevirt.find import decode
from _resolver.kubevirt.find import revision_store as revision
from _resolver.kubevirt.find.find import live, unexpected_kind
from _resolver.kubevirt.find.lookup import PANIC, Lookup, Problem
from _resolver.kubevirt.find.revision_names import recapture_fields
from _resolver.kubevirt.revision.migrate import Action, Create, CreatedRevisions, PatchSpec, PatchStatus, Writes

Json = dict[str, Any]


class _Failed(Exception):
    """virt-controller's error."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Capture(NamedTuple):
    """The state of a VM's capture; actions grows."""

    vm: Json
    lookup: Lookup
    created: CreatedRevisions
    actions: list[Action]
    release: Release


def capture(vm: Json, lookup: Lookup, release: Release) -> Writes:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster."""
    vm = release_schema.canonical("VirtualMachine", vm, release)
    state = _Capture(vm, lookup, CreatedRevisions(lookup), [], release)
    try:
        patch = [line for matcher_field in MATCHER_FIELDS for line in _patch(state, matcher_field)]
    except _Failed as failed:
        return Writes(tuple(state.actions), failed.problem)
    kind = PatchStatus if release.captures_in_status else PatchSpec
    return Writes((*state.actions, *([kind(namespace_of(vm), name_of(vm), patch)] if patch else ())))


def _patch(state: _Capture, matcher_field: MatcherField) -> list[Json]:
    """The JSON patch for one matcher, after creating its revision if needed. A matcher that names one keeps it."""
    matcher = matcher_field.matcher_of(state.vm)
    if matcher is None:
        return []
    if state.release.captures_in_status:
        reference = _reference(state, matcher_field, matcher)
        path = f"/status/{matcher_field.reference}"
        return (
            []
            if reference == matcher_field.reference_of(state.vm)
            else [{"op": "add", "path": path, "value": reference}]
        )
    if "revisionName" in matcher:
        return []
    path = f"/spec/{matcher_field.matcher}/revisionName"
    name = _create(state, matcher_field, matcher)
    return [{"op": "test", "path": path, "value": None}, {"op": "add", "path": path, "value": name}]


def _reference(state: _Capture, matcher_field: MatcherField, matcher: Json) -> Json:
    reference = dict(matcher_field.reference_of(state.vm) or {})
    for field in recapture_fields(matcher, reference):
        reference[field] = matcher[field]
        reference.pop("controllerRevisionRef", None)
    if "inferFromVolumeFailurePolicy" in matcher:
        reference["inferFromVolumeFailurePolicy"] = matcher["inferFromVolumeFailurePolicy"]
    if "revisionName" in matcher:
        reference["controllerRevisionRef"] = {"name": matcher["revisionName"]}
    if "controllerRevisionRef" not in reference:
        reference["controllerRevisionRef"] = {"name": _create(state, matcher_field, matcher)}
    return reference


def _create(state: _Capture, matcher_field: MatcherField, matcher: Json) -> str:
    """Creates the revision of the live object, or reuses an existing one with the same spec. Returns its name."""
    if state.release.storing_needs_kind and "kind" not in matcher:
        raise _Failed(unexpected_kind(matcher_field, matcher))
    result = live(state.vm, matcher_field, state.lookup)
    if result.manifest is None:
        raise _Failed(result.error or Problem(f"the VirtualMachine has no {matcher_field.matcher}"))
    manifest = revision.controller_revision(state.vm, result.manifest, state.release)
    if matcher_field is INSTANCETYPE:
        _check_conflicts(state, result.manifest["spec"])
    name: str = name_of(manifest)
    state.actions.append(Create(namespace_of(state.vm), manifest))
    existing = state.created.add(manifest)
    if isinstance(existing, dict):
        equal = same_content(manifest, existing, state.release, matcher_field)
        if isinstance(equal, Problem):
            raise _Failed(equal)
        if not equal:
            raise _Failed(Problem(f"found existing ControllerRevision with unexpected data: {name}"))
    return name


def _check_conflicts(state: _Capture, instancetype: Json) -> None:
    """The instancetype may have changed after admission."""
    template = state.vm["spec"]["template"]
    if template is None:
        raise _Failed(Problem("the VirtualMachine has no template", PANIC))
    # Without a preference KubeVirt does not panic here.
    conflicts = applier.apply(template, instancetype, None, state.release).conflicts
    if conflicts:
        raise _Failed(Problem(webhook_message(conflicts, state.release)))


def same_content(
    first: Json, second: Json, release: Release, matcher_field: MatcherField | None = None
) -> bool | Problem:
    """Whether two ControllerRevisions contain specs with the same meaning; metadata and scope do not count."""
    manifests = []
    for entry in (first, second):
        decoded = decode.decode(entry, release)
        if decoded.manifest is None:
            return Problem(decoded.error or "unexpected type: <nil>")
        manifests.append(decoded.manifest)
    first_role, second_role = (MATCHER_FIELD_OF_KIND[manifest["kind"]] for manifest in manifests)
    specs = [manifest["spec"] for manifest in manifests]
    return first_role is second_role and schema.equal(first_role.spec_type, *specs)
