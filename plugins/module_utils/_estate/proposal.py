"""The proposal for an estate: for each machine an instancetype, a preference and a VM, and new sizes for all."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from .._resolver.api.manifest import Manifest
from .._resolver.api.name_rules import first_names
from .._resolver.api.release import Release
from .._resolver.choose.sizes import shortage, waste_of
from . import preferences
from .forklift import objects as forklift_objects
from .machine import Machine, machines_of
from .memory import Given, bounds_of, identity, remembered, written
from .naming import vm_names
from .plan import MachinePlan, plan_of
from .rule_checks import UNKNOWN, There, check, keys_of, several
from .rules import Rules, rules_of
from .size_catalog import Size, catalog_of, need_text
from .sizing import Catalog, retained_sizes, sized
from .vm_options import Unmapped, options_of, parts_of

Result = dict[str, Any]


def estate(
    machines: Any,
    manifests: Sequence[Manifest],
    rules: Any,
    release: Release,
    options: Mapping[str, Any],
    previous: Any = None,
    existing: Sequence[Mapping[str, Any]] | None = None,
    anew: Collection[str] = (),
    there: There = UNKNOWN,
) -> Result:
    """The proposal for a neutral list of machines.

    manifests: the instancetypes and preferences of the catalog. rules: the rules in their file, see `Rules`; options
    are rules that come before them. previous, existing, anew: see `remembered`. there: what the cluster has.
    Raises FieldError, which names the machine or the rule.
    """
    policy = rules_of({**(rules or {}), **options} if isinstance(rules, (Mapping, type(None))) else rules)
    listed = machines_of(machines)
    exceptions = [policy.exception_of(*keys_of(machine))[1] for machine in listed]
    named = {identity(item) for item, exception in zip(listed, exceptions) if exception.get("name")}
    memory = remembered(listed, named, policy.all_namespaces, previous, existing, anew)
    catalog = Catalog(manifests, policy, release, memory)
    check(policy, listed, catalog, memory, there)
    plans = [
        plan_of(machine, exception, memory, catalog.preferences, policy, release)
        for machine, exception in zip(listed, exceptions)
        if not exception.get("skip")
    ]
    kept = [plan.machine for plan in plans]
    warnings = [*memory.warnings, *_unidentified(plans), *several(policy, listed)]
    names = vm_names(plans, memory, warnings)
    retained = retained_sizes(plans, memory, catalog)
    chosen = sized(plans, catalog, policy, memory, retained, warnings)
    given = [_given(plan, name, size) for plan, name, size in zip(plans, names, chosen)]
    rows, vms, unmapped = _declared(plans, given, chosen, policy, catalog)
    own = {size.name: size for size in (*retained, *chosen) if size.new}
    return {
        "machines": rows,
        "catalog": catalog_of(own.values()),
        "virtual_machines": vms,
        "instancetypes": [size for _name, size in sorted({size.name: size.manifest for size in chosen}.items())],
        "forklift": forklift_objects(kept, vms, policy),
        "unmapped": {
            rule: [{"name": name, "uses": uses} for (other, name), uses in sorted(unmapped.items()) if other == rule]
            for rule in ("storage", "networks", "devices")
        },
        "left_out": [
            {"id": machine["id"], "name": machine["name"], "reason": "a rule leaves it out"}
            for machine, exception in zip(listed, exceptions)
            if exception.get("skip")
        ],
        "rightsizing": _rightsizing(kept, rows, policy) if policy.rightsize else [],
        "assignments": {
            "bounds": bounds_of(policy),
            "sizes": {name: size.manifest["spec"] for name, size in sorted(own.items())},
            "machines": written(given, memory),
        },
        "warnings": warnings,
    }


def _given(plan: MachinePlan, name: str, size: Size) -> Given:
    """The record of what a machine is given now, with the names that it had."""
    machine, before = plan.machine, plan.given
    return Given(
        id=machine["id"],
        name=machine["name"],
        source=machine.get("source") or "",
        uuid=machine.get("uuid") or "",
        folder=machine.get("folder") or "" if before.folder is None else before.folder,
        names=tuple(dict.fromkeys((name, *before.names))),
        sizes={need_text(plan.need): size.name},
        preferences={preferences.facts_of(machine): plan.choice.name},
        parts=parts_of(machine, before.parts),
    )


def _unidentified(plans: Sequence[MachinePlan]) -> list[str]:
    """A line on machines whose names are all that identifies them."""
    by_name = [plan.machine["name"] for plan in plans if plan.machine["id"] == plan.machine["name"]]
    if not by_name:
        return []
    return [
        f"{first_names(by_name, 3)}: the source has no ID of {len(by_name)} machines, so the name is the identity: a"
        " machine that is renamed counts as another one"
    ]


def _declared(
    plans: Sequence[MachinePlan], given: Sequence[Given], chosen: Sequence[Size], rules: Rules, catalog: Catalog
) -> tuple[list[Result], list[Result], Unmapped]:
    """(the result of each machine, the options of its VM, what is not in the maps)."""
    unmapped = Unmapped()
    rows, vms = [], []
    for plan, own, size in zip(plans, given, chosen):
        machine, choice = plan.machine, plan.choice
        namespace, _slash, name = own.names[0].partition("/")
        reasons = [*choice.reasons, *plan.reasons, _fit(size, plan)]
        preference = choice.name
        rejection = catalog.rejection(size, preference)
        if rejection:
            reasons.append(f"no preference, because KubeVirt rejects {preference} with {size.name}: {rejection}")
            preference = ""
        vm = {"name": name, "namespace": namespace, "instancetype": {"name": size.name}}
        vm.update({"preference": {"name": preference}} if preference else {})
        options, lost = options_of(machine, vm, choice.options, own, rules, unmapped)
        vms.append(options)
        rows.append(
            {
                "id": machine["id"],
                "name": machine["name"],
                "folder": machine.get("folder") or "",
                "virtual_machine": f"{namespace}/{name}",
                "source": {"vcpus": machine["vcpus"], "memory": machine["memory"]},
                "guest": {"vcpus": size.vcpus, "memory": size.memory},
                "instancetype": size.name,
                "preference": preference,
                "reasons": reasons,
                # A VM that is right-sized stays where it is.
                "not_brought": [] if rules.rightsize and machine.get("instancetype") else lost,
            }
        )
    return rows, vms, unmapped


def _fit(size: Size, plan: MachinePlan) -> str:
    lack = shortage(size, plan)
    if lack:
        return f"{size.name} is smaller than what the machine needs: {lack}"
    waste = waste_of(size, plan)
    what = f"new size {size.name}" if size.new else size.name
    return f"{what}: {f'{float(100 * waste):.1f} % more than needed' if waste else 'exactly what is needed'}"


def _rightsizing(machines: Sequence[Machine], rows: Sequence[Mapping[str, Any]], rules: Rules) -> list[Result]:
    """VMs of a cluster that are to get another instancetype, by team and by the names of both.

    `replace` and `names` are what the role revision_refresh takes.
    """
    groups: dict[tuple[str, str, str], Result] = {}
    for machine, row in zip(machines, rows):
        before, after = machine.get("instancetype"), row["instancetype"]
        if not before or before == after:
            continue
        team = machine["tags"].get(rules.team_label) or machine.get("folder") or ""
        empty: Result = {"team": team, "names": [], "replace": {before: after}, "vcpus": 0, "memory": 0}
        group = groups.setdefault((team, before, after), empty)
        group["names"].append(machine["id"])
        for resource in ("vcpus", "memory"):
            group[resource] += row["source"][resource] - row["guest"][resource]
    return [groups[key] for key in sorted(groups)]
