"""The catalogs of a repository in the language of this collection: in documents, and in tasks of the module."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...module_utils._resolver.api.finding import ERROR
from ...module_utils._resolver.api.manifest import Manifest, name_of
from ...module_utils._resolver.api.matcher import INSTANCETYPE, MATCHER_FIELD_OF_KIND
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.catalog.bundle import bundle
from ...module_utils._resolver.catalog.errors import CatalogError
from ...module_utils._resolver.catalog.versions import fitting_version, version_names
from ...module_utils._yaml import unquoted
from .checked_objects import CheckedObject
from .findings import LocatedFinding
from .option_errors import COLLECTION
from .sources import LocatedDocument, mapping_items

_KEYS: Final = ("series", "families")
_MODULE: Final = f"{COLLECTION}catalog"
_DEFINITIONS: Final = "definitions"
_GROUPS: Final = tuple((key,) for key in _KEYS)
# The keys that lead to a series or family, and to an instancetype or preference.
_GROUP_DEPTH: Final = 2
_OBJECT_DEPTH: Final = 4
# The beginning of a message about an object.
_OBJECT: Final = re.compile(r"(?P<matcher>instancetype|preference) (?P<name>.+?): ")


def is_catalog(content: Any) -> bool:
    """Whether the document defines a catalog (see the role common_instancetypes for the language)."""
    return (
        isinstance(content, dict) and "kind" not in content and any(isinstance(content.get(key), dict) for key in _KEYS)
    )


def definitions(source: LocatedDocument) -> Iterator[LocatedDocument]:
    """The catalogs and manifests that the tasks of a document define."""
    for location, _key, options, _task in mapping_items(
        source.location, source.content, lambda _location, key, value: key == _MODULE and isinstance(value, dict)
    ):
        listed = options.get(_DEFINITIONS)
        for index, content in enumerate(listed if isinstance(listed, list) else ()):
            yield LocatedDocument(location.below(_DEFINITIONS, index), content)


def catalog(sources: Sequence[LocatedDocument], release: Release) -> Iterator[CheckedObject | LocatedFinding]:
    """The objects of a catalog's definitions, which may be in several documents.

    An entry with an error is left out, so that the others count. Messages name series and families.
    """
    for source in sources:
        if yaml_problem := unquoted.problem(source.content):
            field, reason = yaml_problem
            yield LocatedFinding(reason, ERROR, field, rule="invalid", location=source.location)
            return
    remaining = list(sources)
    while remaining:
        try:
            yield from _objects(remaining, release)
            return
        except CatalogError as error:
            index = int(error.place or 0)
            location, content = remaining[index]
            path = _entry(content, error.reason)
            if path or remaining[index] in sources:
                yield LocatedFinding(error.reason, ERROR, rule="invalid", location=location.below(*path))
            remaining[index : index + 1] = [LocatedDocument(location, _without(content, path))] if path else []


def _objects(sources: Sequence[LocatedDocument], release: Release) -> list[CheckedObject]:
    """The objects of valid definitions. Raises CatalogError, whose place is the index of a definition."""
    documents = [source.content for source in sources]
    version = fitting_version(documents, release) if version_names(documents) else ""
    found = bundle(documents, version=version, places=[str(index) for index in range(len(sources))])
    result = []
    for manifest in found.objects:
        location, content = sources[int(found.place_of(manifest))]
        path = _path(content, MATCHER_FIELD_OF_KIND[manifest["kind"]].name, name_of(manifest))
        result.append(CheckedObject(location.below(*path), manifest))
    return result


def _entry(content: Manifest, reason: str) -> tuple[str, ...]:
    """The path of the entry of a definition that an error names; () if it names none."""
    named = _OBJECT.match(reason)
    if named is not None:
        return _path(content, named["matcher"], named["name"])
    path = tuple(_steps(content, reason))
    is_object = len(path) >= _OBJECT_DEPTH and path[2] in ("sizes", "preferences")
    return path[: _OBJECT_DEPTH if is_object else _GROUP_DEPTH] if path[:1] in _GROUPS and len(path) > 1 else ()


def _steps(content: Any, text: str) -> Iterator[str]:
    """The keys of a definition at the beginning of a message: ``series.web.sizes.small: ``."""
    keys = sorted(content, key=lambda key: len(str(key)), reverse=True) if isinstance(content, dict) else ()
    for key in keys:
        rest = text.removeprefix(str(key))
        if rest != text and rest.startswith((".", ": ")):
            yield str(key)
            yield from _steps(content[key], rest.lstrip(".: "))
            return


def _path(content: Manifest, matcher: str, name: str) -> tuple[str, ...]:
    """The path of an object in a definition; () if the definition does not contain it."""
    if matcher == INSTANCETYPE.name:
        series, _dot, size = name.rpartition(".")
        paths = [("series", series, "sizes", size)]
    else:
        paths = [("families", family, "preferences", name) for family in content.get("families") or ()]
    return next((path for path in paths if _holds(content, path)), ())


def _holds(content: Any, path: tuple[str, ...]) -> bool:
    for step in path:
        if not isinstance(content, dict) or step not in content:
            return False
        content = content[step]
    return True


def _without(content: Manifest, path: tuple[str, ...]) -> Manifest:
    """A definition without an entry that it has."""
    first, *rest = path
    if not rest:
        return {key: value for key, value in content.items() if key != first}
    return {**content, first: _without(content[first], tuple(rest))}
