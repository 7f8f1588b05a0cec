"""The module catalog_info."""

from __future__ import annotations

from ..._resolver.api.matcher import ROLES
from ..._resolver.catalog.matrix import as_data, compatibility_matrix
from ..._resolver.catalog.operator import deploys, is_deployed
from ..._resolver.limits.language import as_data as data_of
from ..read.kubevirt import kubevirt
from ..read.limits import limits_of
from .argument_spec import AUTH, REQUESTS
from .catalog_objects import WHERE, Facts, listed, readable, session_of
from .outcome import Mode, Module, Outcome, Params


def _run(params: Params, _mode: Mode) -> Outcome:
    session = session_of(params)
    warnings: list[str] = []
    manifests = [manifest for role in ROLES for manifest in listed(params, session, role, warnings)]
    combinations = compatibility_matrix([manifest for manifest, _facts in readable(manifests, warnings)])
    limits = limits_of(session)
    result = {
        "changed": False,
        "catalogs": _catalogs([*combinations.instancetypes, *combinations.preferences]),
        "common_instancetypes_deployment": {
            "enabled": deploys(kubevirt(session)),
            "objects": sum(map(is_deployed, manifests)),
        },
        "matrix": as_data(combinations),
        "limits": None if limits is None else [data_of(limit) for limit in limits],
    }
    return Outcome(result, warnings=list(dict.fromkeys(warnings)))


MODULE = Module({**AUTH, **REQUESTS, **WHERE}, _run)


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
