"""The registered webhooks: KubeVirt's names, which its messages contain, and their paths."""

from __future__ import annotations

from typing import NamedTuple


class Webhook(NamedTuple):
    """kind: of the objects. operations: that trigger it. mutating: it may change the object."""

    name: str
    path: str
    kind: str
    operations: tuple[str, ...]
    mutating: bool


_WRITES = ("CREATE", "UPDATE")

VM_MUTATOR = Webhook("virtualmachines-mutator.kubevirt.io", "/virtualmachines-mutate", "VirtualMachine", _WRITES, True)
VMI_MUTATOR = Webhook(
    "virtualmachineinstances-mutator.kubevirt.io",
    "/virtualmachineinstances-mutate",
    "VirtualMachineInstance",
    ("CREATE",),
    True,
)
VMI_VALIDATOR = Webhook(
    "virtualmachineinstances-create-validator.kubevirt.io",
    "/virtualmachineinstances-validate-create",
    "VirtualMachineInstance",
    ("CREATE",),
    False,
)
VM_VALIDATOR = Webhook(
    "virtualmachine-validator.kubevirt.io", "/virtualmachines-validate", "VirtualMachine", _WRITES, False
)


def _validator(kind: str) -> Webhook:
    return Webhook(
        f"{kind.lower()}-validator.instancetype.kubevirt.io", f"/{kind.lower()}s-validate", kind, _WRITES, False
    )


INSTANCETYPE_VALIDATORS = tuple(map(_validator, ("VirtualMachineInstancetype", "VirtualMachineClusterInstancetype")))
PREFERENCE_VALIDATORS = tuple(map(_validator, ("VirtualMachinePreference", "VirtualMachineClusterPreference")))

WEBHOOKS = (VM_MUTATOR, VMI_MUTATOR, VM_VALIDATOR, VMI_VALIDATOR, *INSTANCETYPE_VALIDATORS, *PREFERENCE_VALIDATORS)
