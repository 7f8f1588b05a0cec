"""The capture of a VM's instancetype and preference by virt-controller (KubeVirt ``revision/store.go``).

It creates a ControllerRevision for a matcher if the reference in the VM's status has none, or differs in name, kind or
volume; then it patches the references. Releases before 1.5 write the revision's name into the matcher instead. The API
server's responses are predicted from the given objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Union

from ...api import release_schema
from ...api.errors import FieldError
from ...api.manifest import Manifest, namespace_of
from ...api.matcher import INSTANCETYPE, PREFERENCE, ROLES, Role
from ...api.release import NEWEST, Release
from ..apply import applier
from ..apply.conflict import webhook_message
from ..find import revision
from ..find.find import live, unexpected_kind
from ..find.lookup import PANIC, Lookup, Problem
from ..find.naming import recapture_fields


class Create(NamedTuple):
    """Creates a ControllerRevision (apps/v1; the manifest lacks apiVersion and kind)."""

    namespace: str
    manifest: Manifest


class Delete(NamedTuple):
    """Deletes a ControllerRevision. uid: of that one, "" if unknown; KubeVirt deletes by the name alone."""

    namespace: str
    name: str
    uid: str = ""


class PatchStatus(NamedTuple):
    """Sends a JSON patch to the status subresource of a VM."""

    namespace: str
    name: str
    patch: list[Manifest]


class PatchSpec(NamedTuple):
    """Sends a JSON patch for the spec of a VM."""

    namespace: str
    name: str
    patch: list[Manifest]


Action = Union[Create, Delete, PatchSpec, PatchStatus]


class Writes(NamedTuple):
    """The writes of virt-controller that store the revisions of a VM.

    actions: the requests in order; with an error, up to the request that fails.
    instancetype_ref, preference_ref: the references in the VM's status afterwards, None for none.
    instancetype, preference: the matchers in the VM's spec afterwards, None for none.
    """

    actions: tuple[Action, ...] = ()
    instancetype_ref: Manifest | None = None
    preference_ref: Manifest | None = None
    error: Problem | None = None
    instancetype: Manifest | None = None
    preference: Manifest | None = None


def successful_writes(
    actions: Iterable[Action], references: Mapping[Role, Manifest | None], matchers: Mapping[Role, Manifest | None]
) -> Writes:
    """Writes without an error."""
    return Writes(
        tuple(actions),
        references.get(INSTANCETYPE),
        references.get(PREFERENCE),
        None,
        matchers.get(INSTANCETYPE),
        matchers.get(PREFERENCE),
    )


def already_exists(name: str) -> Problem:
    """The API server's error for creating an existing ControllerRevision."""
    return Problem(f'controllerrevisions.apps "{name}" already exists', "AlreadyExists", 409)


class CreatedRevisions:
    """The ControllerRevisions of a lookup, and those created since."""

    def __init__(self, objects: Lookup) -> None:
        self._objects = objects
        self._created: dict[tuple[str, str], Manifest] = {}

    def get(self, namespace: str, name: str) -> Manifest | Problem | None:
        created = self._created.get((namespace, name))
        return created if created is not None else self._objects.get("ControllerRevision", namespace, name)

    def add(self, manifest: Manifest) -> Manifest | Problem | None:
        """Creates a revision. Returns the existing object of that name, or None."""
        metadata = manifest["metadata"]
        key = metadata.get("namespace", ""), metadata["name"]
        existing = self.get(*key)
        if existing is None:
            self._created[key] = manifest
        return existing


class _Capture(NamedTuple):
    """The state of a VM's capture; actions grows."""

    vm: Manifest
    objects: Lookup
    created: CreatedRevisions
    actions: list[Action]
    release: Release


def store(vm: Manifest, objects: Lookup, release: Release = NEWEST) -> Writes:
    """The writes of virt-controller for a VM (plain manifest) and the objects in the cluster."""
    try:
        vm = release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        return Writes(error=Problem(str(error), "BadRequest", 400))
    capture = _Capture(vm, objects, CreatedRevisions(objects), [], release)
    return _store_in_status(capture) if release.captures_in_status else _store_in_spec(capture)


