"""Versions of a catalog: the newest as written, each older one as differences.

One document of a catalog may have the key `versions`, name → version, newest first::

    versions:
      v2: {kubevirt: "1.9"}              # the catalog as written
      v1:
        kubevirt: "1.6"                  # the oldest release of KubeVirt that it supports
        without: [d1.*, debian]          # objects that it lacks
        series: {m1: {description: ...}} # its differences; also in families, labels, annotations

A version changes the one above it. Its entries are laid over those of the documents: objects are merged, other values
replace. A null is written into the entry, where it removes an inherited value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

from ..api import release
from ..api.name_rules import did_you_mean, quoted
from ..api.release import Release
from ..api.tree import overlaid
from ..api.type_remedies import QUOTES, wrong_type
from .errors import CatalogError

Document = dict[str, Any]

_VERSIONS: Final = "versions"
_PREVIEW: Final = "preview"
_CHANGES: Final = ("labels", "annotations", "series", "families")
_MEMBERS: Final = {"series": "sizes", "families": "preferences"}


def version_names(documents: Iterable[Any]) -> list[str]:
    """The versions of a catalog, newest first; empty if it has no versions.

    Raises CatalogError for invalid versions.
    """
    return list(_versions(documents))


def fitting_version(documents: Iterable[Any], cluster_release: Release) -> str:
    """The newest version for a release of KubeVirt, without previews; the oldest version if the release is older than
    all.

    The catalog must have versions. Raises CatalogError for invalid versions.
    """
    versions = _versions(documents)
    fitting = (
        name
        for name, version in versions.items()
        if not version.get(_PREVIEW) and _supports(name, version, cluster_release)
    )
    return next(fitting, list(versions)[-1])


def at_version(documents: Sequence[Any], version: str = "") -> list[tuple[int, Any]]:
    """The documents of a catalog at a version, without the list of versions, each with its index in the given ones.

    version: "" for the newest that is no preview. Raises CatalogError for unknown or invalid versions.
    """
    versions = _versions(documents)
    if version and version not in versions:
        if not versions:
            raise CatalogError(f"version: the catalog has no versions, so {quoted(version)} is unknown; remove version")
        raise CatalogError(f"version: the catalog has no {quoted(version)}{did_you_mean(version, versions)}")
    current = [_without_versions(document) for document in documents]
    for name, changes in versions.items():
        current = _at_next_version(current, changes, f"{_VERSIONS}.{name}")
        if name == version or not (version or changes.get(_PREVIEW)):
            break
    # Drop a document that contained only the versions.
    return [(index, changed) for index, changed in enumerate(current) if changed or not documents[index]]


def _versions(documents: Iterable[Any]) -> dict[str, Document]:
    listing = [
        document[_VERSIONS]
        for document in documents
        if isinstance(document, dict) and "kind" not in document and _VERSIONS in document
    ]
    if len(listing) > 1:
        raise CatalogError(f"{_VERSIONS}: set twice; remove one of them")
    if not listing:
        return {}
    [versions] = listing
    if not isinstance(versions, dict) or not versions:
        raise CatalogError(f"{_VERSIONS}: expected versions by name, found {quoted(versions)}")
    for name, version in versions.items():
        _check(name, version)
    return versions


def _check(name: Any, version: Any) -> None:
    where = f"{_VERSIONS}.{name}"
    if not isinstance(name, str):
        raise CatalogError(f"{where}: expected a string as name, found {quoted(name)}{QUOTES}")
    if not isinstance(version, dict):
        raise CatalogError(
            f"{where}: expected an object, found {quoted(version)}; write {{}} for a version without changes"
        )
    keys = ("kubevirt", _PREVIEW, "without", *_CHANGES)
    for key in version:
        if key not in keys:
            raise CatalogError(f"{where}: unknown key {key!r}{did_you_mean(key, keys)}")
    if not isinstance(version.get(_PREVIEW, False), bool):
        raise CatalogError(f"{where}: {_PREVIEW}: {wrong_type('true or false', version[_PREVIEW])}")
    for key in _CHANGES:
        if not isinstance(version.get(key, {}), dict):
            raise CatalogError(f"{where}: {key}: expected an object, found {quoted(version[key])}")
    names = version.get("without", [])
    if not isinstance(names, list) or not all(isinstance(pattern, str) for pattern in names):
        raise CatalogError(f"{where}: without: expected a list of names, found {quoted(names)}")
    _supports(name, version, release.NEWEST)


def _supports(name: str, version: Document, cluster_release: Release) -> bool:
    if "kubevirt" not in version:
        return True
    try:
        return cluster_release >= release.parse_release(version["kubevirt"])
    except release.UnknownRelease as error:
        raise CatalogError(f"{_VERSIONS}.{name}: kubevirt: {error}") from error


def _without_versions(document: Any) -> Any:
    if not isinstance(document, dict) or "kind" in document:
        return document
    return {key: value for key, value in document.items() if key != _VERSIONS}


def _at_next_version(documents: list[Any], version: Document, where: str) -> list[Any]:
    """The documents with the changes of a version."""
    current = documents
    for key in _CHANGES:
        if key in version:
            current = _with_changes(current, key, version[key], where)
    for pattern in version.get("without", []):
        remaining = [_without_matches(document, pattern) for document in current]
        if remaining == current:
            raise CatalogError(f"{where}: without: nothing in the catalog matches {pattern!r}")
        current = remaining
    return current


def _with_changes(documents: list[Any], key: str, changes: Document, where: str) -> list[Any]:
    """The documents with changes of a key.

    Labels and annotations change in all documents that have them; a series or family changes in its document; a new one
    goes to the first document that has the key.
    """
    holders = [document for document in documents if _has(document, key)]
    if not holders:
        raise CatalogError(f"{where}: {key}: the catalog has no {key} to change; remove the key")
    existing = {name for document in holders for name in document[key]}
    changed = []
    for document in documents:
        if _has(document, key):
            own = changes
            if key in _MEMBERS:
                first = document is holders[0]
                own = {
                    name: entry
                    for name, entry in changes.items()
                    if name in document[key] or (first and name not in existing)
                }
            document = {**document, key: overlaid(document[key], own)}
        changed.append(document)
    return changed


def _has(document: Any, key: str) -> bool:
    return isinstance(document, dict) and "kind" not in document and isinstance(document.get(key), dict)


def _without_matches(document: Any, pattern: str) -> Any:
    """A definition without the sizes and preferences whose names match a pattern."""
    result = document
    for groups, members in _MEMBERS.items():
        if not _has(document, groups):
            continue
        result = {**result, groups: {}}
        for group, content in document[groups].items():
            if _has(content, members):
                prefix = f"{group}." if groups == "series" else ""
                kept = {
                    name: entry
                    for name, entry in content[members].items()
                    if not fnmatchcase(f"{prefix}{name}", pattern)
                }
                content = {**content, members: kept}
            result[groups][group] = content
    return result
