"""The size of each machine: what it had, one of the catalog, or a new one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

from .._resolver.api.manifest import Manifest
from .._resolver.api.name_rules import first_names
from .._resolver.api.release import Release
from .._resolver.api.tree import value_at
from .._resolver.choose.fitting import rejection_of_pair
from .._resolver.choose.sizes import is_enough, waste_of
from . import sizes
from .machine import MOST_MEMORY, MOST_VCPUS
from .memory import Memory, bounds_of, identity
from .plan import MachinePlan
from .rules import Rules
from .size_catalog import Size, manifest_of, need_text, new_size, preferences_of, remembered_sizes, sizes_of
from .sizes import MachineNeed


class Catalog:
    """The instancetypes to choose from, and whether KubeVirt accepts them with preferences; each is computed once."""

    def __init__(self, manifests: Sequence[Manifest], rules: Rules, release: Release, memory: Memory) -> None:
        # Right-sizing moves VMs among existing instancetypes, including the ones of an earlier run.
        series = "" if rules.rightsize and not rules.new_sizes else rules.series
        self.sizes = sizes_of(manifests, series, release)
        # New sizes of earlier runs by name, as they are on the cluster if they are there.
        given = {name for record in memory.given.values() for name in record.sizes.values()}
        names = given.union(memory.sizes, memory.used or ()) - set(self.sizes)
        deployed = sizes_of(manifests, "", release)
        known = {**remembered_sizes(memory.sizes, release), **deployed}
        self.earlier = {name: known[name]._replace(new=True) for name in sorted(names & set(known))}
        self.preferences = preferences_of(manifests, release)
        self._release = release
        self._rejections: dict[tuple[str, str], str] = {}
        self._nearest: dict[Any, Size | None] = {}

    def named(self, name: str) -> Size | None:
        """The size of the catalog or of an earlier run."""
        return self.sizes.get(name) or self.earlier.get(name)

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

    def nearest(
        self, plan: MachinePlan, overcommit: bool, waste: Fraction | None, bounds: tuple[int, int]
    ) -> Size | None:
        """The instancetype with the least waste, if that is under the bound; None if there is none.

        waste: the bound, None for none. bounds: vCPUs and memory that it may have.
        """
        key = (plan.vcpus, plan.memory, plan.size_class, plan.choice.name, overcommit, waste, bounds)
        if key not in self._nearest:
            wasted = partial(waste_of, needed=plan)
            fitting = [
                size
                for size in self.sizes.values()
                if is_enough(size, plan)
                and size.vcpus <= bounds[0]
                and size.memory <= bounds[1]
                and not size.special
                and (overcommit or not size.overcommitted)
                and (waste is None or wasted(size) <= waste)
            ]
            fitting.sort(key=lambda size: (wasted(size), not size.overcommitted, size.name))
            found = (size for size in fitting if not self.rejection(size, plan.choice.name))
            self._nearest[key] = next(found, None)
        return self._nearest[key]


def retained_sizes(plans: Sequence[MachinePlan], memory: Memory, catalog: Catalog) -> list[Size]:
    """New sizes of earlier runs that VMs have, or, if the VMs are not known, machines that left the source."""
    listed = {identity(plan.machine) for plan in plans}
    left = {name for key, given in memory.given.items() if key not in listed for name in given.sizes.values()}
    return [size for name, size in catalog.earlier.items() if name in (left if memory.used is None else memory.used)]


def sized(
    plans: Sequence[MachinePlan],
    catalog: Catalog,
    rules: Rules,
    memory: Memory,
    retained: Iterable[Size],
    warnings: list[str],
) -> list[Size]:
    """The size of each machine: what it had, an existing one, or a new one."""
    same = memory.bounds in ({}, bounds_of(rules))
    found = [_kept(plan, catalog, rules, same or plan.given.deployed) for plan in plans]
    in_use = {size.name: size for size in (*retained, *filter(None, found)) if size.new}
    catalog.sizes.update(in_use)
    found = [size or _existing(plan, catalog, rules) for plan, size in zip(plans, found)]
    left = rules.new_sizes - len({size.name for size in found if size and size.new})
    groups = {plan.need.group for plan, size in zip(plans, found) if size is None}
    if rules.new_sizes and left < len(groups):
        # Rather more memory than one size more.
        found = [size or _nearest_new(plan, in_use.values(), catalog) for plan, size in zip(plans, found)]
    without = [plan for plan, size in zip(plans, found) if size is None]
    new = _new_sizes(without, max(left, 0), rules, catalog)
    chosen = [size or new[plan.need] for plan, size in zip(plans, found)]
    _warn_of_sizes(plans, chosen, rules, memory, warnings)
    return chosen


def _new_sizes(plans: Sequence[MachinePlan], most: int, rules: Rules, catalog: Catalog) -> dict[MachineNeed, Size]:
    """A new size for each need; machines with other needs may share it. most: the number, if the rules limit it."""
    needs = [plan.need for plan in plans]
    memories = sizes.least_waste_sizes(needs, most) if rules.new_sizes else sizes.fewest_sizes(needs, rules.waste)
    wider = {
        need: MachineNeed(need.group, next(size for size in memories[need.group] if size >= need.memory))
        for need in needs
    }
    hot = {wider[plan.need] for plan in plans if any(plan.machine["hot_add"].values())}
    new = {
        need: new_size(rules.series, need, rules.headroom if need in hot else 0, catalog.earlier)
        for need in wider.values()
    }
    return {need: new[shared] for need, shared in wider.items()}


def _kept(plan: MachinePlan, catalog: Catalog, rules: Rules, counts: bool) -> Size | None:
    """The instancetype that an earlier run gave the machine for the same need. counts: whether that is to stay."""
    machine = plan.machine
    name = plan.given.sizes.get(need_text(plan.need), "") if counts and not plan.exception.get("instancetype") else ""
    size = catalog.named(name)
    if size is None or (machine.get("instancetype") and not rules.rightsize):
        return None
    too_large = machine.get("instancetype") and (size.vcpus > machine["vcpus"] or size.memory > machine["memory"])
    shares = size.overcommitted and machine["reserved"].get("memory")
    return (
        None if not is_enough(size, plan) or too_large or shares or catalog.rejection(size, plan.choice.name) else size
    )


def _nearest_new(plan: MachinePlan, new: Iterable[Size], catalog: Catalog) -> Size | None:
    """The least of new sizes in use that the machine fits in."""
    fitting = [
        size
        for size in new
        if is_enough(size, plan) and size.vcpus == plan.vcpus and not catalog.rejection(size, plan.choice.name)
    ]
    return min(fitting, key=lambda size: (size.memory, size.name), default=None)


def _warn_of_sizes(
    plans: Sequence[MachinePlan], chosen: Sequence[Size], rules: Rules, memory: Memory, warnings: list[str]
) -> None:
    own = {size.name for size in chosen if size.new}
    groups = {size.vcpus for size in chosen if size.new}
    if rules.new_sizes and len(own) > max(rules.new_sizes, len(groups)) and memory.given:
        warnings.append(
            f"new_sizes: {rules.new_sizes}, but {len(own)} are new, because machines keep those of earlier runs;"
            " propose sizes anew to have fewer"
        )
    bounds = bounds_of(rules)
    changed = [name for name in bounds if memory.bounds and memory.bounds.get(name) != bounds[name]]
    other = [
        plan.machine["name"]
        for plan, size in zip(plans, chosen)
        if plan.given.sizes.get(need_text(plan.need), size.name) != size.name
    ]
    if changed and other:
        shown = ", ".join(f"{name} was {memory.bounds.get(name, 'unknown')} and is {bounds[name]}" for name in changed)
        warnings.append(f"{shown}: so {len(other)} machines with the same needs change sizes: {first_names(other, 3)}")


def _existing(plan: MachinePlan, catalog: Catalog, rules: Rules) -> Size | None:
    """The instancetype that the rules or the source name, or the nearest one; None for a new one. Adds reasons."""
    machine, wish = plan.machine, plan.exception.get("instancetype")
    wished = catalog.named(wish or "")
    if wished:
        plan.reasons.append(f"the rules name the instancetype {wish}")
        return wished
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
