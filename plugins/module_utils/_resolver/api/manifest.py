"""Manifests of any kind: their names, labels, annotations and conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import FieldError

Manifest = dict[str, Any]
Options = dict[str, Any]


def metadata_of(manifest: Mapping[str, Any]) -> Manifest:
    """The metadata, {} without any. Raises FieldError if they are not a mapping."""
    metadata: Manifest = manifest.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise FieldError("metadata", f"expected a mapping, found {metadata!r}")
    return metadata


def namespace_of(manifest: Mapping[str, Any]) -> str:
    """The namespace, "" for none."""
    return str(metadata_of(manifest).get("namespace") or "")


def name_of(manifest: Mapping[str, Any]) -> str:
    return str(metadata_of(manifest).get("name") or "")


def namespaced_name(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace and name."""
    return namespace_of(manifest), name_of(manifest)


def qualified_name(manifest: Mapping[str, Any]) -> str:
    """``shop/web``"""
    return f"{namespace_of(manifest)}/{name_of(manifest)}"


def labels_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    return metadata_of(manifest).get("labels") or {}


def annotations_of(manifest: Mapping[str, Any]) -> dict[str, str]:
    return metadata_of(manifest).get("annotations") or {}


def condition_of(manifest: Mapping[str, Any], condition_type: str) -> Manifest:
    """The condition of a type in an object's status, {} without one."""
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == condition_type), {})


def has_condition(manifest: Mapping[str, Any], condition_type: str, status: str = "True") -> bool:
    """Whether an object has the condition with this status."""
    return condition_of(manifest, condition_type).get("status") == status
