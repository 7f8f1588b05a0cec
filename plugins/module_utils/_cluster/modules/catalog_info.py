"""The module catalog_info."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ..._resolver.api.errors import FieldError
from ..._resolver.api.keys import CATALOG_LABEL
from ..._resolver.api.kinds import KINDS
from ..._resolver.api.manifest import Manifest, qualified_name
from ..._resolver.api.matcher import MATCHER_FIELD_OF_KIND, MATCHER_FIELDS, ObjectKey
from ..._resolver.catalog.errors import CatalogError
from ..._resolver.catalog.facts import Facts, facts, place
from ..._resolver.catalog.labels import check_label
from ..._resolver.catalog.ownership import is_deployed
from ..._resolver.kubevirt.cluster import deploys_instancetypes
from ..client.errors import RequestFailed, TaskFailed
from ..client.session import Session
from ..reads.catalog_users import CatalogUsers
from ..reads.kubevirt import kubevirt
from ..reads.optional_kinds import POOL
from ..reads.snapshot import namespace_problem, unmatched
from ..task import Task
from .module import Module, Params, Result
from .shared_options import AUTH, REQUESTS

ReadAddition = Callable[[Session, Sequence[Manifest]], Any]
"""(the session, the objects that can be read) → a value of the result."""

_KINDS = {
    "all": [kind for matcher_field in MATCHER_FIELDS for kind in (matcher_field.cluster_kind, matcher_field.kind)],
    "cluster": [matcher_field.cluster_kind for matcher_field in MATCHER_FIELDS],
    "namespaced": [matcher_field.kind for matcher_field in MATCHER_FIELDS],
}
_NOUN = "instancetype or preference"
_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **REQUESTS,
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "namespace": {"type": "str"},
    "scope": {"type": "str", "choices": list(_KINDS), "default": "all"},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
    "catalog": {"type": "str"},
    "used_by": {"type": "bool", "default": False},
}


def _run(params: Params, task: Task, more: Mapping[str, ReadAddition]) -> Result:
    session, warnings = task.connect(params), task.warnings
    manifests = _selected(params, session, warnings)
    readable, objects = _readable(manifests, warnings)
    objects.sort(key=place)
    by_field = {
        f"{matcher_field.name}s": [item for item in objects if MATCHER_FIELD_OF_KIND[item["kind"]] is matcher_field]
        for matcher_field in MATCHER_FIELDS
    }
    if params["used_by"]:
        _add_users(session, objects)
    return {
        "changed": False,
        **by_field,
        "catalogs": _catalogs(objects),
        "common_instancetypes_deployment": {
            "enabled": deploys_instancetypes(kubevirt(session)),
            "objects": sum(map(is_deployed, manifests)),
        },
        **{name: read(session, readable) for name, read in more.items()},
    }


def module(**more: ReadAddition) -> Module:
    """The module. more: further keys of the result, and the functions that read their values."""
    return Module(_SPEC, partial(_run, more=more), errors=(CatalogError,))


def _selected(params: Params, session: Session, warnings: list[str]) -> list[Manifest]:
    """The selected objects, with one LIST for each kind. Options that select nothing add a warning."""
    selectors = [*params["label_selectors"]]
    if params["catalog"]:
        check_label("catalog", params["catalog"])
        selectors.append(f"{CATALOG_LABEL}={params['catalog']}")
    query = {"labelSelector": ",".join(selectors)} if selectors else {}
    manifests: list[Manifest] = []
    for name in _KINDS[params["scope"]]:
        kind = KINDS[name]
        manifests += session.list(kind, params["namespace"] if kind.namespaced else None, **query)
    names = params["names"]
    missing = set(names or ()) - {manifest["metadata"]["name"] for manifest in manifests}
    if (
        params["namespace"]
        and params["scope"] != "cluster"
        and not any(manifest["metadata"].get("namespace") for manifest in manifests)
    ):
        warnings += filter(None, [namespace_problem(session, params["namespace"])])
    if not manifests and params["label_selectors"]:
        warnings.append(unmatched(session, None, _NOUN, selector=",".join(params["label_selectors"])))
    elif not manifests and params["catalog"]:
        warnings.append(f"catalog: no {_NOUN} belongs to {params['catalog']}")
    elif missing:
        warnings.append(unmatched(session, None, _NOUN, sorted(missing)))
    return [manifest for manifest in manifests if names is None or manifest["metadata"]["name"] in names]


def _readable(manifests: Iterable[Manifest], warnings: list[str]) -> tuple[list[Manifest], list[Facts]]:
    """The objects that can be read, and the facts about them. One that cannot adds a warning."""
    readable, found = [], []
    for manifest in manifests:
        try:
            found.append(facts(manifest))
        except FieldError as error:
            warnings.append(f"{manifest['kind']} {manifest['metadata']['name']} cannot be read: {error}")
        else:
            readable.append(manifest)
    return readable, found


def _add_users(session: Session, objects: list[Facts]) -> None:
    users = CatalogUsers(session)
    try:
        # Cluster-wide objects come first: they need the VMs of all namespaces, so that no namespace is listed again.
        for item in sorted(objects, key=lambda item: str(item["namespace"])):
            using = users.all_using(ObjectKey(item["kind"], item["namespace"], item["name"]))
            item["used_by"] = [
                f"{POOL} {qualified_name(user)}" if user.get("kind") == POOL else qualified_name(user) for user in using
            ]
    except RequestFailed as error:
        raise TaskFailed(f"used_by: {error}") from error


def _catalogs(objects: list[Facts]) -> list[Facts]:
    """The deployed objects of each catalog; more than one version means an incomplete upgrade."""
    catalogs: dict[str, Facts] = {}
    for item in objects:
        catalog = catalogs.setdefault(
            item["catalog"], {"name": item["catalog"], "versions": {}, "instancetypes": 0, "preferences": 0}
        )
        catalog["instancetypes" if "Instancetype" in item["kind"] else "preferences"] += 1
        version = item["catalog_version"]
        catalog["versions"][version] = catalog["versions"].get(version, 0) + 1
    return [catalogs[name] for name in sorted(catalogs)]
