"""Machines and a catalog for tests of estates."""

from typing import Any

from plugins.module_utils._estate import proposal
from plugins.module_utils._estate.rule_checks import UNKNOWN, There
from plugins.module_utils._resolver.api.release import NEWEST
from plugins.plugin_utils._catalog_files import builtin_objects

GIB = 1 << 30


def machine(number: int = 1, **fields: Any) -> dict[str, Any]:
    return {"id": f"vm-{number}", "name": f"web{number}", "vcpus": 2, "memory": 8 * GIB, **fields}


def instancetype(name: str, cpu: Any, memory: Any, **spec: Any) -> dict[str, Any]:
    cpu, memory = ({"guest": entry} if not isinstance(entry, dict) else entry for entry in (cpu, memory))
    return {
        "kind": "VirtualMachineClusterInstancetype",
        "metadata": {"name": name},
        "spec": {"cpu": cpu, "memory": memory, **spec},
    }


def preference(name: str, **spec: Any) -> dict[str, Any]:
    return {"kind": "VirtualMachineClusterPreference", "metadata": {"name": name}, "spec": spec}


BUILTIN = builtin_objects(NEWEST)


def proposed(
    machines: list[Any],
    catalog: Any = None,
    rules: Any = None,
    previous: Any = None,
    existing: Any = None,
    anew: Any = (),
    there: There = UNKNOWN,
    **options: Any,
) -> dict[str, Any]:
    catalog = BUILTIN if catalog is None else catalog
    return proposal.estate(machines, catalog, rules, NEWEST, options, previous, existing, anew, there)
