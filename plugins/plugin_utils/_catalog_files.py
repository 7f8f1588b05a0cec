"""Catalog files on the controller: the catalog in the collection's role, and files in a folder of a user."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import yaml

from ..module_utils._resolver.api.release import Release
from ..module_utils._resolver.catalog.bundle import bundle
from ..module_utils._resolver.catalog.versions import fitting_version

BUILTIN: Final = Path(__file__).resolve().parents[2] / "roles" / "common_instancetypes" / "files" / "catalog"


def builtin() -> list[Any]:
    """The documents of the built-in catalog, as written."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [document for path in sorted(BUILTIN.glob("*.yml")) for document in yaml.load_all(path.read_bytes(), loader)]


@functools.cache
def builtin_objects(release: Release) -> list[dict[str, Any]]:
    """The objects that the role common_instancetypes deploys for a release of KubeVirt."""
    documents = builtin()
    return bundle(documents, version=fitting_version(documents, release)).objects


def regular_files(folder: Path, enters: Callable[[Path], bool] = lambda _folder: True) -> Iterator[Path]:
    """The regular files below a folder, in order. enters: whether to read a folder below it.

    Links to folders are not followed, because they may lead back. Left out are links to nothing and what is not a file,
    such as a named pipe.
    """
    for entry in sorted(folder.iterdir()):
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink() and enters(entry):
            yield from regular_files(entry, enters)
