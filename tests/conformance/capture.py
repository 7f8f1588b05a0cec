"""The capture of a VM's instancetype and preference by virt-controller (KubeVirt ``revision/store.go``).

It creates a ControllerRevision for a matcher if the reference in the VM's status has none, or differs in name, kind or
volume; then it patches the references. Releases before 1.5 write the revision's name into the matcher instead. The API
server's responses are predicted from the given objects.
"""

from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

import checkout  # noqa: F401  # pylint: disable=unused-import

from _resolver.api import behaviour, release_schema, schema
from _resolver.api.errors import KubeVirtError
from _resolver.api.manifest import name_of, namespace_of
from _resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, MatcherField
from _resolver.api.release import Release
from _resolver.kubevirt.instancetype import applier, decode, revision_store
from _resolver.kubevirt.instancetype.find import named_object, template_of, unexpected_kind
from _resolver.kubevirt.instancetype.lookup import Lookup
from _resolver.kubevirt.instancetype.revision_names import recapture_fields
from _resolver.kubevirt.vm.migrate_revisions import Action, Create, CreatedRevisions, PatchVM

Json = dict[str, Any]


Creation = Generator[Action, None, str]
"""The creation of a revision; the result is its name."""


class _Capture(NamedTuple):
    """The state of a VM's capture."""

    vm: Json
    lookup: Lookup
    created: CreatedRevisions
    release: Release


def capture(vm: Json, lookup: Lookup, release: Release) -> Iterator[Action]:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster.

    Raises KubeVirtError after the write that fails.
    """
    vm = release_schema.canonical("VirtualMachine", vm, release)
    state = _Capture(vm, lookup, CreatedRevisions(lookup), release)
    patch: list[Json] = []
    for matcher_field in MATCHER_FIELDS:
        patch += yield from _patch(state, matcher_field)
    if patch:
        part = "status" if release.has(behaviour.CAPTURES_IN_STATUS) else ""
        yield PatchVM(namespace_of(vm), name_of(vm), patch, part)


def _patch(state: _Capture, matcher_field: MatcherField) -> Generator[Action, None, list[Json]]:
    """The JSON patch for one matcher, after creating its revision if needed. A matcher that names one keeps it."""
    matcher = matcher_field.matcher_of(state.vm)
    if matcher is None:
        return []
    if state.release.has(behaviour.CAPTURES_IN_STATUS):
        reference = yield from _reference(state, matcher_field, matcher)
        path = f"/status/{matcher_field.reference}"
        return (
            []
            if reference == matcher_field.reference_of(state.vm)
            else [{"op": "add", "path": path, "value": reference}]
        )
    if "revisionName" in matcher:
        return []
    path = f"/spec/{matcher_field.name}/revisionName"
    name = yield from _create(state, matcher_field, matcher)
    return [{"op": "test", "path": path, "value": None}, {"op": "add", "path": path, "value": name}]


def _reference(state: _Capture, matcher_field: MatcherField, matcher: Json) -> Generator[Action, None, Json]:
    reference = dict(matcher_field.reference_of(state.vm) or {})
    for field in recapture_fields(matcher, reference):
        reference[field] = matcher[field]
        reference.pop("controllerRevisionRef", None)
    if "inferFromVolumeFailurePolicy" in matcher:
        reference["inferFromVolumeFailurePolicy"] = matcher["inferFromVolumeFailurePolicy"]
    if "revisionName" in matcher:
        reference["controllerRevisionRef"] = {"name": matcher["revisionName"]}
    if "controllerRevisionRef" not in reference:
        name = yield from _create(state, matcher_field, matcher)
        reference["controllerRevisionRef"] = {"name": name}
    return reference


def _create(state: _Capture, matcher_field: MatcherField, matcher: Json) -> Creation:
    """Creates the revision of the live object, or reuses an existing one with the same spec. Returns its name."""
    if not state.release.has("1.7") and "kind" not in matcher:
        raise unexpected_kind(matcher_field, matcher)
    live = named_object(matcher_field, matcher, namespace_of(state.vm), state.lookup)
    manifest = revision_store.controller_revision(state.vm, live, state.release)
    if matcher_field is INSTANCETYPE:
        # The instancetype may have changed after admission. Without a preference KubeVirt does not panic here.
        applier.apply(template_of(state.vm), live["spec"], None, state.release)
    name: str = name_of(manifest)
    yield Create(namespace_of(state.vm), manifest)
    existing = state.created.add(manifest)
    if existing is not None and not same_content(manifest, existing, state.release):
        raise KubeVirtError(f"found existing ControllerRevision with unexpected data: {name}")
    return name


def same_content(first: Json, second: Json, release: Release) -> bool:
    """Whether two ControllerRevisions contain specs with the same meaning; metadata and scope do not count.

    Raises KubeVirtError.
    """
    manifests = []
    for entry in (first, second):
        manifest = decode.decode(entry, release)
        if manifest is None:
            raise KubeVirtError("unexpected type: <nil>")
        manifests.append(manifest)
    first_role, second_role = (MATCHER_FIELD_OF_KIND[manifest["kind"]] for manifest in manifests)
    specs = [manifest["spec"] for manifest in manifests]
    return first_role is second_role and schema.equal(first_role.spec_type, *specs)
