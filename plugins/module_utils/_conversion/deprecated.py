"""Notes about deprecated fields of instancetypes and preferences that a task declares."""

from __future__ import annotations

from typing import Any

from .._resolver.api.finding import WARNING, Finding
from .._resolver.api.manifest import Manifest
from .._resolver.api.release import Release


def deprecated_fields(manifest: Manifest, release: Release) -> list[Finding]:
    """A note for each deprecated field of an instancetype or a preference, with its replacement in a release."""
    from .modernize import without_deprecated

    modern = without_deprecated(manifest, release)
    lines = [
        f"{change.path} is deprecated or has no effect: "
        + (f"write {change.new_path}: {_value_text(change.after)}" if change.new_path else f"remove it. {change.note}")
        for change in modern.changes
    ]
    lines += [f"{field.path}: {field.note}" for field in modern.remaining]
    return [Finding(line, severity=WARNING) for line in lines]


def _value_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
