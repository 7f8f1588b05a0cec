"""Compares objects with the schemas of the cluster's CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.matcher import PREFERENCE, ROLE_OF_KIND, ROLES
from ..._resolver.api.release import Release
from ..._resolver.catalog.labels import architecture_of
from ..._resolver.catalog.lost_fields import Misfit, misfit, release_of, spec_schema
from ..._resolver.catalog.object_key import ObjectKey, key_of
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt

Manifest = dict[str, Any]

_DEFINITION = Kind("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "customresourcedefinitions", False)


class Fit(NamedTuple):
    """manifests: in order, without the fields that the cluster would drop.

    warnings: kinds that could not be checked.
    """

    manifests: list[Manifest]
    misfits: list[tuple[ObjectKey, Misfit]]
    warnings: list[str]


def fits(session: Session, manifests: list[Manifest]) -> Fit:
    """Compares the manifests with the schemas of the cluster: one GET for each kind.

    Objects of a kind whose schema cannot be read count as fitting; the API server then rejects unknown fields.
    """
    warnings: list[str] = []
    schemas = {}
    for kind in dict.fromkeys(one["kind"] for one in manifests):
        found = _schema(session, BY_NAME[kind], warnings)
        if found is not None:
            schemas[kind] = found
    known = release_of({ROLE_OF_KIND[kind]: found for kind, found in schemas.items()})
    kept, misfits = [], []
    for manifest in manifests:
        one = misfit(manifest, schemas[manifest["kind"]], known) if manifest["kind"] in schemas else None
        if one is not None:
            misfits.append((key_of(manifest), one))
        kept.append(manifest if one is None else one.manifest)
    return Fit(kept, misfits, warnings)


def foreign(session: Session, manifests: list[Manifest]) -> dict[ObjectKey, str]:
    """The preferences for another architecture than the cluster's, each with one line that says so."""
    ours = kubevirt(session).configuration.architecture
    found = {key_of(one): architecture_of(one) for one in manifests if ROLE_OF_KIND[one["kind"]] is PREFERENCE}
    return {
        place: f"the task deploys it without these fields, because it is for {architecture} and the cluster runs {ours}"
        for place, architecture in found.items()
        if architecture not in ("", ours)
    }


def release_by_fields(session: Session) -> Release | None:
    """The newest release whose fields the cluster's API has; None if no schema can be read. One GET for each kind."""
    found = {role: _schema(session, BY_NAME[role.cluster_kind], []) for role in ROLES}
    schemas = {role: schema for role, schema in found.items() if schema is not None}
    return release_of(schemas) if schemas else None


def _schema(session: Session, kind: Kind, warnings: list[str]) -> Manifest | None:
    try:
        definition = session.get(_DEFINITION, None, f"{kind.plural}.{kind.group}")
    except ApiError as error:
        # Everyone may read the OpenAPI description, but not the CustomResourceDefinitions from which it is made.
        found = _published(session, kind) if error.code == 403 else None
        if found is None:
            warnings.append(_unknown(kind, error))
        return found
    except ConnectionFailed as error:
        warnings.append(_unknown(kind, error))
        return None
    # Without the definition the API does not exist; the first request for an object reports that more clearly.
    return None if definition is None else spec_schema(definition, kind.version)


def _published(session: Session, kind: Kind) -> Manifest | None:
    """The schema from the API server's OpenAPI description."""
    try:
        described = session.request("GET", f"/openapi/v3/apis/{kind.api_version}")
    except (ApiError, ConnectionFailed):
        return None
    for schema in ((described.get("components") or {}).get("schemas") or {}).values():
        if any(one.get("kind") == kind.kind for one in schema.get("x-kubernetes-group-version-kind") or []):
            found = (schema.get("properties") or {}).get("spec")
            return found if isinstance(found, dict) else None
    return None


def _unknown(kind: Kind, error: ApiError | ConnectionFailed) -> str:
    return f"cannot check which fields of {kind.kind} the cluster knows: {explain(error, 'GET', _DEFINITION)}"
