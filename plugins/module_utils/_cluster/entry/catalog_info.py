"""The module catalog_info."""

from __future__ import annotations

from ..._resolver.api.matcher import ROLES
from ..._resolver.catalog.matrix import as_data, matrix
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .catalog_objects import WHERE, Told, facts_of, listed, session_of


@last_net
def run_catalog_info() -> None:
    """The module catalog_info."""
    module = make_module(argument_spec={**AUTH, **REQUESTS, **WHERE})
    session = session_of(module)
    objects = [one for role in ROLES for one in listed(module, session, role)]
    known = [one for one in objects if facts_of(module, one) is not None]
    found = matrix(known)
    module.exit_json(
        changed=False,
        catalogs=_catalogs([*found.instancetypes, *found.preferences]),
        matrix=as_data(found),
    )


def _catalogs(found: list[Told]) -> list[Told]:
    """The deployed objects of each catalog; more than one version means an incomplete upgrade."""
    told: dict[str, Told] = {}
    for one in found:
        entry = told.setdefault(
            one["catalog"], {"name": one["catalog"], "versions": {}, "instancetypes": 0, "preferences": 0}
        )
        entry["instancetypes" if "Instancetype" in one["kind"] else "preferences"] += 1
        version = one["catalog_version"]
        entry["versions"][version] = entry["versions"].get(version, 0) + 1
    return [told[name] for name in sorted(told)]
