"""Turns the documents of a bundle into the objects of a catalog."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ..api.errors import CatalogError, FieldError
from ..api.manifest import Manifest, labels_of
from ..api.matcher import API_VERSION, ROLE_OF_KIND
from ..api.name_rules import shown
from ..api.release import NEWEST
from ..api.tree import copy
from ..kubevirt.webhooks.validate import validate
from .labels import CATALOG_LABEL, MANAGED_BY_LABEL, MANAGER, VERSION_LABEL, check_label, check_name
from .modernize import modernize
from .objects import adapt, expand_catalog

# The label with which common-instancetypes marks its version.
_PUBLISHED_VERSION: Final = "instancetype.kubevirt.io/common-instancetypes-version"

_FLAVORS: Final = ("VirtualMachineFlavor", "VirtualMachineClusterFlavor")


class Bundle(NamedTuple):
    """The objects of a bundle. objects: all, of the cluster-wide kinds. notes: conversions, one line each."""

    objects: list[Manifest]
    notes: list[str]


def bundle(documents: Iterable[Any], other_kinds: str = "fail", version: str = "") -> Bundle:
    """The objects of a bundle: definitions of a catalog, manifests, and lists of manifests.

    Objects of an older API version are converted. other_kinds: `fail` or `skip` for manifests of other kinds. version:
    of a catalog with versions, "" for the newest.
    Raises CatalogError for an invalid document, with its position, and for a bundle without objects, which is probably
    truncated.
    """
    sources, notes = [], []
    for position, document in enumerate(_flatten(documents)):
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind is not None and kind not in ROLE_OF_KIND and kind not in _FLAVORS:
            if other_kinds != "skip":
                raise CatalogError(
                    f"document {position}: kind: {shown(kind)} is neither an instancetype nor a preference;"
                    " remove the document, or"
                    " set other_kinds to skip"
                )
            notes.append(f"skipped {kind} {_name(document)}, which is neither an instancetype nor a preference")
            continue
        if kind is not None and document.get("apiVersion") != API_VERSION:
            document, note = _convert(document, position)
            notes.append(note)
        if kind is not None and not isinstance(document.get("spec"), dict):
            where = f"document {position} ({kind} {_name(document)})"
            raise CatalogError(f"{where}: spec: missing; check that the bundle is complete")
        sources.append(document)
    objects = expand_catalog(*sources, version=version)
    if not objects:
        raise CatalogError(
            "the bundle contains no instancetype and no preference; check that the file is correct and complete"
        )
    return Bundle(objects, notes)


def with_catalog_labels(
    objects: Iterable[Manifest],
    *,
    catalog: str,
    version: str,
    namespace: str = "",
    labels: dict[str, str] | None = None,
    name_prefix: str = "",
) -> list[Manifest]:
    """The objects ready to deploy: with the labels of their catalog, in a namespace or cluster-wide.

    Raises CatalogError for a catalog or version that is no valid label value, for the errors of `adapt`, and for
    objects that the API server or KubeVirt's webhooks would reject.
    """
    check_name(catalog)
    own = {MANAGED_BY_LABEL: MANAGER, CATALOG_LABEL: catalog}
    if version:
        check_label("catalog_version", version)
        own[VERSION_LABEL] = version
    for key in own:
        if key in (labels or {}):
            raise CatalogError(f"labels: {key} is reserved for this collection; remove the label")
    manifests = adapt(objects, namespace=namespace, labels={**(labels or {}), **own}, name_prefix=name_prefix)
    for manifest in manifests:
        _check(manifest)
    return manifests


def version_of(objects: Iterable[Manifest]) -> str:
    """The version in the labels of all published objects; "" if they differ."""
    versions = {labels_of(manifest).get(_PUBLISHED_VERSION, "") for manifest in objects}
    return versions.pop() if len(versions) == 1 else ""


def _flatten(documents: Iterable[Any]) -> list[Any]:
    """The documents without empty ones; a List is replaced by its items."""
    result: list[Any] = []
    for document in documents:
        if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and "items" in document:
            result += _flatten(document["items"] or [])
        elif document is not None:
            result.append(document)
    return result


def _convert(document: Manifest, position: int) -> tuple[Manifest, str]:
    where = f"document {position} ({document['kind']} {_name(document)})"
    try:
        modern = modernize(copy(document), NEWEST)
    except FieldError as error:
        raise CatalogError(f"{where}: {error}") from error
    if modern.manifest.get("apiVersion") != API_VERSION:
        raise CatalogError(
            f"{where}: apiVersion: {shown(document.get('apiVersion'))} is not supported; use {API_VERSION}"
        )
    return modern.manifest, f"{where}: converted from {document.get('apiVersion')} to {API_VERSION}"


def _check(manifest: Manifest) -> None:
    where = f"{ROLE_OF_KIND[manifest['kind']].matcher} {_name(manifest)}"
    response = validate(manifest["kind"], manifest)
    if not response.allowed:
        causes = "; ".join(f"{cause.field}: {cause.message}" for cause in response.causes) or response.message
        raise CatalogError(f"{where}: KubeVirt would reject the object: {causes}")


def _name(document: Manifest) -> str:
    metadata = document.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
