"""The filter `modernize`: manifests that are out of date."""

from __future__ import annotations

from typing import Any, Final

from ansible.errors import AnsibleFilterError

from ...module_utils._conversion import template_bundles as conversion
from ...module_utils._resolver.api.name_rules import quoted
from ...module_utils._resolver.api.release import Release
from .._catalog_files import builtin_objects
from ._shared import each, manifests, plain, release_option

_BUILTIN: Final = "builtin"
_TEMPLATES: Final = ("Template", "VirtualMachineTemplate")


def modernize(value: Any, kubevirt_version: Any = None, presets: Any = (), catalog: Any = None) -> Any:
    """See its documentation."""
    release = release_option(kubevirt_version)
    sources = conversion.ConversionSources(manifests("presets", presets), _catalog(catalog, release))

    def converted(manifest: dict[str, Any]) -> dict[str, Any]:
        if manifest.get("kind") in _TEMPLATES:
            manifest = plain(manifest)
        result = conversion.convert(manifest, sources, release)
        data: dict[str, Any] = {
            "manifest": result.manifest,
            "changes": [change._asdict() for change in result.changes],
            "remaining": [remaining._asdict() for remaining in result.remaining],
            **({"others": result.others} if result.others else {}),
        }
        if result.differences is None:
            return data
        guests = {"guest_before": result.guest_before, "guest_after": result.guest_after}
        return {**data, **guests, "differences": result.differences}

    return each(value, converted)


def _catalog(value: Any, release: Release) -> list[dict[str, Any]] | None:
    if not isinstance(value, str):
        return None if value is None else manifests("catalog", value)
    if value != _BUILTIN:
        raise AnsibleFilterError(f"catalog: expected {_BUILTIN} or a list of manifests, found {quoted(value)}")
    return builtin_objects(release)
