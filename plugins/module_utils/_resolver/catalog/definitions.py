"""Catalogs: sets of instancetypes and preferences, from definitions or as manifests.

A definition is a dict with any of these keys; see the README of the role `common_instancetypes`::

    labels, annotations   of every object
    series                name → common settings of its sizes, and `sizes`: name → instancetype SERIES.SIZE
    families              name → common settings of its preferences, and `preferences`: name → preference

Series, sizes, families and preferences are *entries*. An entry has labels, annotations and spec, short keys for their
most common fields, and `extends`: the series or families to start from, in order, under its own content. A size or
preference is laid over its series or family. Each layer is a JSON merge patch (RFC 7386): objects are merged, null
removes, other values replace. Entries may also declare a state (see `api.state`): `deprecated` or `obsolete`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.fields import ENUMS
from ..api.keys import REPLACEMENT_ANNOTATION
from ..api.manifest import Manifest, annotations_of, labels_of, name_of
from ..api.matcher import API_VERSION, INSTANCETYPE, MATCHER_FIELD_OF_KIND, PREFERENCE, MatcherField
from ..api.name_rules import did_you_mean, quoted
from ..api.release_schema import fields
from ..api.schema import TYPES
from ..api.state import DEPRECATED, OBSOLETE
from ..api.tree import apply_merge_patch, copy, merge, value_at
from ..api.type_remedies import QUOTES
from ..declare import instancetypes as manifests
from ..declare.state_options import state_metadata
from .errors import CatalogError, catalog_errors
from .labels import (
    DESCRIPTIVE,
    DOCS_ANNOTATION,
    ICON_ANNOTATION,
    ICON_LABEL,
    OS_LABEL,
    SUPPORT_ANNOTATION,
    TAGS_ANNOTATION,
    spec_labels,
)
from .versions import at_version

Entry = dict[str, Any]


class _DefinitionPart(NamedTuple):
    """A part of a definition. groups: the key of the groups (series or families).

    members: the key of their members (sizes or preferences). columns: short key → its path; dots separate keys.
    """

    matcher_field: MatcherField
    groups: str
    members: str
    columns: dict[str, tuple[str, ...]]


_OS: Final = ("annotations", "vm.kubevirt.io/os")
_TAGS: Final = "tags"
# Shops and consoles show these annotations and labels of an object.
_SHOWN: Final = {
    "docs_url": ("annotations", DOCS_ANNOTATION),
    "support_url": ("annotations", SUPPORT_ANNOTATION),
    _TAGS: ("annotations", TAGS_ANNOTATION),
}

_SERIES: Final = _DefinitionPart(
    INSTANCETYPE,
    "series",
    "sizes",
    {
        "cpu": ("spec", "cpu", "guest"),
        "max_sockets": ("spec", "cpu", "maxSockets"),
        "memory": ("spec", "memory", "guest"),
        "hugepages": ("spec", "memory", "hugepages", "pageSize"),
        "display_name": ("annotations", f"{DESCRIPTIVE}displayName"),
        "description": ("annotations", f"{DESCRIPTIVE}description"),
        "icon": ("labels", ICON_LABEL),
        **_SHOWN,
    },
)
_FAMILIES: Final = _DefinitionPart(
    PREFERENCE,
    "families",
    "preferences",
    {
        "os": ("spec", *_OS),
        "requires.cpu": ("spec", "requirements", "cpu", "guest"),
        "requires.memory": ("spec", "requirements", "memory", "guest"),
        "requires.architecture": ("spec", "requirements", "architecture"),
        "display_name": ("annotations", "openshift.io/display-name"),
        "os_type": ("labels", OS_LABEL),
        "icon": ("annotations", ICON_ANNOTATION),
        **_SHOWN,
    },
)


def _from_definition(definition: dict[str, Any]) -> Iterator[tuple[Manifest, str]]:
    """The objects of a definition, in its order, and the place of each, such as ``series.u1.sizes.large``. The
    definition's own labels override derived ones; null removes them.
    """
    _check_keys(definition, ("labels", "annotations", _SERIES.groups, _FAMILIES.groups), "the catalog")
    common = {key: _object(definition, key, "the catalog") for key in ("labels", "annotations")}
    for part in (_SERIES, _FAMILIES):
        groups = _entries(definition, part.groups, "the catalog")
        for group, content in groups.items():
            where = f"{part.groups}.{group}"
            shared = _extended_entry(common, part, groups, content, where, (group,))
            for member, entry in _entries(content, part.members, where).items():
                place = f"{where}.{part.members}.{member}"
                item = _extended_entry(shared, part, groups, entry, place, ())
                name, derived = member, _derived_labels(part.matcher_field, item["spec"])
                if part is _SERIES:
                    name, derived[f"{DESCRIPTIVE}size"] = f"{group}.{member}", member
                with catalog_errors(f"{part.matcher_field.name} {name}"):
                    _check(part.matcher_field.spec_type, item["spec"])
                labels, annotations = _without_nulls({**derived, **item["labels"]}), _without_nulls(item["annotations"])
                yield _manifest(part.matcher_field, name, labels, annotations, item["spec"]), place


def _extended_entry(
    base: Entry, part: _DefinitionPart, groups: dict[str, Entry], entry: Entry, where: str, above: tuple[str, ...]
) -> Entry:
    """The base with an entry on top, after the groups that the entry extends: labels, annotations and spec.

    above: the chain of `extends` so far, to find circles; empty for a size or preference.
    """
    _check_keys(entry, (*_keys(part), part.members) if above else _keys(part), where)
    extends = entry.get("extends") or []
    for parent in extends if isinstance(extends, list) else [extends]:
        if not isinstance(parent, str) or parent not in groups:
            raise CatalogError(
                f"{where}: extends: {quoted(parent)} is not in {part.groups}{did_you_mean(parent, groups)}"
            )
        if parent in above:
            circle = " > ".join((*above, parent))
            raise CatalogError(f"{where}: extends: {circle} is a cycle; remove one of these references")
        base = _extended_entry(base, part, groups, groups[parent], f"{part.groups}.{parent}", (*above, parent))
    own = _own_content(part, entry, where)
    # Keep null labels until the derived labels are known, because they remove these too.
    return {**apply_merge_patch(base, own), "labels": {**base["labels"], **own["labels"]}}


def _own_content(part: _DefinitionPart, entry: Entry, where: str) -> Entry:
    """An entry's own labels, annotations and spec, including its short keys."""
    result = {key: copy(_object(entry, key, where)) for key in ("labels", "annotations", "spec")}
    keys = {**entry, **{f"requires.{key}": value for key, value in _object(entry, "requires", where).items()}}
    _check_keys({key: None for key in keys if key.startswith("requires.")}, tuple(part.columns), where)
    for column, path in part.columns.items():
        if column in keys:
            value = _tags(keys[column], where) if column == _TAGS else keys[column]
            for key in reversed(path):
                value = {key: value}
            with catalog_errors(f"{where}: {column}"):
                merge(result, value)
    with catalog_errors(where):
        state = state_metadata(entry)
    result["labels"].update(state.labels)
    result["annotations"].update(state.annotations)
    return result


