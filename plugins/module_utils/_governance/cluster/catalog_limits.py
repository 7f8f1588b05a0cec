"""The option `limits` of the module catalog: the policies that a catalog declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._cluster.client.errors import RequestFailed
from ..._cluster.client.session import Session
from ..._cluster.reads.listed_objects import ListedObjects
from ..._cluster.writes.catalog_deployment import CatalogExtension
from ..._resolver.api.keys import CATALOG_LABEL, FIELD_MANAGER, LIMIT_SUFFIX, MANAGED_BY_LABEL
from ..._resolver.api.manifest import Manifest
from ..._resolver.api.matcher import MATCHER_FIELDS, ObjectKey
from ..._resolver.catalog.errors import CatalogError
from ..._resolver.change.declared import DeclareJob, manifest_job

Options = dict[str, Any]

_NAMES = {"type": "list", "elements": "str"}
_LIMIT: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "namespaces": _NAMES,
    "namespace_labels": {"type": "dict"},
    "except_namespaces": _NAMES,
    **dict.fromkeys(("instancetypes", "series", "classes", "preferences"), _NAMES),
    "require": {**_NAMES, "choices": [matcher_field.name for matcher_field in MATCHER_FIELDS]},
    "max_cpu": {"type": "int"},
    "max_memory": {"type": "str"},
    "gpus": {"type": "bool", "default": True},
    "host_devices": {"type": "bool", "default": True},
    "action": {"type": "str", "choices": ["deny", "warn", "audit"], "default": "deny"},
}

_NOT_FOUND: Final = 404


def _plan(
    live_objects: ListedObjects,
    options: Options,
    controller: str,
    objects_afterwards: Callable[[], dict[ObjectKey, Manifest]],
) -> list[DeclareJob]:
    """The policies to declare, and to delete of limits that the catalog no longer has. See `CatalogExtension`.

    Raises CatalogError for an invalid limit, for one whose name is taken, and if policies cannot be read.
    """
    from ..language import limits
    from ..policy import policies

    if any(options["namespaces"]):
        raise CatalogError(
            "limits: valid for cluster-wide objects only; remove namespaces, or write the limits in a task without"
        )
    try:
        objects = objects_afterwards()
    except RequestFailed as error:
        raise CatalogError(f"limits: {error}") from error
    live_policies = _live_policies(live_objects)
    written = options["limits"] if options["state"] == "present" else []
    declared = {
        ObjectKey.of(manifest): manifest
        for limit in limits(written, objects.values())
        for manifest in policies(limit, options["catalog"], controller)
    }
    for key in declared:
        if key in live_policies and not _belongs(live_policies[key], options["catalog"]):
            raise CatalogError(
                f"limits: the cluster has another {key.kind} {key.name}, which does not belong to the catalog"
                f" {options['catalog']}; rename the limit"
            )
    return [manifest_job(manifest, "present") for manifest in declared.values()] + [
        manifest_job(manifest, "absent")
        for key, manifest in live_policies.items()
        if key not in declared and _belongs(manifest, options["catalog"]) and key.name.endswith(LIMIT_SUFFIX)
    ]


def _live_policies(live_objects: ListedObjects) -> dict[ObjectKey, Manifest]:
    from ..policy import BINDING, POLICY

    live: dict[ObjectKey, Manifest] = {}
    for kind in (POLICY, BINDING):
        try:
            live.update({ObjectKey.of(item): item for item in live_objects.list(kind, "")})
        except RequestFailed as error:
            if error.code == _NOT_FOUND:
                raise CatalogError(f"limits: the cluster has no {kind}, which Kubernetes has since 1.30") from error
            raise CatalogError(f"limits: {error}") from error
    return live


def _belongs(policy: Manifest, catalog: str) -> bool:
    labels = policy["metadata"].get("labels") or {}
    return labels.get(MANAGED_BY_LABEL) == FIELD_MANAGER and labels.get(CATALOG_LABEL) == catalog


def _await(session: Session, jobs: list[DeclareJob], deadline: float) -> None:
    """See `CatalogExtension`."""
    from .in_force import await_in_force

    await_in_force(session, jobs, deadline)


LIMITS: Final = CatalogExtension("limits", {"type": "list", "elements": "dict", "options": _LIMIT}, _plan, _await)
