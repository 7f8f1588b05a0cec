"""The proposal for an estate: for each machine an instancetype, a preference and a VM, and new sizes for all."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from .._resolver.api.tree import value_at
from .._resolver.choose.fitting import rejection_of_pair
from . import preferences, sizes
from .catalog import Size, SizeClass, catalog_of, manifest_of, new_size, preferences_of, sizes_of, waste_of
from .forklift import objects as forklift_objects
from .machine import MIB, MOST_MEMORY, MOST_VCPUS, Machine, machines_of, rounded_up
from .names import Names
from .preferences import Choice
from .rules import Rules, rules_of
from .sizes import Need
from .vm_options import Unmapped, options_of

Result = dict[str, Any]

# KubeVirt plugs memory in blocks of this size, and the hypervisor rounds to whole MiB.
_STEP: Final = 2 * MIB


class _Plan(NamedTuple):
    """A machine on its way. exception: its rule. vcpus, memory: its needs, memory in bytes."""

    machine: Machine
    exception: Mapping[str, Any]
    namespace: str
    choice: Choice
    vcpus: int
    memory: int
    size_class: SizeClass
    reasons: list[str]

    @property
    def need(self) -> Need:
        """The size class, the vCPUs and the rounded memory that a new size must have."""
        step = parse(self.size_class.hugepages).value if self.size_class.hugepages else 0
        return Need((self.size_class, self.vcpus), rounded_up(self.memory, max(step, _STEP)))


def estate(
    machines: Any, manifests: Sequence[Manifest], rules: Any, release: Release, options: Mapping[str, Any]
) -> Result:
    """The proposal for a neutral list of machines.

    manifests: the instancetypes and preferences of the catalog. rules: the rules in their file, see `Rules`; options
    are rules that come before them. Raises FieldError, which names the machine or the rule.
    """
    policy = rules_of({**(rules or {}), **options} if isinstance(rules, (Mapping, type(None))) else rules)
    listed = machines_of(machines)
    # The rules name ids or names.
    exceptions = [policy.machines.get(item["id"]) or policy.machines.get(item["name"]) or {} for item in listed]
    catalog = _Catalog(manifests, policy, release)
    plans = [
        _plan(machine, exception, catalog.preferences, policy, release)
        for machine, exception in zip(listed, exceptions)
        if not exception.get("skip")
    ]
    kept = [plan.machine for plan in plans]
    chosen = _sized(plans, catalog, policy)
    rows, vms, unmapped = _declared(plans, chosen, policy, catalog)
    return {
        "machines": rows,
        "catalog": catalog_of({size.name: size for size in chosen if size.new}.values()),
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
    }


def _plan(
    machine: Machine, exception: Mapping[str, Any], catalog: Mapping[str, Any], rules: Rules, release: Release
) -> _Plan:
    namespace = exception.get("namespace") or rules.namespace_of(machine.get("folder") or "")
    choice = preferences.choose(machine, catalog, rules, exception.get("preference"), release)
    reasons: list[str] = []
    vcpus, memory = machine["vcpus"], machine["memory"]
    if rules.rightsize:
        vcpus, memory = _measured_need(machine, rules.spare, reasons)
    if choice.cpu > vcpus or choice.memory > memory:
        reasons.append(f"the preference {choice.name} requires {choice.cpu} vCPUs and {_gib(choice.memory)}")
        vcpus, memory = max(vcpus, choice.cpu), max(memory, choice.memory)
    size_class = SizeClass(machine["reserved"].get("cpu") is True, machine.get("hugepages") or "")
    if size_class.dedicated:
        reasons.append("its CPUs are reserved or pinned, so it gets dedicated ones")
    if size_class.hugepages:
        reasons.append(f"it has huge pages of {size_class.hugepages}")
    return _Plan(machine, exception, namespace, choice, vcpus, memory, size_class, reasons)


def _measured_need(machine: Machine, spare: Fraction, reasons: list[str]) -> tuple[int, int]:
    """(vCPUs, memory) for the measured use with what is to spare, and no more than the machine has."""
    needed = []
    for resource, has in (("cpu", machine["vcpus"]), ("memory", machine["memory"])):
        used = machine["used"].get(resource)
        wanted = has if used is None else min(has, max(1, math.ceil(Fraction(used) * (1 + spare))))
        needed.append(wanted)
        if used is None:
            reasons.append(f"no use of {resource} is known, so it keeps what it has")
        elif wanted == has:
            reasons.append(f"it uses all its {resource} at times")
        else:
            shown = f"{float(used):.3g} vCPUs" if resource == "cpu" else _gib(int(used))
            reasons.append(f"it uses {shown} of {resource}")
    return needed[0], min(machine["memory"], rounded_up(needed[1], MIB))


class _Catalog:
    """The instancetypes to choose from, and whether KubeVirt accepts them with preferences; each is computed once."""

    def __init__(self, manifests: Sequence[Manifest], rules: Rules, release: Release) -> None:
        # Right-sizing moves VMs among the instancetypes that there are, those of an earlier run too.
        series = "" if rules.rightsize and not rules.new_sizes else rules.series
        self.sizes = sizes_of(manifests, series, release)
        self.preferences = preferences_of(manifests, release)
        self._release = release
        self._rejections: dict[tuple[str, str], str] = {}
        self._nearest: dict[Any, Size | None] = {}

    def rejection(self, size: Size, preference: str) -> str:
        """Why KubeVirt rejects every VM with both; "" if it does not."""
        if not preference:
            return ""
        key = (size.name, preference)
        if key not in self._rejections:
            spec = self.preferences[preference]
            architecture = value_at(spec, ("requirements", "architecture")) or ""
            self._rejections[key] = rejection_of_pair(size.manifest, {"spec": spec}, architecture, self._release)
        return self._rejections[key]

    def nearest(self, plan: _Plan, overcommit: bool, waste: Fraction | None, bounds: tuple[int, int]) -> Size | None:
        """The instancetype with the least waste, if that is under the bound; None if there is none.

        waste: the bound, None for none. bounds: vCPUs and memory that it may have.
        """
        key = (plan.vcpus, plan.memory, plan.size_class, plan.choice.name, overcommit, waste, bounds)
        if key not in self._nearest:
            wasted = partial(waste_of, vcpus=plan.vcpus, memory=plan.memory)
            fitting = [
                size
                for size in self.sizes.values()
                if plan.vcpus <= size.vcpus <= bounds[0]
                and plan.memory <= size.memory <= bounds[1]
                and size.size_class == plan.size_class
                and not size.special
                and (overcommit or not size.overcommitted)
                and (waste is None or wasted(size) <= waste)
            ]
            fitting.sort(key=lambda size: (wasted(size), not size.overcommitted, size.name))
            found = (size for size in fitting if not self.rejection(size, plan.choice.name))
            self._nearest[key] = next(found, None)
        return self._nearest[key]


def _sized(plans: Sequence[_Plan], catalog: _Catalog, rules: Rules) -> list[Size]:
    """The size of each machine."""
    found = [_existing(plan, catalog, rules) for plan in plans]
    without = [plan for plan, size in zip(plans, found) if size is None]
    needs = [plan.need for plan in without]
    memories = sizes.best(needs, rules.new_sizes) if rules.new_sizes else sizes.fewest(needs, rules.waste)
    wider = {
        need: Need(need.group, next(size for size in memories[need.group] if size >= need.memory)) for need in needs
    }
    hot = {wider[plan.need] for plan in without if any(plan.machine["hot_add"].values())}
    new = {need: new_size(rules.series, need, rules.headroom if need in hot else 0) for need in wider.values()}
    return [size or new[wider[plan.need]] for plan, size in zip(plans, found)]


def _existing(plan: _Plan, catalog: _Catalog, rules: Rules) -> Size | None:
    """The instancetype that the rules or the source name, or the nearest one; None for a new one. Adds reasons."""
    machine, wish = plan.machine, plan.exception.get("instancetype")
    if wish in catalog.sizes:
        plan.reasons.append(f"the rules name the instancetype {wish}")
        return catalog.sizes[wish]
    if wish:
        plan.reasons.append(f"the rules name the instancetype {wish}, which the catalog lacks")
    overcommit = rules.overcommit and not machine["reserved"].get("memory")
    name = machine.get("instancetype")
    if not name:
        return catalog.nearest(plan, overcommit, rules.waste, (MOST_VCPUS, MOST_MEMORY))
    # A VM of KubeVirt: what its manifest does not show, such as devices, comes from its instancetype.
    most = machine["vcpus"], machine["memory"]
    own = Size(name, *most, plan.size_class, manifest_of(name, *most, plan.size_class))
    current = catalog.sizes.get(name, own)
    unknown = machine.get("preference", plan.choice.name) != plan.choice.name
    if not rules.rightsize or unknown or current.special or machine["passthrough"]:
        plan.reasons.append(f"it keeps the instancetype {name}")
        return current
    bound = rules.waste if rules.new_sizes else None
    nearest = catalog.nearest(plan, overcommit or current.overcommitted, bound, most)
    if nearest is not None and (nearest.vcpus, nearest.memory) != most:
        return nearest
    return None if rules.new_sizes and (plan.vcpus, plan.memory) != most else current


def _declared(
    plans: Sequence[_Plan], chosen: Sequence[Size], rules: Rules, catalog: _Catalog
) -> tuple[list[Result], list[Result], Unmapped]:
    """(the result of each machine, the options of its VM, what is not in the maps)."""
    names, unmapped = Names(), Unmapped()
    wishes = [(plan.namespace, plan.exception.get("name", "")) for plan in plans]
    # The names of the rules come first, so that no other machine has them already.
    given = [wish if wish and names.reserve(namespace, wish) else "" for namespace, wish in wishes]
    rows, vms = [], []
    for plan, size, own in zip(plans, chosen, given):
        machine, choice, namespace = plan.machine, plan.choice, plan.namespace
        name = own or names.of(namespace, machine["name"])
        reasons = [*choice.reasons, *plan.reasons, _fit(size, plan)]
        preference = choice.name
        rejection = catalog.rejection(size, preference)
        if rejection:
            reasons.append(f"no preference, because KubeVirt rejects {preference} with {size.name}: {rejection}")
            preference = ""
        vm = {"name": name, "namespace": namespace, "instancetype": {"name": size.name}}
        vm.update({"preference": {"name": preference}} if preference else {})
        options, lost = options_of(machine, vm, choice.options, rules, unmapped)
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
                "not_brought": lost,
            }
        )
    return rows, vms, unmapped


def _fit(size: Size, plan: _Plan) -> str:
    if size.vcpus < plan.vcpus or size.memory < plan.memory:
        return f"{size.name} is smaller than what the machine needs"
    waste = waste_of(size, plan.vcpus, plan.memory)
    what = f"new size {size.name}" if size.new else size.name
    return f"{what}: {f'{float(100 * waste):.1f} % more than needed' if waste else 'exactly what is needed'}"


def _gib(memory: int) -> str:
    return f"{memory / (1 << 30):.4g} GiB"


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
