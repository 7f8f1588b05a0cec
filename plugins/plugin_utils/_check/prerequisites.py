"""Finds the objects that the checked VMs need and no file declares: they must exist on the cluster."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from ...module_utils._resolver.api import release_schema
from ...module_utils._resolver.api.errors import FieldError, Panic
from ...module_utils._resolver.api.finding import NOTE
from ...module_utils._resolver.api.kinds import KINDS
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import ObjectKey
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.api.tree import value_at
from ...module_utils._resolver.preflight.references import (
    ObjectReference,
    created_volumes,
    new_sources,
    references,
    secrets,
)
from .checked_objects import VM, CheckedObject
from .findings import LocatedFinding

MUST_EXIST: Final = "must-exist"
_TEXT: Final = "must exist on the cluster"
_CLAIM: Final = "PersistentVolumeClaim"
# Kinds whose objects become other objects → where they have the name if it is not their own, and the kind.
_BECOMES: Final = {
    "DataVolume": ((), _CLAIM),
    "DataImportCron": (("spec", "managedDataSource"), "DataSource"),
    "ExternalSecret": (("spec", "target", "name"), "Secret"),
    "SealedSecret": ((), "Secret"),
}
# Every cluster has them.
_BUILTIN: Final = (("ServiceAccount", "default"), ("PriorityClass", "system-"))


def declared_keys(manifests: Iterable[Manifest], namespace: str) -> Iterator[ObjectKey]:
    """The keys of objects, and of the objects that a cluster makes of them. namespace: the default of objects."""
    for manifest in manifests:
        metadata = manifest.get("metadata")
        if not isinstance(metadata, dict) or not metadata.get("name"):
            continue
        kind, own, name = manifest["kind"], str(metadata.get("namespace") or namespace), str(metadata["name"])
        yield ObjectKey(kind, own if kind not in KINDS or KINDS[kind].namespaced else "", name)
        if kind in _BECOMES:
            path, other = _BECOMES[kind]
            yield ObjectKey(other, own, str((value_at(manifest, path) if path else None) or name))


def findings(
    objects: Sequence[CheckedObject], known: Collection[ObjectKey], release: Release
) -> Iterator[LocatedFinding]:
    """Notes about the objects that VMs need and that are not among the known ones; see `merge_notes`."""
    vms = [declared for declared in objects if declared.manifest["kind"] == VM]
    created = {
        ObjectKey(kind, declared.manifest["metadata"].get("namespace") or "", name)
        for declared in vms
        for name in _created(declared.manifest)
        for kind in ("DataVolume", _CLAIM)
    }
    for declared in vms:
        for reference in _needed(declared.manifest, release):
            keys = [ObjectKey(kind, reference.namespace, reference.name) for kind in reference.kinds]
            builtin = any(key.kind == kind and key.name.startswith(name) for key in keys for kind, name in _BUILTIN)
            if not builtin and not any(key in known or key in created for key in keys):
                yield declared.finding(MUST_EXIST, NOTE, reference.path, f"the {keys[0].kind} {keys[0].label} {_TEXT}")


def inferred_from(declared: CheckedObject, field: str, noun: str) -> LocatedFinding:
    """The note about an object, ``the DataSource os/fedora``, that decides about a VM."""
    message = f"{noun} {_TEXT}; pass its manifest with --objects to check what VMs get from it"
    return declared.finding(MUST_EXIST, NOTE, field, message)


def merge_notes(findings: Iterable[LocatedFinding]) -> list[LocatedFinding]:
    """The findings with one note for each object that must exist, however many VMs need it."""
    result, notes = [], dict[str, list[LocatedFinding]]()
    for finding in findings:
        if finding.rule == MUST_EXIST:
            notes.setdefault(finding.message.partition(_TEXT)[0], []).append(finding)
        else:
            result.append(finding)
    for same in notes.values():
        # The longest says why its contents count.
        first = max(same, key=lambda finding: len(finding.message))
        others = len({finding.label for finding in same}) - 1
        more = f"; {others} other VM{'s need' if others > 1 else ' needs'} it, too" if others else ""
        result.append(replace(first, text=f"{first.text}{more}"))
    return result


def _created(vm: Manifest) -> set[str]:
    try:
        return created_volumes(vm)
    except (AttributeError, KeyError, TypeError, FieldError):
        return set()


def _needed(vm: Manifest, release: Release) -> list[ObjectReference]:
    """The objects that a VM needs; none of a VM that no cluster accepts, of which other findings tell."""
    try:
        stored = release_schema.canonical(VM, vm, release)
        sources = (source.reference for source in new_sources(stored, None))
        return [*references(stored), *sources, *secrets(stored)]
    except (AttributeError, KeyError, TypeError, FieldError, Panic):
        return []
