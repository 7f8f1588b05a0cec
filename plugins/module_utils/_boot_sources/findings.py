"""Findings of a VM that lie in the sources and sizes of its disks."""

from __future__ import annotations

from collections.abc import Iterator

from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest
from .._resolver.kubevirt.find.lookup import Lookup
from .disk_sizes import unshrinkable
from .unusable_sources import unusable_sources


def boot_source_findings(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[Finding]:
    """Sources that cannot give a disk, and disks that would have to shrink. See `preflight.findings.Check`."""
    yield from unusable_sources(vm, live, objects)
    if live is not None:
        for text in unshrinkable(vm, live, objects):
            yield Finding.of_line(text, WARNING)
