"""The interface by which capabilities add to the check. `command` names their extensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from ...module_utils._resolver.preflight.findings import Check
from .checked_objects import CheckedObject, KnownObjects
from .findings import LocatedFinding
from .sources import LocatedDocument, SourceManifest
from .tasks import DeclaredOptions

Options = dict[str, Any]


def _nothing(*_arguments: Any) -> tuple[()]:
    return ()


def _itself(_source: SourceManifest) -> None:
    return None


def _as_declared(
    objects: Sequence[CheckedObject], _sources: Sequence[LocatedDocument], _release: Release
) -> Sequence[CheckedObject]:
    return objects


def _keeps_nothing(_vm: Manifest, _before: Manifest) -> Manifest:
    return {}


def _as_found(findings: list[LocatedFinding]) -> list[LocatedFinding]:
    return findings


class CheckExtension(NamedTuple):
    """The additions of a capability to a check. What is not set adds nothing.

    checks: add to the findings about a VM. options: the options of a VM that `decide` takes.
    objects_in: the objects that a manifest stands for; None if it stands for itself.
    creates: the objects that a document creates without showing them; gets the default namespace.
    decide: the VM that a task declares with one of `options`; gets the objects that have names.
    prepared: the objects as KubeVirt starts their guests, and what keeps it from that; gets all documents.
    kept: the fields of the spec that a VM keeps of an earlier one, whatever its task declares.
    object_findings: findings about an instancetype or a preference whose form is right.
    findings: findings about the documents, and about the objects that they declare; gets all documents.
    merged: the findings with one in place of several that say the same.
    """

    checks: tuple[Check, ...] = ()
    options: tuple[str, ...] = ()
    objects_in: Callable[[SourceManifest], list[SourceManifest] | None] = _itself
    creates: Callable[[LocatedDocument, str], Iterable[Manifest]] = _nothing
    decide: Callable[[DeclaredOptions, Sequence[Manifest], Release], Iterable[CheckedObject | LocatedFinding]] = (
        _nothing
    )
    prepared: Callable[
        [Sequence[CheckedObject], Sequence[LocatedDocument], Release], Iterable[CheckedObject | LocatedFinding]
    ] = _as_declared
    kept: Callable[[Manifest, Manifest], Manifest] = _keeps_nothing
    object_findings: Callable[[CheckedObject, KnownObjects, Release], Iterable[LocatedFinding]] = _nothing
    findings: Callable[
        [Sequence[LocatedDocument], Sequence[CheckedObject], KnownObjects, KubeVirt], Iterable[LocatedFinding]
    ] = _nothing
    merged: Callable[[list[LocatedFinding]], list[LocatedFinding]] = _as_found
