"""The interface by which capabilities add to the check. `command` names their extensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.kubevirt.cluster import KubeVirt
from ...module_utils._resolver.preflight.findings import Check
from .checked_objects import CheckedObject, KnownObjects
from .findings import LocatedFinding
from .sources import LocatedDocument, SourceManifest
from .tasks import DeclaredOptions

Options = dict[str, Any]


class CheckExtension:
    """The additions of a capability to a check. Each hook does nothing unless it is overridden.

    checks: add to the findings about a VM. options: the options of a VM that `decide` takes.
    """

    checks: ClassVar[tuple[Check, ...]] = ()
    options: ClassVar[tuple[str, ...]] = ()

    def objects_in(self, source: SourceManifest) -> list[SourceManifest] | None:
        """The objects that a manifest stands for; None if it stands for itself."""
        return None

    def creates(self, source: LocatedDocument, namespace: str) -> Iterable[Manifest]:
        """The objects that a document creates without showing them. namespace: the default."""
        return ()

    def decide(
        self, declared: DeclaredOptions, known: Sequence[Manifest], release: Release
    ) -> Iterable[CheckedObject | LocatedFinding]:
        """The VM that a task declares with one of `options`. known: the objects that have names."""
        return ()

    def prepared(
        self, objects: Sequence[CheckedObject], sources: Sequence[LocatedDocument], release: Release
    ) -> Iterable[CheckedObject | LocatedFinding]:
        """The objects as KubeVirt starts their guests, and what keeps it from that. sources: all documents."""
        return objects

    def kept(self, vm: Manifest, before: Manifest) -> Manifest:
        """The fields of the spec that a VM keeps of an earlier one, whatever its task declares."""
        return {}

    def object_findings(
        self, declared: CheckedObject, lookup: KnownObjects, release: Release
    ) -> Iterable[LocatedFinding]:
        """Findings about an instancetype or a preference whose form is right."""
        return ()

    def findings(
        self,
        sources: Sequence[LocatedDocument],
        objects: Sequence[CheckedObject],
        lookup: KnownObjects,
        kubevirt: KubeVirt,
    ) -> Iterable[LocatedFinding]:
        """Findings about the documents, and about the objects that they declare. sources: all documents."""
        return ()

    def merged(self, findings: list[LocatedFinding]) -> list[LocatedFinding]:
        """The findings with one in place of several that say the same."""
        return findings