def _store_in_status(capture: _Capture) -> Writes:
    vm, actions = capture.vm, capture.actions
    references = {role: vm["status"].get(role.reference) for role in ROLES}
    patch: list[Manifest] = []
    for role in ROLES:
        synced = _sync(capture, role)
        if isinstance(synced, Problem):
            return Writes(tuple(actions), error=synced)
        if synced is not None and synced != (references[role] or {}):
            references[role] = synced
            patch.append({"op": "add", "path": f"/status/{role.reference}", "value": synced})
    if patch:
        actions.append(PatchStatus(namespace_of(vm), vm["metadata"].get("name", ""), patch))
    return successful_writes(actions, references, {role: role.matcher_of(vm) for role in ROLES})


def _store_in_spec(capture: _Capture) -> Writes:
    """A matcher that names a revision keeps it, whatever its source."""
    vm, actions = capture.vm, capture.actions
    matchers = {role: role.matcher_of(vm) for role in ROLES}
    patch: list[Manifest] = []
    for role, matcher in matchers.items():
        if matcher is None or "revisionName" in matcher:
            continue
        name = _create(capture, role)
        if isinstance(name, Problem):
            return Writes(tuple(actions), error=name)
        path = f"/spec/{role.matcher}/revisionName"
        patch += ({"op": "test", "path": path, "value": None}, {"op": "add", "path": path, "value": name})
        matchers[role] = {**matcher, "revisionName": name}
    if patch:
        actions.append(PatchSpec(namespace_of(vm), vm["metadata"].get("name", ""), patch))
    return successful_writes(actions, {}, matchers)


def _sync(capture: _Capture, role: Role) -> Manifest | Problem | None:
    """The reference for the matcher, after creating its revision if needed; None without a matcher."""
    matcher = role.matcher_of(capture.vm)
    if matcher is None:
        return None
    reference = dict(role.reference_of(capture.vm))
    for field in recapture_fields(matcher, reference):
        reference[field] = matcher[field]
        reference.pop("controllerRevisionRef", None)
    if "inferFromVolumeFailurePolicy" in matcher:
        reference["inferFromVolumeFailurePolicy"] = matcher["inferFromVolumeFailurePolicy"]
    if "revisionName" in matcher:
        reference["controllerRevisionRef"] = {"name": matcher["revisionName"]}
    if "controllerRevisionRef" not in reference:
        name = _create(capture, role)
        if isinstance(name, Problem):
            return name
        reference["controllerRevisionRef"] = {"name": name}
    return reference


def _create(capture: _Capture, role: Role) -> str | Problem:
    """Creates the revision of the live object, or reuses an existing one with the same spec. Returns its name."""
    vm, objects, created, actions, release = capture
    matcher = role.matcher_in(vm)
    if release.storing_needs_kind and "kind" not in matcher:
        return unexpected_kind(role, matcher)
    result = live(vm, role, objects, release)
    if result.error is not None or result.manifest is None:
        return result.error or Problem(f"the VirtualMachine has no {role.matcher}")
    try:
        manifest = revision.controller_revision(vm, result.manifest, release)
        spec = result.manifest.get("spec") or {}
        conflict = _conflict(vm, spec, release) if role is INSTANCETYPE else None
    except FieldError as error:
        return Problem(str(error))
    if conflict is not None:
        return conflict
    name: str = manifest["metadata"]["name"]
    actions.append(Create(namespace_of(vm), manifest))
    existing = created.add(manifest)
    if existing is None:
        return name
    if isinstance(existing, Problem):
        return Problem(f"failed to get ControllerRevision: {existing.message}", existing.reason, existing.code)
    compared = revision.compare(manifest, existing, release, role)
    if compared.error is not None:
        return Problem(compared.error)
    if not compared.equal:
        return Problem(f"found existing ControllerRevision with unexpected data: {name}")
    return name


def _conflict(vm: Manifest, instancetype: Manifest, release: Release) -> Problem | None:
    """The conflict of the instancetype with the VM, if it changed after admission."""
    template = vm["spec"]["template"]
    if template is None:
        return Problem("the VirtualMachine has no template", PANIC)
    # Without a preference KubeVirt does not panic here.
    conflicts = applier.apply(template, instancetype, None, release).conflicts
    return Problem(webhook_message(conflicts, release)) if conflicts else None
