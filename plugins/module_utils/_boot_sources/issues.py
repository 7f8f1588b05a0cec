"""Issues of a VM that lie in the sources and sizes of its disks."""

from __future__ import annotations

from collections.abc import Iterator

from .._resolver.api.manifest import Manifest
from .._resolver.kubevirt.find.lookup import Lookup
from .._resolver.preflight.issues import Issue
from .disk_sizes import unshrinkable
from .unusable_sources import unusable_sources


def boot_source_issues(vm: Manifest, live: Manifest | None, objects: Lookup) -> Iterator[Issue]:
    """Sources that cannot give a disk, and disks that would have to shrink. See `preflight.issues.Check`."""
    for source in unusable_sources(vm, live, objects):
        yield Issue(source.text, certain=False, missing=source.missing)
    if live is not None:
        for text in unshrinkable(vm, live, objects):
            yield Issue(text, certain=False)
