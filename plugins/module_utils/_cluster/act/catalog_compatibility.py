"""Checks a catalog against the cluster: its version, and its fields by the CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._resolver.api import release
from ..._resolver.api.kinds import BY_NAME, Kind
from ..._resolver.api.matcher import PREFERENCE, ROLE_OF_KIND, ROLES, ObjectKey, key_of
from ..._resolver.api.release import Release
from ..._resolver.catalog.labels import architecture_of
from ..._resolver.catalog.lost_fields import LostFields, find_lost_fields, release_of, spec_schema
from ..._resolver.catalog.versions import fitting_version, version_names
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt

Manifest = dict[str, Any]

_DEFINITION = Kind("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "customresourcedefinitions", False)


AUTO: Final = "auto"


class Compatibility(NamedTuple):
    """The manifests of a catalog, in order, without the fields that the cluster would drop, and these fields.

    warnings: kinds that could not be checked.
    """

    manifests: list[Manifest]
    lost_fields: list[tuple[ObjectKey, LostFields]]
    warnings: list[str]


def check_fields(session: Session, manifests: list[Manifest]) -> Compatibility:
    """Compares the manifests with the schemas of the cluster: one GET for each kind.

    Objects of a kind whose schema cannot be read count as compatible; the API server then rejects unknown fields.
    """
    warnings: list[str] = []
    schemas = {}
    for kind in dict.fromkeys(manifest["kind"] for manifest in manifests):
        schema = _schema(session, BY_NAME[kind], warnings)
        if schema is not None:
            schemas[kind] = schema
    cluster_release = release_of({ROLE_OF_KIND[kind]: schema for kind, schema in schemas.items()})
    fitting, lost_fields = [], []
    for manifest in manifests:
        schema = schemas.get(manifest["kind"])
        lost = find_lost_fields(manifest, schema, cluster_release) if schema is not None else None
        if lost is not None:
            lost_fields.append((key_of(manifest), lost))
        fitting.append(manifest if lost is None else lost.manifest)
    return Compatibility(fitting, lost_fields, warnings)


def foreign_architectures(session: Session, manifests: list[Manifest]) -> dict[ObjectKey, str]:
    """The preferences for another architecture than the cluster's, each with one line that says so."""
    ours = kubevirt(session).configuration.architecture
    preferences = [manifest for manifest in manifests if ROLE_OF_KIND[manifest["kind"]] is PREFERENCE]
    architectures = {key_of(preference): architecture_of(preference) for preference in preferences}
    return {
        key: f"the task deploys it without these fields, because it is for {architecture} and the cluster runs {ours}"
        for key, architecture in architectures.items()
        if architecture not in ("", ours)
    }


class ChosenVersion(NamedTuple):
    """The version of a catalog for a cluster.

    version: "" if the catalog has no versions. reason: why this version; "" if it was requested.
    """

    version: str = ""
    reason: str = ""


def choose_version(session: Session, documents: list[Any], requested: str) -> ChosenVersion:
    """Chooses the version of a catalog. requested: a version, or `auto` for the version that fits the cluster.

    Raises CatalogError if the list of versions is invalid, and ConnectionFailed.
    """
    if requested != AUTO:
        return ChosenVersion(requested)
    if not version_names(documents):
        return ChosenVersion()
    cluster_release, reason = _release(session)
    return ChosenVersion(fitting_version(documents, cluster_release), reason)


def _release(session: Session) -> tuple[Release, str]:
    """The release of the cluster's KubeVirt, and how the task knows it."""
    version = kubevirt(session).version
    try:
        return release.parse_release(version), f"the cluster runs KubeVirt {version}"
    except release.UnknownRelease:
        pass
    # The cluster may hide its version, or run a custom build.
    by_fields = _release_by_fields(session)
    if by_fields is None:
        return release.NEWEST, "the newest version, because the cluster does not report its KubeVirt release"
    major, minor, _patch = by_fields.version
    return by_fields, f"the cluster's API has all fields of KubeVirt {major}.{minor}"


def _release_by_fields(session: Session) -> Release | None:
    """The newest release whose fields the cluster's API has; None if no schema can be read. One GET for each kind."""
    published = {role: _schema(session, BY_NAME[role.cluster_kind], []) for role in ROLES}
    schemas = {role: schema for role, schema in published.items() if schema is not None}
    return release_of(schemas) if schemas else None


def _schema(session: Session, kind: Kind, warnings: list[str]) -> Manifest | None:
    try:
        definition = session.get(_DEFINITION, None, f"{kind.plural}.{kind.group}")
    except ApiError as error:
        # Everyone may read the OpenAPI description, but not the CustomResourceDefinitions from which it is made.
        schema = _openapi_schema(session, kind) if error.code == 403 else None
        if schema is None:
            warnings.append(_unchecked_warning(kind, error))
        return schema
    except ConnectionFailed as error:
        warnings.append(_unchecked_warning(kind, error))
        return None
    # Without the definition the API does not exist; the first request for an object reports that more clearly.
    return None if definition is None else spec_schema(definition, kind.version)


def _openapi_schema(session: Session, kind: Kind) -> Manifest | None:
    """The schema from the API server's OpenAPI description."""
    try:
        openapi = session.request("GET", f"/openapi/v3/apis/{kind.api_version}")
    except (ApiError, ConnectionFailed):
        return None
    for schema in ((openapi.get("components") or {}).get("schemas") or {}).values():
        if any(gvk.get("kind") == kind.kind for gvk in schema.get("x-kubernetes-group-version-kind") or []):
            spec = (schema.get("properties") or {}).get("spec")
            return spec if isinstance(spec, dict) else None
    return None


def _unchecked_warning(kind: Kind, error: ApiError | ConnectionFailed) -> str:
    return f"cannot check which fields of {kind.kind} the cluster knows: {explain(error, 'GET', _DEFINITION)}"
