"""The instancetype and preference of a VM, and their specs (KubeVirt ``pkg/instancetype/find``).

A pinned or captured ControllerRevision has priority over the live object. Objects come from a `Lookup`: a list of
manifests (`Objects`), or a cache for an API server.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...api import behaviour, release_schema
from ...api.errors import FieldError, KubeVirtError, Panic
from ...api.kinds import KINDS
from ...api.manifest import Manifest, labels_of, namespace_of
from ...api.matcher import MatcherField
from ...api.release import NEWEST, Release
from . import decode, revision_names
from .lookup import Lookup, not_found

Specs = Mapping[MatcherField, "Manifest | None"]
"""The canonical specs of an instancetype and a preference; None, or no entry, for a VM without one."""


def given_or_effective_spec(
    vm: Manifest, matcher_field: MatcherField, specs: Specs | None, lookup: Lookup, release: Release
) -> Manifest | None:
    """The given spec, or without `specs` the effective one. Raises KubeVirtError like `effective_spec`."""
    return effective_spec(vm, matcher_field, lookup, release) if specs is None else specs.get(matcher_field)


def effective_spec(
    vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release = NEWEST
) -> Manifest | None:
    """The canonical spec that counts for a VM; None if the VM does not refer to one.

    The revision that the VM names or has captured comes before the live object. Raises KubeVirtError for an object that
    does not exist or cannot be read.
    """
    revision = captured_revision(vm, matcher_field, lookup, release)
    if revision is not None:
        return decode.spec(revision, matcher_field, release)
    manifest = live_object(vm, matcher_field, lookup)
    if manifest is None:
        return None
    try:
        return release_schema.canonical(matcher_field.spec_type, manifest.get("spec"), release)
    except FieldError as error:
        label = f'{manifest["kind"]} "{manifest["metadata"]["name"]}"'
        raise KubeVirtError(f"{label}: {error.with_parent('spec')}") from error


def captured_revision(
    vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release = NEWEST
) -> Manifest | None:
    """The ControllerRevision that counts for a VM; None if there is none.

    A revision that the matcher names counts whatever it contains. A revision in the status counts only if it is
    labelled with the name in the matcher, so that another instancetype takes effect. Raises KubeVirtError for a
    revision that does not exist or cannot be read.
    """
    matcher = matcher_field.matcher_of(vm)
    reference = revision_names.referenced_revision(vm, matcher_field, release)
    if matcher is None or not reference.name:
        return None
    revision = _get(lookup, "ControllerRevision", namespace_of(vm), reference.name)
    if reference.pinned or not release.has(behaviour.CHECKS_CAPTURED_NAME):
        return revision
    label = labels_of(revision).get(revision_names.NAME_LABEL)
    return revision if label is not None and label == (matcher.get("name") or "") else None


def live_object(vm: Manifest, matcher_field: MatcherField, lookup: Lookup) -> Manifest | None:
    """The object that a VM's matcher names, regardless of revisions; None for a VM without the matcher.

    Raises KubeVirtError for an object that does not exist or cannot be read, and for an unknown kind.
    """
    matcher = matcher_field.matcher_of(vm)
    if matcher is None:
        return None
    return named_object(matcher_field, matcher, namespace_of(vm), lookup)


def named_object(matcher_field: MatcherField, matcher: Manifest, namespace: str, lookup: Lookup) -> Manifest:
    """The object that a matcher names. namespace: the namespace of the VM. Raises KubeVirtError like `live_object`."""
    kind = matcher_field.kind_of(matcher)
    if kind is None:
        raise unexpected_kind(matcher_field, matcher)
    return _get(lookup, kind, namespace if KINDS[kind].namespaced else "", matcher.get("name") or "")


def unexpected_kind(matcher_field: MatcherField, matcher: Manifest) -> KubeVirtError:
    """KubeVirt's error for a matcher of an unknown kind."""
    return KubeVirtError(f"got unexpected kind in {matcher_field.matcher_type}: {matcher.get('kind') or ''}")


def canonical_vm(vm: Manifest, release: Release) -> Manifest:
    """A VM in the canonical form. Raises KubeVirtError if it does not match the schema."""
    try:
        return release_schema.canonical("VirtualMachine", vm, release)
    except FieldError as error:
        raise KubeVirtError(str(error), "BadRequest", 400) from error


def template_of(vm: Manifest) -> Manifest:
    """The template of a canonical VM. Raises Panic for a VM without template."""
    template: Manifest | None = vm["spec"]["template"]
    if template is None:
        raise Panic("the VirtualMachine has no template")
    return template


def _get(lookup: Lookup, kind: str, namespace: str, name: str) -> Manifest:
    manifest = lookup.get(kind, namespace, name)
    if manifest is None:
        raise not_found(kind, name)
    return manifest
