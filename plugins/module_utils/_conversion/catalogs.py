"""The objects of catalogs in older API versions, which conversion reads. The code is imported for one."""

from __future__ import annotations

from typing import Final

from .._resolver.api.manifest import Manifest
from .._resolver.catalog.bundle import Conversion


def _current(manifest: Manifest) -> Manifest:
    from .modernize import modernize

    return modernize(manifest).manifest


CURRENT: Final = Conversion(("VirtualMachineFlavor", "VirtualMachineClusterFlavor"), _current)