def _tags(value: Any, where: str) -> Any:
    """The annotation of a list of tags; a text stays as it is."""
    if not isinstance(value, list):
        return value
    if not all(isinstance(tag, str) for tag in value):
        raise CatalogError(f"{where}: {_TAGS}: expected a list of texts, found {quoted(value)}{QUOTES}")
    return ",".join(value)


def _derived_labels(matcher_field: MatcherField, spec: dict[str, Any]) -> dict[str, str]:
    """The labels that common-instancetypes derives from a spec."""
    labels = spec_labels(matcher_field, spec)
    if matcher_field is PREFERENCE:
        labels = {"os-type": str(value_at(spec, _OS) or ""), **labels, "arch": labels["required-architecture"]}
    return {f"{DESCRIPTIVE}{name}": value for name, value in labels.items() if value}


def _without_nulls(entries: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entries.items() if value is not None}


def _keys(part: _DefinitionPart) -> tuple[str, ...]:
    short = dict.fromkeys(column.partition(".")[0] for column in part.columns)
    return (*short, DEPRECATED, OBSOLETE, "labels", "annotations", "spec", "extends")


def _check_keys(entry: Entry, allowed: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in allowed:
            raise CatalogError(f"{where}: unknown key {quoted(key)}{did_you_mean(key, allowed)}")


def _object(entry: Entry, key: str, where: str) -> dict[str, Any]:
    value = entry.get(key)
    if value is not None and not isinstance(value, dict):
        raise CatalogError(f"{where}: {key}: expected an object, found {quoted(value)}; write it as key: value")
    return value or {}


def _entries(parent: Entry, key: str, where: str) -> dict[str, Entry]:
    """The entries under a key; null is an empty entry."""
    entries = _object(parent, key, where)
    for name in entries:
        if not isinstance(name, str):
            raise CatalogError(f"{where}: {key}: expected a string as name, found {quoted(name)}{QUOTES}")
        _object(entries, name, f"{where}: {key}")
    return {name: entry or {} for name, entry in entries.items()}


def expand_catalog(*sources: dict[str, Any], version: str = "") -> list[Manifest]:
    """The manifests of the sources, in order, of the cluster-wide kinds and in canonical spelling.

    sources: definitions, or manifests of instancetypes and preferences of either kind (dicts with a `kind`), of which
    name, labels, annotations and spec count. version: the one to take of a catalog with versions (see `versions`), ""
    for the newest. Raises CatalogError for the errors of `versions.at_version`; for keys, fields and values that a
    definition may not have, for unknown parents and circles; for specs that do not match the schema, for invalid and
    for duplicate names.
    """
    return [manifest for manifest, _place in expand_with_places(sources, (), version)]


class Placed(NamedTuple):
    """A manifest and the place of its document, "" if unknown."""

    manifest: Manifest
    place: str


def expand_with_places(sources: Sequence[Any], places: Sequence[str], version: str = "") -> list[Placed]:
    """See `expand_catalog`. places: the position of each source, such as ``acme.yml, line 3``, for messages; empty if
    unknown.
    """
    objects: dict[tuple[MatcherField, str], tuple[Placed, str]] = {}
    for number, source in at_version(sources, version):
        place = places[number] if places else ""
        if not isinstance(source, dict):
            found = f"expected a definition or a manifest, found {quoted(source)}"
            raise CatalogError(found if place else f"catalog {number}: {found}", place)
        try:
            described = [_from_manifest(source, number)] if "kind" in source else list(_from_definition(source))
        except CatalogError as error:
            raise CatalogError(error.reason, place) from error
        for manifest, inside in described:
            where = ": ".join(filter(None, (place, inside)))
            (existing, _place), first = objects.setdefault(
                (matcher_field_of(manifest), name_of(manifest)), (Placed(manifest, place), where)
            )
            # A bundle of all four kinds contains every object twice.
            if existing != manifest:
                both = f"{matcher_field_of(manifest).name} {name_of(manifest)}: name: {first} and {where}"
                raise CatalogError(f"{both} have the same name; rename or remove one of them")
    return [placed for placed, _where in objects.values()]


def adapt(
    objects: Collection[Manifest], *, namespace: str = "", labels: dict[str, str] | None = None, name_prefix: str = ""
) -> list[Manifest]:
    """New manifests of the objects: with more labels, a prefix of their names, or of the namespaced kinds.

    Raises CatalogError for labels that are not text, and for names that are invalid with the prefix.
    """
    prefixed = {(matcher_field_of(manifest), name_of(manifest)) for manifest in objects}
    result = []
    for manifest in objects:
        matcher_field, annotations = matcher_field_of(manifest), annotations_of(manifest)
        # A replacement may also come from another catalog, which keeps its names.
        if (matcher_field, annotations.get(REPLACEMENT_ANNOTATION)) in prefixed:
            annotations = {**annotations, REPLACEMENT_ANNOTATION: f"{name_prefix}{annotations[REPLACEMENT_ANNOTATION]}"}
        all_labels = {**labels_of(manifest), **(labels or {})}
        name = name_prefix + name_of(manifest)
        result.append(_manifest(matcher_field, name, all_labels, annotations, manifest["spec"], namespace))
    return result


def matcher_field_of(manifest: Manifest) -> MatcherField:
    """The matcher field that refers to a manifest."""
    return MATCHER_FIELD_OF_KIND[manifest["kind"]]


def _from_manifest(source: Manifest, number: int) -> tuple[Manifest, str]:
    kind, version = source["kind"], source.get("apiVersion")
    metadata, spec = source.get("metadata") or {}, source.get("spec") or {}
    where = f"manifest {number}"
    if not isinstance(kind, str) or kind not in MATCHER_FIELD_OF_KIND:
        raise CatalogError(f"{where}: kind: {quoted(kind)} is neither an instancetype nor a preference; remove it")
    if version != API_VERSION:
        raise CatalogError(f"{where} ({kind}): apiVersion: {quoted(version)} is not supported; use {API_VERSION}")
    for field, value in (("metadata", metadata), ("spec", spec)):
        if not isinstance(value, dict):
            raise CatalogError(f"{where} ({kind}): {field}: expected an object, found {quoted(value)}")
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return _manifest(MATCHER_FIELD_OF_KIND[kind], metadata.get("name"), labels, annotations, spec), where


def _manifest(
    matcher_field: MatcherField, name: Any, labels: Any, annotations: Any, spec: dict[str, Any], namespace: str = ""
) -> Manifest:
    label = f"{matcher_field.name} {name if isinstance(name, str) and len(name) < 64 else quoted(name)}"
    if not isinstance(name, str):
        raise CatalogError(f"{label}: name: expected a string, found {quoted(name)}{QUOTES}")
    make = manifests.instancetype if matcher_field is INSTANCETYPE else manifests.preference
    options = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations, "spec": copy(spec)}
    # Definitions have been checked for unknown fields; KubeVirt judges the fields of a published manifest.
    options["accept_unknown_fields"] = True
    with catalog_errors(label):
        return make(options)


def _check(spec_type: str, spec: dict[str, Any]) -> None:
    """Raises FieldError for an unknown field or a value that is not among the field's choices.

    Published manifests may use newer fields; in definitions written by hand an unknown field is more likely a typo.
    """
    for field in fields(spec_type, spec, path="spec"):
        if not field.expression:
            raise FieldError(field.path, f"unknown field{did_you_mean(field.name, TYPES[field.type_name])}")
        choices = ENUMS.get(field.expression)
        if choices is not None and field.value not in choices:
            raise FieldError(
                field.path, f"{quoted(field.value)} is not a valid value{did_you_mean(field.value, choices)}"
            )
