"""Shared by the modules that read instancetypes and preferences: the objects, their figures and their users."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ..._resolver.api.errors import CatalogError, FieldError, QuantityError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import Role
from ..._resolver.api.quantity import parse
from ..._resolver.catalog.facts import Range, facts, select_facts
from ..._resolver.catalog.labels import CATALOG_LABEL, check_name
from ..._resolver.catalog.object_key import ObjectKey
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.catalog_users import Users, label
from ..read.unmatched import missing_namespace, unmatched
from .argument_spec import AUTH, REQUESTS
from .outcome import Mode, Module, Outcome, Params, TaskFailed

Manifest = dict[str, Any]
Facts = dict[str, Any]

WHERE: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "scope": {"type": "str", "choices": ["all", "cluster", "namespaced"], "default": "all"},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
    "catalog": {"type": "str"},
}
_NAMES: dict[str, dict[str, Any]] = {"names": {"type": "list", "elements": "str", "aliases": ["name"]}}
_FIGURES: dict[str, dict[str, Any]] = {
    "vcpus_min": {"type": "int"},
    "vcpus_max": {"type": "int"},
    "memory_min": {"type": "str"},
    "memory_max": {"type": "str"},
    "in_use": {"type": "bool"},
    "used_by": {"type": "list", "elements": "str"},
}


def session_of(params: Params) -> Session:
    try:
        return Session(params)
    except ConnectionFailed as error:
        raise TaskFailed(str(error)) from error


def listed(params: Params, session: Session, role: Role, warnings: list[str]) -> list[Manifest]:
    """The objects of both kinds of a role, with one LIST for each. Options that select nothing add a warning."""
    kinds = {"all": (role.cluster_kind, role.kind), "cluster": (role.cluster_kind,), "namespaced": (role.kind,)}
    selectors = [*params["label_selectors"]]
    if params["catalog"]:
        try:
            check_name(params["catalog"])
        except CatalogError as error:
            raise TaskFailed(str(error)) from error
        selectors.append(f"{CATALOG_LABEL}={params['catalog']}")
    query = {"labelSelector": ",".join(selectors)} if selectors else {}
    manifests: list[Manifest] = []
    for name in kinds[params["scope"]]:
        kind = BY_NAME[name]
        try:
            items, _version = session.list(kind, params["namespace"] if kind.namespaced else None, **query)
        except (ApiError, ConnectionFailed) as error:
            raise TaskFailed(explain(error, "LIST", kind)) from error
        manifests += items
        if kind.namespaced and params["namespace"] and not items:
            warnings += filter(None, [missing_namespace(session, params["namespace"])])
    if not manifests and params["label_selectors"]:
        warnings.append(unmatched(session, None, role.matcher, selector=",".join(params["label_selectors"])))
    elif not manifests and params["catalog"]:
        warnings.append(f"catalog: no {role.matcher} belongs to {params['catalog']}")
    return manifests


def readable(manifests: Iterable[Manifest], warnings: list[str]) -> Iterator[tuple[Manifest, Facts]]:
    """Objects with their facts. An object that cannot be read is left out, with a warning."""
    for manifest in manifests:
        try:
            yield manifest, facts(manifest)
        except FieldError as error:
            warnings.append(f"{manifest['kind']} {manifest['metadata']['name']} cannot be read: {error}")


def reader(role: Role, features: Facts, exact: tuple[str, ...]) -> Module:
    """The module that reads the objects of a role. features: those to filter by. exact: facts with an option each."""

    def answer(params: Params, _mode: Mode) -> Outcome:
        vcpus = Range(params["vcpus_min"], params["vcpus_max"])
        memory = Range(_bytes(params, "memory_min"), _bytes(params, "memory_max"))
        session = session_of(params)
        warnings: list[str] = []
        manifests = listed(params, session, role, warnings)
        names = params["names"]
        if missing := set(names or ()) - {manifest["metadata"]["name"] for manifest in manifests}:
            warnings.append(unmatched(session, None, role.matcher, sorted(missing)))
        objects = [item for _manifest, item in readable(manifests, warnings) if names is None or item["name"] in names]
        objects = [
            item
            for item in select_facts(objects, vcpus, memory, params["features"])
            if all(params[name] in (None, item[name]) for name in exact)
        ]
        _add_users(params, session, objects, warnings)
        if params["in_use"] is not None:
            objects = [item for item in objects if bool(item["used_by"]) == params["in_use"]]
        if params["used_by"] is not None:
            objects = [item for item in objects if set(item["used_by"]) & set(params["used_by"])]
        objects.sort(key=lambda item: (item["namespace"], item["name"]))
        return Outcome({"changed": False, f"{role.matcher}s": objects}, warnings=warnings)

    spec = {
        **AUTH,
        **REQUESTS,
        **WHERE,
        **_NAMES,
        **_FIGURES,
        "features": {"type": "list", "elements": "str", "choices": list(features), "default": []},
        **{name: {"type": "str"} for name in exact},
    }
    return Module(spec, answer)


def _add_users(params: Params, session: Session, objects: list[Facts], warnings: list[str]) -> None:
    users = Users(session)
    try:
        # Cluster-wide objects first: their VMs are those of all namespaces, which the others then need not list.
        for item in sorted(objects, key=lambda item: str(item["namespace"])):
            object_key = ObjectKey(item["kind"], item["namespace"], item["name"])
            item["used_by"] = [label(vm) for vm in users.of(object_key)]
    except (ApiError, ConnectionFailed) as error:
        reason = explain(error, "LIST", BY_NAME["VirtualMachine"])
        for option in ("in_use", "used_by"):
            if params[option] is not None:
                raise TaskFailed(f"{option}: {reason}", warnings) from error
        warnings.append(f"cannot tell which virtual machines use them: {reason}")
        for item in objects:
            item["used_by"] = None


def _bytes(params: Params, option: str) -> int | None:
    value = params[option]
    if value is None:
        return None
    try:
        return parse(value).value
    except QuantityError as error:
        raise TaskFailed(f"{option}: {value!r} is not a quantity; write a quantity such as 4Gi") from error
