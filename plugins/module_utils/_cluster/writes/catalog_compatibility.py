"""How a catalog fits the cluster: the version to deploy, fields that the cluster drops, objects of virt-operator."""

from __future__ import annotations

from typing import Any, Final

from ..._resolver.api import release
from ..._resolver.api.keys import MANAGED_BY_LABEL
from ..._resolver.api.kinds import KINDS, Kind
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, PREFERENCE, ObjectKey
from ..._resolver.api.release import Release
from ..._resolver.api.write import merge_patch
from ..._resolver.catalog.labels import architecture_of
from ..._resolver.catalog.lost_fields import LostFields, find_lost_fields, release_of, spec_schema
from ..._resolver.catalog.ownership import is_deployed
from ..._resolver.catalog.versions import fitting_version, version_names
from ..._resolver.kubevirt.cluster import DEPLOYMENT, deploys_instancetypes
from ..._resolver.ownership.writers import REVERTED, writer_claim
from ..client.concurrency import Backoff
from ..client.errors import ApiError, RequestFailed, TaskFailed, value_or_default
from ..client.session import Session
from ..reads.kubevirt import KUBEVIRT, kubevirt, kubevirt_object
from ..task import Task
from .send import NO_DRY_RUN, send

_DEFINITION = Kind("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "customresourcedefinitions", False)


AUTO: Final = "auto"

KEEP: Final = "keep"
FAIL: Final = "fail"
ENABLE: Final = "enable"
DISABLE: Final = "disable"
CHOICES: Final = (KEEP, FAIL, ENABLE, DISABLE)
# virt-operator deletes within seconds; it may be restarting.
_TIMEOUT: Final = 120
# HyperConverged reverts changes of the KubeVirt object, and has the same field.
_HYPERCONVERGED: Final = "hco-operator"


def check_fields(
    session: Session, manifests: list[Manifest], warnings: list[str]
) -> tuple[list[Manifest], list[tuple[ObjectKey, LostFields]]]:
    """(the manifests, in order, without the fields that the cluster would drop; these fields). One GET for each kind.

    Objects of a kind whose schema cannot be read count as compatible; the API server then rejects unknown fields. Each
    such kind adds a warning.
    """
    schemas = {}
    for kind in dict.fromkeys(manifest["kind"] for manifest in manifests):
        schema = _schema(session, KINDS[kind], warnings)
        if schema is not None:
            schemas[kind] = schema
    fitting, lost_fields = [], []
    for manifest in manifests:
        schema = schemas.get(manifest["kind"])
        lost = find_lost_fields(manifest, schema) if schema is not None else None
        if lost is not None:
            lost_fields.append((ObjectKey.of(manifest), lost))
        fitting.append(manifest if lost is None else lost.manifest)
    return fitting, lost_fields


def foreign_architectures(session: Session, manifests: list[Manifest]) -> dict[ObjectKey, str]:
    """The preferences for another architecture than the cluster's, each with one line that says so."""
    ours = kubevirt(session).architecture
    preferences = [manifest for manifest in manifests if MATCHER_FIELD_OF_KIND[manifest["kind"]] is PREFERENCE]
    architectures = {ObjectKey.of(preference): architecture_of(preference) for preference in preferences}
    return {
        key: f"the task deploys it without these fields, because it is for {architecture} and the cluster runs {ours}"
        for key, architecture in architectures.items()
        if architecture not in ("", ours)
    }


def choose_version(session: Session, documents: list[Any], requested: str) -> tuple[str, str]:
    """(the version of a catalog, "" if it has none; why this one, "" if it was requested).

    requested: a version, or `auto` for the version that fits the cluster. Raises CatalogError if the list of versions
    is invalid, and ConnectionFailed.
    """
    if requested != AUTO:
        return requested, ""
    if not version_names(documents):
        return "", ""
    cluster_release, reason = _release(session)
    return fitting_version(documents, cluster_release), reason


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
    return by_fields, f"the cluster's API has all fields of KubeVirt {by_fields.minor_version}"


def _release_by_fields(session: Session) -> Release | None:
    """The newest release whose fields the cluster's API has; None if no schema can be read. One GET for each kind."""
    published = {
        matcher_field: _schema(session, KINDS[matcher_field.cluster_kind], []) for matcher_field in MATCHER_FIELDS
    }
    schemas = {matcher_field: schema for matcher_field, schema in published.items() if schema is not None}
    return release_of(schemas) if schemas else None


def _schema(session: Session, kind: Kind, warnings: list[str]) -> Manifest | None:
    try:
        definition = session.get(_DEFINITION, None, f"{kind.plural}.{kind.group}")
    except RequestFailed as error:
        # Everyone may read the OpenAPI description, but not the CustomResourceDefinitions from which it is made.
        schema = _openapi_schema(session, kind) if error.code == 403 else None
        if schema is None:
            warnings.append(f"cannot check which fields of {kind.kind} the cluster knows: {error}")
        return schema
    # Without the definition the API does not exist; the first request for an object reports that more clearly.
    return None if definition is None else spec_schema(definition, kind.version)


def _openapi_schema(session: Session, kind: Kind) -> Manifest | None:
    """The schema from the API server's OpenAPI description."""
    openapi: Manifest = value_or_default(lambda: session.request("GET", f"/openapi/v3/apis/{kind.api_version}"), {})
    for schema in ((openapi.get("components") or {}).get("schemas") or {}).values():
        if any(gvk.get("kind") == kind.kind for gvk in schema.get("x-kubernetes-group-version-kind") or []):
            spec = (schema.get("properties") or {}).get("spec")
            return spec if isinstance(spec, dict) else None
    return None


def apply_deployment_option(session: Session, choice: str, task: Task) -> dict[str, bool | None]:
    """Does what the option `common_instancetypes_deployment` says. Raises TaskFailed.

    {enabled: whether virt-operator deploys the common instancetypes, None if unknown; changed: whether the task changes
    that}. After `disable`, nothing that virt-operator deployed is left, outside of check mode.
    """
    installed = kubevirt(session)
    enabled = deploys_instancetypes(installed)
    if choice == KEEP:
        return {"enabled": enabled, "changed": False}
    if enabled is None:
        raise _refusal(installed.assumption)
    if choice == FAIL and enabled:
        raise _refusal(
            "virt-operator deploys the common instancetypes; set it to enable or keep to leave them to virt-operator,"
            " or to disable to deploy them by this task"
        )
    enable = choice == ENABLE
    if enabled != enable:
        _set(session, enable, task)
    if choice == DISABLE:
        _await_deletion(session, task)
    return {"enabled": enable, "changed": enabled != enable}


def _refusal(reason: object) -> TaskFailed:
    return TaskFailed(f"common_instancetypes_deployment: {reason}")


def _set(session: Session, enabled: bool, task: Task) -> None:
    """Sets the field of the KubeVirt object; in check mode by a dry run."""
    live = kubevirt_object(session)
    if live is None:
        raise _refusal("the cluster has no KubeVirt object, or you may not read it; set it to keep")
    metadata = live["metadata"]
    if (metadata.get("labels") or {}).get(MANAGED_BY_LABEL) == _HYPERCONVERGED:
        raise _refusal(
            f"the HyperConverged operator reverts changes of the KubeVirt {metadata['name']}; set"
            f" spec.{DEPLOYMENT}.enabled of the HyperConverged object to {'true' if enabled else 'false'}"
        )
    found = writer_claim(live, [("spec", "configuration", DEPLOYMENT, "enabled")], session.field_manager)
    if found is not None:
        task.warnings.append(f"KubeVirt {metadata['name']}: {found.text(REVERTED)}")
    if task.check_mode and not task.server_dry_run:
        return
    path = KUBEVIRT.path(metadata["namespace"], metadata["name"])
    patch = {"spec": {"configuration": {DEPLOYMENT: {"enabled": enabled}}}}
    client = session.dry_run_session() if task.check_mode else session
    try:
        send(client, merge_patch(path, patch, fieldManager=session.field_manager))
    except ApiError as error:
        if not (task.check_mode and NO_DRY_RUN in error.message):
            raise _refusal(error) from None
        task.warnings.append(f"the dry run could not check the KubeVirt object: {error}")


def _await_deletion(session: Session, task: Task) -> None:
    """Waits until virt-operator has deleted its objects, which it would not let others change."""
    pauses = Backoff()
    while remaining := _deployed(session):
        if task.check_mode:
            task.warnings.append(
                f"virt-operator deletes its {remaining} objects first; check mode shows them as left alone"
            )
            return
        if not pauses.pause(_TIMEOUT):
            raise _refusal(
                f"virt-operator has not deleted its {remaining} objects within {_TIMEOUT} seconds; check that it runs"
                " (kubectl get deployment -A -l kubevirt.io=virt-operator), and run the task again"
            )


def _deployed(session: Session) -> int:
    """The number of objects that virt-operator has deployed."""
    try:
        deployed = [
            manifest for matcher_field in MATCHER_FIELDS for manifest in session.list(KINDS[matcher_field.cluster_kind])
        ]
    except ApiError as error:
        raise _refusal(error) from None
    return sum(map(is_deployed, deployed))
