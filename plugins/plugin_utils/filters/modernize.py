"""The filter modernize."""

from __future__ import annotations

from typing import Any, Final

from ...module_utils._resolver.api.names import shown
from ...module_utils._resolver.api.release import Release
from ...module_utils._resolver.catalog import conversion
from .._catalog_files import builtin_objects
from .._filters import check_option, each, manifests, release_option
from .templates import plain_manifest

_NAME: Final = "modernize"
_BUILTIN: Final = "builtin"
_WITH_PARAMETERS: Final = ("Template", "VirtualMachineTemplate")


def modernize(value: Any, kubevirt_version: Any = None, presets: Any = (), catalog: Any = None) -> Any:
    """See its documentation."""
    release = release_option(_NAME, kubevirt_version)
    sources = conversion.Sources(manifests(_NAME, "presets", presets), _catalog(catalog, release))

    def convert(manifest: dict[str, Any]) -> dict[str, Any]:
        if manifest.get("kind") in _WITH_PARAMETERS:
            manifest = plain_manifest(_NAME, manifest)
        return plain(conversion.convert(manifest, sources, release))

    return each(_NAME, value, convert)


def _catalog(value: Any, release: Release) -> list[dict[str, Any]] | None:
    if value is None:
        return None
    if isinstance(value, str):
        check_option(_NAME, "catalog", value, _check_builtin)
        return builtin_objects(release)
    return manifests(_NAME, "catalog", value)


def _check_builtin(value: str) -> None:
    if value != _BUILTIN:
        raise ValueError(f"expected {_BUILTIN} or a list of manifests, found {shown(value)}")


def plain(result: conversion.Conversion) -> dict[str, Any]:
    """The result as data; without what was not compared."""
    data: dict[str, Any] = {
        "manifest": result.manifest,
        "changes": [change._asdict() for change in result.changes],
        "remaining": [remaining._asdict() for remaining in result.remaining],
    }
    if result.differences is not None:
        data.update(
            guest_before=result.guest_before, guest_after=result.guest_after, differences=list(result.differences)
        )
    return data
