"""Declares the limits of a catalog: a ValidatingAdmissionPolicy and its binding for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ..._resolver.api.errors import CatalogError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.catalog.labels import CATALOG_LABEL, MANAGED_BY_LABEL, MANAGER
from ..._resolver.limits.language import limits
from ..._resolver.limits.policy import BINDING, POLICY, SUFFIX, policies
from ..client.errors import RequestFailed
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.snapshot import Key
from .kind_handler import Entry, KindHandler

Manifest = dict[str, Any]

_NOT_FOUND: Final = 404


class PolicyHandler(KindHandler):
    """Policies and bindings. live: those of the cluster."""

    def __init__(self, live: Iterable[Manifest]) -> None:
        super().__init__("policies")
        self._live = {key_of(manifest): manifest for manifest in live}

    def read(self, session: Session, keys: Iterable[Key]) -> dict[Key, Manifest]:
        return {key: self._live[key] for key in keys if key in self._live}


def limit_entries(
    session: Session, written: Any, catalog: str, objects: Iterable[Manifest]
) -> tuple[PolicyHandler, list[Entry]]:
    """The policies to declare for the limits of a catalog, and to delete of limits that it no longer has.

    written: the limits as users write them. objects: the instancetypes and preferences that the cluster will have.
    Raises CatalogError for an invalid limit, for one whose name is taken, and if policies cannot be read.
    """
    live = [manifest for kind in (POLICY, BINDING) for manifest in _listed(session, kind)]
    controller = kubevirt(session).controller
    manifests = [manifest for limit in limits(written, objects) for manifest in policies(limit, catalog, controller)]
    live_by_key = {key_of(manifest): manifest for manifest in live}
    for manifest in manifests:
        other = live_by_key.get(key_of(manifest))
        if other is not None and not _belongs(other, catalog):
            raise CatalogError(
                f"limits: the cluster has another {manifest['kind']} {manifest['metadata']['name']}, which does not"
                f" belong to the catalog {catalog}; rename the limit"
            )
    declared_keys = {key_of(manifest) for manifest in manifests}
    removed = [
        manifest
        for key, manifest in live_by_key.items()
        if key not in declared_keys and _belongs(manifest, catalog) and key.name.endswith(SUFFIX)
    ]
    entries = [_entry(manifest, "present") for manifest in manifests] + [
        _entry(manifest, "absent") for manifest in removed
    ]
    return PolicyHandler(live), entries


def key_of(manifest: Manifest) -> Key:
    return Key(manifest["kind"], None, manifest["metadata"]["name"])


def _entry(manifest: Manifest, state: str) -> Entry:
    return Entry(manifest["metadata"]["name"], key_of(manifest), state, manifest)


def _belongs(manifest: Manifest, catalog: str) -> bool:
    labels = manifest["metadata"].get("labels") or {}
    return labels.get(MANAGED_BY_LABEL) == MANAGER and labels.get(CATALOG_LABEL) == catalog


def _listed(session: Session, kind: str) -> list[Manifest]:
    try:
        return [{**item, "kind": kind} for item in session.list(BY_NAME[kind])[0]]
    except RequestFailed as error:
        if error.code == _NOT_FOUND:
            raise CatalogError(f"limits: the cluster has no {kind}, which Kubernetes has since 1.30") from error
        raise CatalogError(f"limits: {error}") from error
