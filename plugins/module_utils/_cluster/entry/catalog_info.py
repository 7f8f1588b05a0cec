"""The edge of the modules that read instancetypes, preferences and catalogs."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import FieldError, QuantityError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import INSTANCETYPE, PREFERENCE, ROLES, Role
from ..._resolver.api.quantity import parse
from ..._resolver.catalog.errors import CatalogError
from ..._resolver.catalog.facts import INSTANCETYPE_FEATURES, PREFERENCE_FEATURES, Range, facts, within
from ..._resolver.catalog.labels import CATALOG_LABEL, check_name
from ..._resolver.catalog.matrix import as_data, matrix
from ..._resolver.catalog.place import Place
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.catalog_users import Users, label
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS

Manifest = dict[str, Any]
Told = dict[str, Any]

_WHERE: dict[str, dict[str, Any]] = {
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


@last_net
def run_instancetype_info() -> None:
    """The module instancetype_info."""
    _run(INSTANCETYPE, INSTANCETYPE_FEATURES, ("class", "series"))


@last_net
def run_preference_info() -> None:
    """The module preference_info."""
    _run(PREFERENCE, PREFERENCE_FEATURES, ("os", "architecture"))


@last_net
def run_catalog_info() -> None:
    """The module catalog_info."""
    module = make_module(argument_spec={**AUTH, **REQUESTS, **_WHERE})
    session = _session(module)
    objects = [one for role in ROLES for one in _listed(module, session, role)]
    known = [one for one in objects if _facts(module, one) is not None]
    found = matrix(known)
    module.exit_json(
        changed=False,
        catalogs=_catalogs([*found.instancetypes, *found.preferences]),
        matrix=as_data(found),
    )


def _run(role: Role, features: Told, exact: tuple[str, ...]) -> None:
    module = make_module(
        argument_spec={
            **AUTH,
            **REQUESTS,
            **_WHERE,
            **_NAMES,
            **_FIGURES,
            "features": {"type": "list", "elements": "str", "choices": list(features), "default": []},
            **{name: {"type": "str"} for name in exact},
        },
    )
    options = module.params
    vcpus = Range(options["vcpus_min"], options["vcpus_max"])
    memory = Range(_bytes(module, "memory_min"), _bytes(module, "memory_max"))
    session = _session(module)
    found = []
    for manifest in _listed(module, session, role):
        told = _facts(module, manifest)
        if told is not None and (options["names"] is None or told["name"] in options["names"]):
            found.append(told)
    found = [
        one
        for one in within(found, vcpus, memory, options["features"])
        if all(options[name] in (None, one[name]) for name in exact)
    ]
    _add_users(module, session, found)
    if options["in_use"] is not None:
        found = [one for one in found if bool(one["used_by"]) == options["in_use"]]
    if options["used_by"] is not None:
        found = [one for one in found if set(one["used_by"]) & set(options["used_by"])]
    found.sort(key=lambda one: (one["namespace"], one["name"]))
    module.exit_json(changed=False, **{f"{role.matcher}s": found})


def _session(module: Any) -> Session:
    try:
        return Session(module.params)
    except ConnectionFailed as error:
        return module.fail_json(msg=str(error))  # type: ignore[no-any-return]


def _listed(module: Any, session: Session, role: Role) -> list[Manifest]:
    """The objects of both kinds, one LIST for each."""
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


def _facts(module: Any, manifest: Manifest) -> Told | None:
    try:
        return facts(manifest)
    except FieldError as error:
        module.warn(f"{manifest['kind']} {manifest['metadata']['name']} cannot be read: {error}")
        return None


def _add_users(module: Any, session: Session, found: list[Told]) -> None:
    users = Users(session)
    try:
        # Cluster-wide ones first: the VMs of all namespaces are then known for the others, too.
        for one in sorted(found, key=lambda one: str(one["namespace"])):
            place = Place(one["kind"], one["namespace"], one["name"])
            one["used_by"] = [label(vm) for vm in users.of(place)]
    except (ApiError, ConnectionFailed) as error:
        reason = explain(error, "LIST", BY_NAME["VirtualMachine"])
        for option in ("in_use", "used_by"):
            if module.params[option] is not None:
                module.fail_json(msg=f"{option}: {reason}")
        module.warn(f"cannot tell which virtual machines use them: {reason}")
        for one in found:
            one["used_by"] = None


def _bytes(module: Any, option: str) -> int | None:
    value = module.params[option]
    if value is None:
        return None
    try:
        return parse(value).value
    except QuantityError:
        module.fail_json(msg=f"{option}: {value!r} is not a quantity; write a quantity such as 4Gi")
        return None


def _catalogs(found: list[Told]) -> list[Told]:
    """What is deployed of each catalog; more than one version tells of an upgrade that did not come through."""
    told: dict[str, Told] = {}
    for one in found:
        entry = told.setdefault(
            one["catalog"], {"name": one["catalog"], "versions": {}, "instancetypes": 0, "preferences": 0}
        )
        entry["instancetypes" if "Instancetype" in one["kind"] else "preferences"] += 1
        version = one["catalog_version"]
        entry["versions"][version] = entry["versions"].get(version, 0) + 1
    return [told[name] for name in sorted(told)]
