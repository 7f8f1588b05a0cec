"""Finds VMs of a repository that make or write to the same disk, or that have the same MAC address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...module_utils._resolver.api.finding import COLLISION, WARNING, Finding
from ...module_utils._resolver.api.manifest import Manifest, namespaced_name
from ...module_utils._resolver.preflight.collisions import Name, collisions, uses
from .findings import LocatedFinding
from .objects import VM, DeclaredObject, KnownObjects


def findings(objects: Sequence[DeclaredObject], lookup: KnownObjects) -> Iterator[LocatedFinding]:
    """Findings about the VMs in files, beside each other and beside those of the cluster.

    Files may be for different clusters, so only VMs of one file surely meet.
    """
    vms = [declared for declared in objects if declared.manifest["kind"] == VM]
    among_all = _collisions(manifest for manifest in lookup.all if manifest["kind"] == VM)
    by_file: dict[str, list[Manifest]] = {}
    for declared in vms:
        by_file.setdefault(declared.location.file, []).append(declared.manifest)
    in_file = {file: _collisions(manifests) for file, manifests in by_file.items()}
    for declared in vms:
        name = namespaced_name(declared.manifest)
        certain = {finding.field for finding in in_file[declared.location.file].get(name, ())}
        for finding in among_all.get(name, ()):
            severity = finding.severity if finding.field in certain else WARNING
            yield declared.finding(COLLISION, severity, finding.field, finding.message)


def _collisions(vms: Iterable[Manifest]) -> dict[Name, list[Finding]]:
    return collisions({namespaced_name(vm): uses(vm) for vm in vms})
