"""A machine on its way to a VM: its namespace, its preference, and its needs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, NamedTuple

from .._resolver.api.name_rules import quoted
from .._resolver.api.quantity import parse
from .._resolver.api.release import Release
from . import preferences
from .machine import MIB, Machine, rounded_up
from .memory import Given, Memory, identity
from .preferences import ChosenPreference
from .rules import Rules
from .size_catalog import SizeClass
from .sizes import MachineNeed

# KubeVirt plugs memory in blocks of this size, and the hypervisor rounds to whole MiB.
_STEP: Final = 2 * MIB


class MachinePlan(NamedTuple):
    """A machine on its way. exception: its rule. given: what it had. vcpus, memory: its needs, memory in bytes."""

    machine: Machine
    exception: Mapping[str, Any]
    given: Given
    namespace: str
    choice: ChosenPreference
    vcpus: int
    memory: int
    size_class: SizeClass
    reasons: list[str]

    @property
    def need(self) -> MachineNeed:
        """The size class, the vCPUs and the rounded memory that a new size must have."""
        step = parse(self.size_class.hugepages).value if self.size_class.hugepages else 0
        return MachineNeed((self.size_class, self.vcpus), rounded_up(self.memory, max(step, _STEP)))

    @property
    def label(self) -> str:
        return f"{self.machine['id']} {quoted(self.machine['name'])}"


def plan_of(
    machine: Machine,
    exception: Mapping[str, Any],
    memory: Memory,
    catalog: Mapping[str, Any],
    rules: Rules,
    release: Release,
) -> MachinePlan:
    """The machine with its namespace, preference and needs."""
    given = memory.given.get(identity(machine), Given(machine["id"]))
    # A move to another folder of the source moves no VM, and no rule moves a VM that is there.
    folder = machine.get("folder") or "" if given.folder is None else given.folder
    there = given.names[0].partition("/")[0] if given.deployed else ""
    namespace = exception.get("namespace") or there or rules.namespace_of(folder)
    kept = given.preferences.get(preferences.facts_of(machine))
    choice = preferences.choose(machine, catalog, rules, exception.get("preference"), release, kept)
    reasons: list[str] = []
    if namespace != rules.namespace_of(folder) and not exception.get("namespace"):
        reasons.append(f"its VM stays in the namespace {there}, where it is on the cluster")
    vcpus, machine_memory = machine["vcpus"], machine["memory"]
    if rules.rightsize:
        vcpus, machine_memory = _measured_need(machine, rules.spare, reasons)
    if choice.cpu > vcpus or choice.memory > machine_memory:
        reasons.append(f"the preference {choice.name} requires {choice.cpu} vCPUs and {_gib(choice.memory)}")
        vcpus, machine_memory = max(vcpus, choice.cpu), max(machine_memory, choice.memory)
    size_class = SizeClass(machine["reserved"].get("cpu") is True, machine.get("hugepages") or "")
    if size_class.dedicated:
        reasons.append("its CPUs are reserved or pinned, so it gets dedicated ones")
    if size_class.hugepages:
        reasons.append(f"it has huge pages of {size_class.hugepages}")
    return MachinePlan(machine, exception, given, namespace, choice, vcpus, machine_memory, size_class, reasons)


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


def _gib(memory: int) -> str:
    return f"{memory / (1 << 30):.4g} GiB"
