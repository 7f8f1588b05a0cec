"""The catalog that the collection contains, in its role."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

from ..module_utils._cluster.read.catalog_text import documents
from ..module_utils._resolver.api.release import Release
from ..module_utils._resolver.catalog.bundle import bundle
from ..module_utils._resolver.catalog.versions import fitting_version

FOLDER: Final = Path(__file__).resolve().parents[2] / "roles" / "common_instancetypes" / "files" / "catalog"


def content() -> list[Any]:
    """The catalog's documents, as written."""
    return [document for path in sorted(FOLDER.glob("*.yml")) for document in documents(path.read_bytes(), str(path))]


@functools.cache
def objects(release: Release) -> list[dict[str, Any]]:
    """The objects that the role common_instancetypes deploys for a release of KubeVirt."""
    catalog = content()
    return bundle(catalog, version=fitting_version(catalog, release)).objects
