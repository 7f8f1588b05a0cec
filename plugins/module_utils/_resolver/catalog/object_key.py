"""Identities of objects, and those in a VM's matchers."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api.matcher import ROLES

Manifest = dict[str, Any]


class ObjectKey(NamedTuple):
    """Identifies an object; namespace is "" for the cluster-wide kinds."""

    kind: str
    namespace: str
    name: str


def key_of(manifest: Manifest) -> ObjectKey:
    metadata = manifest["metadata"]
    return ObjectKey(manifest["kind"], metadata.get("namespace") or "", metadata["name"])


def references(vm: Manifest) -> list[ObjectKey]:
    """The instancetype and the preference that a VM's matchers name."""
    keys = []
    for role in ROLES:
        matcher = role.matcher_of(vm) or {}
        kind = role.kind_of(matcher)
        if matcher.get("name") and kind is not None:
            namespace = "" if kind == role.cluster_kind else vm["metadata"].get("namespace") or ""
            keys.append(ObjectKey(kind, namespace, matcher["name"]))
    return keys
