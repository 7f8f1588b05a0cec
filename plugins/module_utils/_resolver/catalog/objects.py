"""Catalogs: sets of instancetypes and preferences, from definitions (see `language`) or as manifests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..api.errors import FieldError
from ..api.fields.enums import ENUMS
from ..api.matcher import API_VERSION, INSTANCETYPE, ROLE_OF_KIND, Role
from ..api.names import nearest, shown
from ..api.schema import TYPES, field_type
from ..api.tree import copy
from ..declare import manifests
from .errors import CatalogError
from .language import items
from .versions import at_version

Manifest = dict[str, Any]


def expand_catalog(*sources: dict[str, Any], version: str = "") -> list[Manifest]:
    """The manifests of the sources, in order, of the cluster-wide kinds and in canonical spelling.

    sources: definitions, or manifests of instancetypes and preferences of either kind (dicts with a `kind`), of which
    name, labels, annotations and spec count. version: of a catalog with versions (see `versions`), "" for the newest.
    Raises CatalogError for the errors of `at_version` and `language.items`, for specs that do not match the schema, for
    unknown fields and values in a definition's spec, for invalid names and for duplicate names.
    """
    found: dict[tuple[Role, str], tuple[Manifest, str]] = {}
    for number, source in enumerate(at_version(sources, version)):
        if not isinstance(source, dict):
            raise CatalogError(f"catalog {number}: expected a definition or a manifest, found {shown(source)}")
        for manifest, where in [_from_manifest(source, number)] if "kind" in source else _from_definition(source):
            known, first = found.setdefault((role_of(manifest), name_of(manifest)), (manifest, where))
            # A bundle of all four kinds contains every object twice.
            if known != manifest:
                raise CatalogError(
                    f"{_label(manifest)}: name: {first} and {where} have the same name; rename or remove one of them"
                )
    return [manifest for manifest, _origin in found.values()]


def adapt(
    objects: Iterable[Manifest], *, namespace: str = "", labels: dict[str, str] | None = None, name_prefix: str = ""
) -> list[Manifest]:
    """New manifests of the objects: with more labels, a prefix of their names, or of the namespaced kinds.

    Raises CatalogError for labels that are not text, and for names that are invalid with the prefix.
    """
    return [
        _manifest(
            role_of(manifest),
            name_prefix + name_of(manifest),
            {**manifest["metadata"].get("labels", {}), **(labels or {})},
            manifest["metadata"].get("annotations", {}),
            manifest["spec"],
            namespace,
        )
        for manifest in objects
    ]


def role_of(manifest: Manifest) -> Role:
    """The role of a manifest: instancetype or preference."""
    return ROLE_OF_KIND[manifest["kind"]]


def _from_definition(definition: dict[str, Any]) -> Iterator[tuple[Manifest, str]]:
    for item in items(definition):
        try:
            _check(item.role.spec_type, item.spec, "spec")
        except FieldError as error:
            raise CatalogError(f"{item.role.matcher} {item.name}: {error}") from error
        yield _manifest(item.role, item.name, item.labels, item.annotations, item.spec), item.where


def _from_manifest(source: Manifest, number: int) -> tuple[Manifest, str]:
    kind, version = source["kind"], source.get("apiVersion")
    metadata, spec = source.get("metadata") or {}, source.get("spec") or {}
    where = f"manifest {number}"
    if not isinstance(kind, str) or kind not in ROLE_OF_KIND:
        raise CatalogError(f"{where}: kind: {shown(kind)} is neither an instancetype nor a preference; remove it")
    if version != API_VERSION:
        raise CatalogError(f"{where} ({kind}): apiVersion: {shown(version)} is not supported; use {API_VERSION}")
    for field, value in (("metadata", metadata), ("spec", spec)):
        if not isinstance(value, dict):
            raise CatalogError(f"{where} ({kind}): {field}: expected an object, found {shown(value)}")
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    return _manifest(ROLE_OF_KIND[kind], metadata.get("name"), labels, annotations, spec), where


def _manifest(
    role: Role, name: Any, labels: Any, annotations: Any, spec: dict[str, Any], namespace: str = ""
) -> Manifest:
    label = f"{role.matcher} {name if isinstance(name, str) and len(name) < 64 else shown(name)}"
    if not isinstance(name, str):
        raise CatalogError(f"{label}: name: expected text, found {shown(name)}; put it in quotes")
    make = manifests.instancetype if role is INSTANCETYPE else manifests.preference
    options = {"name": name, "namespace": namespace, "labels": labels, "annotations": annotations, "spec": copy(spec)}
    # Definitions have been checked for unknown fields; those of a published manifest are for KubeVirt to judge.
    options["accept_unknown_fields"] = True
    try:
        return make(options)
    except FieldError as error:
        remedy = "; put it in quotes" if error.reason.startswith("expected text") else ""
        raise CatalogError(f"{label}: {error}{remedy}") from error


def _check(expression: str, value: Any, path: str) -> None:
    """Raises FieldError for an unknown field or a value that is not among the field's choices.

    Published manifests may use newer fields; in definitions written by hand an unknown field is more likely a typo.
    """
    expression = expression.strip("*!")
    if expression in ENUMS and value not in ENUMS[expression]:
        raise FieldError(path, f"{shown(value)} is not a valid value{nearest(value, ENUMS[expression])}")
    if expression.startswith("[]") and isinstance(value, list):
        for index, entry in enumerate(value):
            _check(expression[2:], entry, f"{path}[{index}]")
    if expression in TYPES and isinstance(value, dict):
        for key, entry in value.items():
            if key not in TYPES[expression]:
                raise FieldError(f"{path}.{key}", f"unknown field{nearest(key, TYPES[expression])}")
            _check(field_type(TYPES[expression][key]), entry, f"{path}.{key}")


def name_of(manifest: Manifest) -> str:
    name: str = manifest["metadata"]["name"]
    return name


def _label(manifest: Manifest) -> str:
    return f"{role_of(manifest).matcher} {name_of(manifest)}"
