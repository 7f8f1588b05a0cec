"""The instancetype and preference of a VM, and their specs (KubeVirt ``pkg/instancetype/find``).

A pinned or captured ControllerRevision has priority over the live object. Objects come from a `Lookup`: a list of
manifests (`Objects`), or a cache for an API server.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...api import release_schema
from ...api.errors import FieldError
from ...api.kinds import KINDS
from ...api.manifest import Manifest, labels_of, namespace_of
from ...api.matcher import MatcherField
from ...api.release import NEWEST, Release
from . import decode
from . import revision_names as naming
from .lookup import Lookup, Problem, not_found


class LookupResult(NamedTuple):
    """The object that a VM refers to. manifest: the object; None if the VM does not refer to one, or with an error."""

    manifest: Manifest | None = None
    error: Problem | None = None


class EffectiveSpec(NamedTuple):
    """The spec that counts for a VM.

    spec: the canonical spec; None if the VM does not refer to one, or with an error.
    revision: the name of its ControllerRevision, "" for the live object.
    """

    spec: Manifest | None = None
    error: Problem | None = None
    revision: str = ""


Specs = Mapping[MatcherField, "Manifest | None"]
"""The canonical specs of an instancetype and a preference; None, or no entry, for a VM without one."""


def given_or_found(
    vm: Manifest, matcher_field: MatcherField, specs: Specs | None, lookup: Lookup, release: Release = NEWEST
) -> EffectiveSpec:
    """The given spec, or without `specs` the effective one."""
    return spec(vm, matcher_field, lookup, release) if specs is None else EffectiveSpec(specs.get(matcher_field))


def spec(vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release = NEWEST) -> EffectiveSpec:
    """The effective spec: from the revision that the VM names or has captured, else from the live object."""
    result = captured(vm, matcher_field, lookup, release)
    if result.error:
        return EffectiveSpec(error=result.error)
    if result.manifest is not None:
        decoded = decode.spec(result.manifest, matcher_field, release)
        name = result.manifest["metadata"]["name"]
        return EffectiveSpec(decoded.spec, None if decoded.error is None else Problem(decoded.error), name)
    result = live(vm, matcher_field, lookup)
    if result.error or result.manifest is None:
        return EffectiveSpec(error=result.error)
    try:
        return EffectiveSpec(release_schema.canonical(matcher_field.spec_type, result.manifest.get("spec"), release))
    except FieldError as error:
        manifest = result.manifest
        return EffectiveSpec(
            error=Problem(f'{manifest["kind"]} "{manifest["metadata"]["name"]}": {error.with_parent("spec")}')
        )


def captured(vm: Manifest, matcher_field: MatcherField, lookup: Lookup, release: Release = NEWEST) -> LookupResult:
    """The effective ControllerRevision of a VM, if any.

    A revision that the matcher names counts whatever it contains. A revision in the status counts only if it is
    labelled with the name in the matcher, so that another instancetype takes effect.
    """
    matcher = matcher_field.matcher_of(vm)
    reference = naming.referenced(vm, matcher_field, release)
    if matcher is None or not reference.name:
        return LookupResult()
    result = _get(lookup, "ControllerRevision", namespace_of(vm), reference.name)
    if result.manifest is None or reference.pinned or not release.checks_captured_name:
        return result
    label = labels_of(result.manifest).get(naming.NAME_LABEL)
    return result if label is not None and label == (matcher.get("name") or "") else LookupResult()


def live(vm: Manifest, matcher_field: MatcherField, lookup: Lookup) -> LookupResult:
    """The object that a VM's matcher names, regardless of revisions."""
    matcher = matcher_field.matcher_of(vm)
    if matcher is None:
        return LookupResult()
    kind = matcher_field.kind_of(matcher)
    if kind is None:
        return LookupResult(error=unexpected_kind(matcher_field, matcher))
    return _get(lookup, kind, namespace_of(vm) if KINDS[kind].namespaced else "", matcher.get("name") or "")


def unexpected_kind(matcher_field: MatcherField, matcher: Manifest) -> Problem:
    """KubeVirt's error for a matcher of an unknown kind."""
    return Problem(f"got unexpected kind in {matcher_field.matcher_type}: {matcher.get('kind') or ''}")


def _get(lookup: Lookup, kind: str, namespace: str, name: str) -> LookupResult:
    result = lookup.get(kind, namespace, name)
    if isinstance(result, Problem):
        return LookupResult(error=result)
    return LookupResult(error=not_found(kind, name)) if result is None else LookupResult(result)
