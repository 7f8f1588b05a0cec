"""Matches the objects of two revisions of a repository."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from ...module_utils._resolver.api.errors import FieldError
from ...module_utils._resolver.api.manifest import Manifest
from ...module_utils._resolver.api.matcher import ObjectKey
from .base import as_updated
from .check_extension import CheckExtension
from .checked_objects import REVISION, CheckedObject, has_name


class Matching(NamedTuple):
    """The objects of both revisions, with the earlier manifest, and the objects of only one."""

    pairs: list[tuple[CheckedObject, Manifest]]
    added: list[CheckedObject]
    deleted: list[CheckedObject]


def match(
    base: Iterable[CheckedObject],
    head: Iterable[CheckedObject],
    base_roots: Sequence[str],
    head_roots: Sequence[str],
    extensions: Sequence[CheckExtension] = (),
) -> Matching:
    """The objects with one kind, namespace and name, wherever they are.

    Several objects with one name, for example of several clusters, are matched by their files below the roots, the rest
    in order. extensions: of the check.
    """
    before, after = _by_key(base, base_roots), _by_key(head, head_roots)
    result = Matching([], [], [])
    for key in {**after, **before}:
        old, new = before.get(key, []), after.get(key, [])
        for same_file in (True, False):
            for place, declared in list(new):
                found = next((item for item in old if not same_file or item[0] == place), None)
                if found is not None:
                    old.remove(found)
                    new.remove((place, declared))
                    result.pairs.append((_updated(declared, found[1].manifest, extensions), found[1].manifest))
        result.added.extend(declared for _place, declared in new)
        result.deleted.extend(declared for _place, declared in old)
    return result


def _by_key(objects: Iterable[CheckedObject], roots: Sequence[str]) -> dict[ObjectKey, list[tuple[str, CheckedObject]]]:
    """The objects that have a name, with their files below the roots."""
    result: dict[ObjectKey, list[tuple[str, CheckedObject]]] = {}
    for declared in objects:
        if has_name(declared.manifest) and declared.manifest["kind"] != REVISION:
            place = _below(declared.location.file, roots)
            result.setdefault(ObjectKey.of(declared.manifest), []).append((place, declared))
    return result


def _below(file: str, roots: Sequence[str]) -> str:
    path = PurePath(file)
    root = next((root for root in map(PurePath, roots) if root in (path, *path.parents)), None)
    return path.name if root in (path, None) else str(path.relative_to(str(root)))


def _updated(declared: CheckedObject, before: Manifest, extensions: Sequence[CheckExtension]) -> CheckedObject:
    try:
        return as_updated(declared, before, extensions)
    except FieldError:
        # evaluate reports the annotation that cannot be read.
        return declared
