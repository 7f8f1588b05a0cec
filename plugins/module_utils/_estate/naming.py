"""The names of the machines' VMs: existing ones, names from the rules, and new ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from .._resolver.api.errors import FieldError
from .._resolver.api.keys import SOURCE_ID_ANNOTATION
from .memory import Memory, identity
from .names import Names, valid
from .plan import MachinePlan


def vm_names(plans: Sequence[MachinePlan], memory: Memory, warnings: list[str]) -> list[str]:
    """NAMESPACE/NAME of the VM of each machine. Raises FieldError for a rule that gives a name of another machine."""
    keys = [identity(plan.machine) for plan in plans]
    ruled = {
        key: f"{plan.namespace}/{plan.exception['name']}"
        for key, plan in zip(keys, plans)
        if plan.exception.get("name")
    }
    for key, plan in zip(keys, plans):
        if key in ruled:
            _check_rule(plan, key, keys, ruled, memory)
            if plan.given.deployed and plan.given.names[0] != ruled[key]:
                left = plan.given.names[0]
                warnings.append(f"{plan.label}: the rules name its VM {ruled[key]}; {left} stays on the cluster")
    names = Names({**memory.owners, **{name: key for key, name in ruled.items()}})
    result = dict(ruled)
    # First who has a name already, then by identity, so that the order of the list does not count.
    for key, plan in sorted(zip(keys, plans), key=lambda item: (not item[1].given.names, item[0])):
        if key in ruled:
            continue
        wanted = plan.given.names[0].partition("/")[2] if plan.given.names else valid(plan.machine["name"])
        result[key] = f"{plan.namespace}/{names.of(plan.namespace, wanted, key)}"
        if memory.owners.get(f"{plan.namespace}/{wanted}") == "":
            taken = f"{plan.namespace}/{wanted} is a VM of the cluster and of no machine"
            warnings.append(f"{plan.label}: {taken}, so the name is {result[key]}")
    return [result[key] for key in keys]


def _check_rule(plan: MachinePlan, key: str, keys: Collection[str], ruled: Mapping[str, str], memory: Memory) -> None:
    """Raises FieldError if the rules give a machine the name of another VM. ruled: the names by the rules."""
    name = ruled[key]
    rule = f"rules.machines: {name} for the machine {plan.label}"
    twice = next((other for other, own in ruled.items() if own == name and other != key), None)
    if twice is not None:
        raise FieldError("", f"{rule} is by the rules the name of {twice} too; name each machine differently")
    owner = memory.owners.get(name, key)
    if owner == "":
        raise FieldError(
            "",
            f"{rule} is a VM of the cluster and of no machine; write another name, or give the VM the annotation"
            f" {SOURCE_ID_ANNOTATION}: {plan.machine['id']} if it is the machine's",
        )
    other = memory.given.get(owner, plan.given)
    has = other.names[:1] == (name,) and (other.deployed or (owner in keys and owner not in ruled))
    if owner != key and has:
        raise FieldError("", f"{rule} is the name of the machine {other.label}; name that one differently first")
