"""The modules that read instancetypes or preferences."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import QuantityError
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.matcher import Role
from ..._resolver.api.quantity import parse
from ..._resolver.catalog.facts import Range, within
from ..._resolver.catalog.place import Place
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.catalog_users import Users, label
from .ansible_edge import make_module
from .argument_spec import AUTH, REQUESTS
from .catalog_objects import WHERE, Told, facts_of, listed, session_of

_NAMES: dict[str, dict[str, Any]] = {"names": {"type": "list", "elements": "str", "aliases": ["name"]}}
_FIGURES: dict[str, dict[str, Any]] = {
    "vcpus_min": {"type": "int"},
    "vcpus_max": {"type": "int"},
    "memory_min": {"type": "str"},
    "memory_max": {"type": "str"},
    "in_use": {"type": "bool"},
    "used_by": {"type": "list", "elements": "str"},
}


def run(role: Role, features: Told, exact: tuple[str, ...]) -> None:
    """Lists the objects of a role. features: the features to filter by. exact: options that a figure must equal."""
    module = make_module(
        argument_spec={
            **AUTH,
            **REQUESTS,
            **WHERE,
            **_NAMES,
            **_FIGURES,
            "features": {"type": "list", "elements": "str", "choices": list(features), "default": []},
            **{name: {"type": "str"} for name in exact},
        },
    )
    options = module.params
    vcpus = Range(options["vcpus_min"], options["vcpus_max"])
    memory = Range(_bytes(module, "memory_min"), _bytes(module, "memory_max"))
    session = session_of(module)
    found = []
    for manifest in listed(module, session, role):
        told = facts_of(module, manifest)
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


def _add_users(module: Any, session: Session, found: list[Told]) -> None:
    users = Users(session)
    try:
        # Cluster-wide objects first: their VMs are those of all namespaces, which the others then need not list.
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
