"""What an estate becomes: for each machine an instancetype, a preference and a VM, and new sizes for all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._resolver.api.manifest import Manifest
from .._resolver.api.matcher import PREFERENCE
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from .._resolver.choose.fitting import rejection_of_pair
from . import preferences, sizes
from .catalog import Class, Size, catalog_of, class_of, manifest_of, new_size, preferences_of, sizes_of, waste_of
from .forklift import objects as forklift_objects
from .machine import MIB, Machine, machines_of, rounded_up
from .names import Names
from .preferences import Choice
from .rules import Rules, rules_of
from .vm_options import Chosen, Unmapped, options_of

Result = dict[str, Any]

# KubeVirt plugs memory in blocks of this size, and the hypervisor rounds to whole MiB.
_STEP: Final = 2 * MIB


class _Plan(NamedTuple):
    """A machine on its way. vcpus, memory: what it needs, memory in bytes. wish: the type that the rules name."""

    machine: Machine
    choice: Choice
    vcpus: int
    memory: int
    kind: Class
    reasons: list[str]
    wish: str = ""


def estate(
    machines: Any,
    manifests: Sequence[Manifest],
    rules: Any,
    release: Release,
    options: Mapping[str, Any] | None = None,
) -> Result:
    """The proposal for a neutral list of machines.

    manifests: the instancetypes and preferences of the catalog. rules: as written, see `Rules`; options are rules that
    come before them. Raises FieldError, which names the machine or the rule.
    """
    policy = rules_of({**(rules or {}), **(options or {})} if isinstance(rules, (Mapping, type(None))) else rules)
    listed = machines_of(machines)
    exceptions = _exceptions(listed, policy)
    kept = [machine for machine in listed if not exceptions[machine["id"]].get("skip")]
    catalog = preferences_of(manifests, release)
    specs = {item["metadata"]["name"]: item for item in manifests if item.get("kind") == PREFERENCE.cluster_kind}
    offered = sizes_of(manifests, policy.series, release)
    plans = [_plan(machine, catalog, policy, exceptions[machine["id"]]) for machine in kept]
    judge = _Judge(specs, release)
    chosen, new = _sized(plans, offered, policy, judge)
    rows, vms, unmapped = _declared(plans, chosen, policy, exceptions, judge)
    skipped = [_named(machine, "a rule leaves it out") for machine in listed if exceptions[machine["id"]].get("skip")]
    return {
        "machines": rows,
        "catalog": catalog_of(new, policy.headroom),
        "virtual_machines": vms,
        "instancetypes": [
            size.manifest or manifest_of(size, policy.headroom)
            for _name, size in sorted({size.name: size for size in chosen}.items())
        ],
        "forklift": forklift_objects(kept, vms, policy),
        "unmapped": unmapped.as_dict(),
        "left_out": skipped,
        "rightsizing": _rightsizing(kept, rows) if policy.rightsize else [],
    }


def _named(machine: Machine, reason: str) -> Result:
    return {"id": machine["id"], "name": machine["name"], "reason": reason}


def _exceptions(machines: Sequence[Machine], rules: Rules) -> dict[str, Mapping[str, Any]]:
    """The rule of each machine, by its id; the rules name ids or names."""
    return {item["id"]: rules.machines.get(item["id"]) or rules.machines.get(item["name"]) or {} for item in machines}


def _plan(machine: Machine, catalog: Mapping[str, Any], rules: Rules, exception: Mapping[str, Any]) -> _Plan:
    choice = preferences.choose(
        machine, catalog, rules.preferences, exception.get("preference"), virtio=rules.virtio_drivers
    )
    reasons: list[str] = []
    vcpus, memory = machine["vcpus"], machine["memory"]
    if rules.rightsize:
        vcpus, memory = _used(machine, rules.spare, reasons)
    if choice.cpu > vcpus or choice.memory > memory:
        reasons.append(f"the preference {choice.name} requires {choice.cpu} vCPUs and {_gib(choice.memory)}")
        vcpus, memory = max(vcpus, choice.cpu), max(memory, choice.memory)
    kind = class_of(machine)
    if kind.dedicated:
        reasons.append("its CPUs are reserved or pinned, so it gets dedicated ones")
    if kind.hugepages:
        reasons.append(f"it has huge pages of {kind.hugepages}")
    return _Plan(machine, choice, vcpus, memory, kind, reasons, str(exception.get("instancetype") or ""))


def _used(machine: Machine, spare: Fraction, reasons: list[str]) -> tuple[int, int]:
    """(vCPUs, memory) for the measured use with what is to spare, and no more than the machine has."""
    needed = {"cpu": machine["vcpus"], "memory": machine["memory"]}
    for resource, has in (("cpu", machine["vcpus"]), ("memory", machine["memory"])):
        used = machine["used"].get(resource)
        if used is None:
            reasons.append(f"no use of {resource} is known, so it keeps what it has")
            continue
        wanted = max(1, math.ceil(Fraction(used) * (1 + spare)))
        if wanted >= has:
            reasons.append(f"it uses all its {resource} at times")
            continue
        needed[resource] = wanted
        shown = f"{float(used):.3g} vCPUs" if resource == "cpu" else _gib(int(used))
        reasons.append(f"it uses {shown} of {resource}")
    return needed["cpu"], rounded_up(needed["memory"], MIB)


class _Judge:
    """Whether KubeVirt accepts an instancetype with a preference; each pair is computed once."""

    def __init__(self, preference_manifests: Mapping[str, Manifest], release: Release) -> None:
        self._preferences, self._release = preference_manifests, release
        self._known: dict[tuple[str, str], str] = {}

    def rejection(self, size: Size, preference: str, headroom: int = 0) -> str:
        """Why KubeVirt rejects every VM with both; "" if it does not."""
        if not preference:
            return ""
        key = (size.name, preference)
        if key not in self._known:
            manifest = size.manifest or manifest_of(size, headroom)
            architecture = (self._preferences[preference]["spec"].get("requirements") or {}).get("architecture") or ""
            self._known[key] = rejection_of_pair(manifest, self._preferences[preference], architecture, self._release)
        return self._known[key]


def _sized(
    plans: Sequence[_Plan], offered: Sequence[Size], rules: Rules, judge: _Judge
) -> tuple[list[Size], list[Size]]:
    """(the size of each machine, the new ones)."""
    by_name = {size.name: size for size in offered}
    nearest = _Nearest(offered, rules, judge)
    found: list[Size | None] = []
    for plan in plans:
        size = by_name.get(plan.wish)
        if size is not None:
            plan.reasons.append(f"the rules name the instancetype {size.name}")
        elif plan.wish:
            plan.reasons.append(f"the rules name the instancetype {plan.wish}, which the catalog lacks")
        found.append(size or nearest.of(plan))
    due = [plan for plan, size in zip(plans, found) if size is None]
    new = _new(due, rules)
    chosen = [size or _smallest(new[_group(plan)], _rounded(plan)) for plan, size in zip(plans, found)]
    added = {size.name: size for group in new.values() for size in group}
    taken = {size.name for size in chosen}
    return chosen, [size for name, size in added.items() if name in taken]


class _Nearest:
    """The instancetype of a catalog for a machine: the one with the least waste, if that is under the bound."""

    def __init__(self, offered: Sequence[Size], rules: Rules, judge: _Judge) -> None:
        self._offered, self._rules, self._judge = offered, rules, judge
        self._known: dict[Any, Size | None] = {}

    def of(self, plan: _Plan) -> Size | None:
        """None if there is none."""
        reserved = plan.machine["reserved"].get("memory") or 0
        overcommit = self._rules.overcommit and not reserved
        key = (plan.vcpus, plan.memory, plan.kind, plan.choice.name, overcommit)
        if key not in self._known:
            self._known[key] = self._searched(plan, overcommit)
        return self._known[key]

    def _searched(self, plan: _Plan, overcommit: bool) -> Size | None:
        fitting = [
            (waste_of(size, plan.vcpus, plan.memory), not size.overcommitted, size.name, size)
            for size in self._offered
            if size.vcpus >= plan.vcpus
            and size.memory >= plan.memory
            and size.kind == plan.kind
            and not size.special
            and (overcommit or not size.overcommitted)
        ]
        for waste, _ordinary, _name, size in sorted(fitting, key=lambda entry: entry[:3]):
            if waste > self._rules.waste:
                break
            if not self._judge.rejection(size, plan.choice.name):
                return size
        return None


def _group(plan: _Plan) -> tuple[Class, int]:
    return plan.kind, plan.vcpus


def _rounded(plan: _Plan) -> int:
    step = parse(plan.kind.hugepages).value if plan.kind.hugepages else 0
    return rounded_up(plan.memory, max(step, _STEP))


def _new(plans: Sequence[_Plan], rules: Rules) -> dict[Any, list[Size]]:
    """The new sizes by group, ascending."""
    needs = [sizes.Need(_group(plan), _rounded(plan)) for plan in plans]
    found = sizes.fewest(needs, rules.waste) if not rules.new_sizes else sizes.best(needs, rules.new_sizes)
    hot: set[tuple[Any, int]] = set()
    for plan, need in zip(plans, needs):
        if any(plan.machine["hot_add"].get(resource) for resource in ("cpu", "memory")):
            hot.add((need.group, next(size for size in found[need.group] if size >= need.memory)))
    return {
        group: [new_size(rules.series, *group, memory, (group, memory) in hot) for memory in found[group]]
        for group in dict.fromkeys(map(_group, plans))
    }


def _smallest(candidates: Iterable[Size], memory: int) -> Size:
    return next(size for size in candidates if size.memory >= memory)


def _declared(
    plans: Sequence[_Plan],
    chosen: Sequence[Size],
    rules: Rules,
    exceptions: Mapping[str, Mapping[str, Any]],
    judge: _Judge,
) -> tuple[list[Result], list[Result], Unmapped]:
    """(the result of each machine, the options of its VM, what is not in the maps)."""
    names, unmapped = Names(), Unmapped()
    places = {
        plan.machine["id"]: exceptions[plan.machine["id"]].get("namespace")
        or rules.namespace_of(plan.machine.get("folder") or "")
        for plan in plans
    }
    given: dict[str, str] = {}
    # The names of the rules come first, so that no other machine has them already.
    for plan in plans:
        machine = plan.machine
        wish = exceptions[machine["id"]].get("name")
        if wish and names.reserve(places[machine["id"]], wish):
            given[machine["id"]] = wish
    rows, vms = [], []
    for plan, size in zip(plans, chosen):
        machine, choice = plan.machine, plan.choice
        namespace = places[machine["id"]]
        name = given.get(machine["id"]) or names.of(namespace, machine["name"])
        reasons = [*choice.reasons, *plan.reasons, _fit(size, plan)]
        preference = choice.name
        rejection = judge.rejection(size, preference, rules.headroom)
        if rejection:
            reasons.append(f"no preference, because KubeVirt rejects {preference} with {size.name}: {rejection}")
            preference = ""
        vm, lost = options_of(machine, Chosen(name, namespace, size.name, preference, choice.options), rules, unmapped)
        vms.append(vm)
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
    what = size.name if size.manifest is not None else f"new size {size.name}"
    return f"{what}: {f'{float(100 * waste):.1f} % more than needed' if waste else 'exactly what is needed'}"


def _gib(memory: int) -> str:
    return f"{memory / (1 << 30):.4g} GiB"


def _rightsizing(machines: Sequence[Machine], rows: Sequence[Mapping[str, Any]]) -> list[Result]:
    """VMs of a cluster that are to get another instancetype, by namespace and names of both.

    `replace` is what the role revision_refresh takes.
    """
    groups: dict[tuple[str, str, str], Result] = {}
    for machine, row in zip(machines, rows):
        namespace, _slash, name = machine["id"].rpartition("/")
        before = machine.get("instancetype")
        if not before or before == row["instancetype"]:
            continue
        key = (namespace, before, row["instancetype"])
        group = groups.setdefault(
            key,
            {"namespace": namespace, "names": [], "replace": {before: row["instancetype"]}, "vcpus": 0, "memory": 0},
        )
        group["names"].append(name)
        for resource in ("vcpus", "memory"):
            group[resource] += row["source"][resource] - row["guest"][resource]
    return [groups[key] for key in sorted(groups)]
