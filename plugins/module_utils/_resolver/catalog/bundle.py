"""Turns the documents of a bundle into the objects of a catalog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.keys import CATALOG_LABEL, CATALOG_VERSION_LABEL, FIELD_MANAGER, MANAGED_BY_LABEL
from ..api.manifest import Manifest, labels_of, name_of
from ..api.matcher import API_VERSION, MATCHER_FIELD_OF_KIND, MatcherField
from ..api.name_rules import quoted
from ..kubevirt.admission.validate import validate
from .definitions import adapt, expand_with_places, matcher_field_of
from .errors import CatalogError
from .labels import check_label

# The label with which common-instancetypes marks its version.
_PUBLISHED_VERSION: Final = "instancetype.kubevirt.io/common-instancetypes-version"


class Conversion(NamedTuple):
    """A capability's conversion of older manifests. kinds: the kinds that have another name today.

    convert: gives the manifest in the current API, of one in any other. Raises FieldError.
    """

    kinds: tuple[str, ...]
    convert: Callable[[Manifest], Manifest]


class Bundle(NamedTuple):
    """The objects of a bundle.

    objects: all, of the cluster-wide kinds. notes: conversions, one line each.
    places: matcher field and name → the place of the document of each object, for messages.
    """

    objects: list[Manifest]
    notes: list[str]
    places: dict[tuple[MatcherField, str], str]

    def place_of(self, manifest: Manifest) -> str:
        """The place of the document of one of the objects."""
        return self.places[matcher_field_of(manifest), name_of(manifest)]


def bundle(
    documents: Iterable[Any],
    other_kinds: str = "fail",
    version: str = "",
    places: Sequence[str] = (),
    conversions: Sequence[Conversion] = (),
) -> Bundle:
    """The objects of a bundle: definitions of a catalog, manifests, and lists of manifests, without empty documents.

    conversions: for objects of an older API version, which are an error without. other_kinds: `fail` or `skip` for
    manifests of other kinds. version: the one to take of a catalog with versions, "" for the newest. places: the
    position of each document, such as ``acme.yml, line 3``, for messages. Raises CatalogError for an invalid document,
    with its place, and for a bundle without objects, which is probably truncated.
    """
    sources, notes, origins = [], [], []
    kinds = {*MATCHER_FIELD_OF_KIND, *(kind for conversion in conversions for kind in conversion.kinds)}
    named = ((document, _place(places, index)) for index, document in enumerate(documents) if document is not None)
    for document, where in _flatten(named):
        kind = document.get("kind") if isinstance(document, dict) else None
        if kind is not None and kind not in kinds:
            if other_kinds != "skip":
                raise CatalogError(
                    f"kind: {quoted(kind)} is neither an instancetype nor a preference; remove the document, or"
                    " set other_kinds to skip",
                    where,
                )
            notes.append(f"skipped {kind} {_name(document)}, which is neither an instancetype nor a preference")
            continue
        if kind is not None and document.get("apiVersion") != API_VERSION:
            document, note = _convert(document, where, conversions)
            notes.append(note)
        if kind is not None and not isinstance(document.get("spec"), dict):
            raise CatalogError(f"{kind} {_name(document)}: spec: missing; check that the bundle is complete", where)
        sources.append(document)
        origins.append(where)
    objects = expand_with_places(sources, origins if places else (), version)
    if not objects:
        raise CatalogError(
            "the bundle contains no instancetype and no preference; check that the file is correct and complete",
            _files(places),
        )
    return Bundle(
        [found.manifest for found in objects], notes, {(matcher_field_of(m), name_of(m)): p for m, p in objects}
    )


def with_catalog_labels(
    objects: Iterable[Manifest],
    *,
    catalog: str,
    version: str,
    namespace: str = "",
    labels: dict[str, str] | None = None,
    name_prefix: str = "",
    places: Mapping[tuple[MatcherField, str], str] | None = None,
) -> list[Manifest]:
    """The objects ready to deploy: with the labels of their catalog, in a namespace or cluster-wide.

    places: see `Bundle`.

    Raises CatalogError for a catalog or version that is no valid label value, for the errors of `adapt`, and for
    objects that the API server or KubeVirt's webhooks would reject.
    """
    check_label("catalog", catalog)
    own = {MANAGED_BY_LABEL: FIELD_MANAGER, CATALOG_LABEL: catalog}
    if version:
        check_label("catalog_version", version)
        own[CATALOG_VERSION_LABEL] = version
    for key in own:
        if key in (labels or {}):
            raise CatalogError(f"labels: {key} is reserved for this collection; remove the label")
    objects = list(objects)
    manifests = adapt(objects, namespace=namespace, labels={**(labels or {}), **own}, name_prefix=name_prefix)
    for item, manifest in zip(objects, manifests):
        _check(manifest, (places or {}).get((matcher_field_of(item), name_of(item)), ""))
    return manifests


def version_of(objects: Iterable[Manifest]) -> str:
    """The version in the labels of all published objects; "" if they differ."""
    versions = {labels_of(manifest).get(_PUBLISHED_VERSION, "") for manifest in objects}
    return versions.pop() if len(versions) == 1 else ""


def _place(places: Sequence[str], index: int) -> str:
    return places[index] if index < len(places) else f"document {index}"


def _files(places: Sequence[str]) -> str:
    """The file of documents without a single object; "" if there is no single one."""
    files = {place.partition(", line ")[0] for place in places}
    return files.pop() if len(files) == 1 else ""


def _flatten(placed: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """The documents; a List is replaced by its items."""
    for document, where in placed:
        if isinstance(document, dict) and str(document.get("kind", "")).endswith("List") and "items" in document:
            items = document["items"] or []
            inside = [(item, f"{where}, items[{index}]") for index, item in enumerate(items) if item is not None]
            yield from _flatten(inside)
        else:
            yield document, where


def _convert(document: Manifest, place: str, conversions: Sequence[Conversion]) -> tuple[Manifest, str]:
    label, version = f"{document['kind']} {_name(document)}", document.get("apiVersion")
    try:
        for conversion in conversions:
            document = conversion.convert(document)
    except FieldError as error:
        raise CatalogError(f"{label}: {error}", place) from error
    if document.get("apiVersion") != API_VERSION:
        raise CatalogError(f"{label}: apiVersion: {quoted(version)} is not supported; use {API_VERSION}", place)
    return document, f"{place}: {label}: converted from {version} to {API_VERSION}"


def _check(manifest: Manifest, place: str) -> None:
    where = f"{MATCHER_FIELD_OF_KIND[manifest['kind']].name} {_name(manifest)}"
    response = validate(manifest["kind"], manifest)
    if not response.allowed:
        causes = "; ".join(f"{cause.field}: {cause.message}" for cause in response.causes) or response.message
        raise CatalogError(f"{where}: KubeVirt would reject the object: {causes}", place)


def _name(document: Manifest) -> str:
    metadata = document.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""
