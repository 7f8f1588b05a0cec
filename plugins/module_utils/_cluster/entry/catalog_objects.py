"""Shared by the modules that read instancetypes and preferences: the objects and their figures."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import CatalogError, FieldError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import Role
from ..._resolver.catalog.facts import facts
from ..._resolver.catalog.labels import CATALOG_LABEL, check_name
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session

Manifest = dict[str, Any]
Told = dict[str, Any]

WHERE: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "scope": {"type": "str", "choices": ["all", "cluster", "namespaced"], "default": "all"},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
    "catalog": {"type": "str"},
}


def session_of(module: Any) -> Session:
    try:
        return Session(module.params)
    except ConnectionFailed as error:
        return module.fail_json(msg=str(error))  # type: ignore[no-any-return]


def listed(module: Any, session: Session, role: Role) -> list[Manifest]:
    """The objects of both kinds of a role, with one LIST for each."""
    options = module.params
    kinds = {"all": (role.cluster_kind, role.kind), "cluster": (role.cluster_kind,), "namespaced": (role.kind,)}
    selectors = [*options["label_selectors"]]
    if options["catalog"]:
        try:
            check_name(options["catalog"])
        except CatalogError as error:
            module.fail_json(msg=str(error))
        selectors.append(f"{CATALOG_LABEL}={options['catalog']}")
    query = {"labelSelector": ",".join(selectors)} if selectors else {}
    found: list[Manifest] = []
    for name in kinds[options["scope"]]:
        kind = BY_NAME[name]
        try:
            items, _version = session.list(kind, options["namespace"] if kind.namespaced else None, **query)
        except (ApiError, ConnectionFailed) as error:
            module.fail_json(msg=explain(error, "LIST", kind))
        found += items
    return found


def facts_of(module: Any, manifest: Manifest) -> Told | None:
    try:
        return facts(manifest)
    except FieldError as error:
        module.warn(f"{manifest['kind']} {manifest['metadata']['name']} cannot be read: {error}")
        return None
