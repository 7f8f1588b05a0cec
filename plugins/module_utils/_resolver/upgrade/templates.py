"""VirtualMachineTemplates before and after an upgrade: the VMs that they make (template.kubevirt.io)."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..api.errors import FieldError
from ..api.manifest import Manifest, label_of, metadata_of, namespace_of
from ..api.release import NEWEST
from ..kubevirt.template.process import process
from ..kubevirt.template.process import refusal as refusal_of
from ..kubevirt.webhooks.mutate import admit
from .vm import UpgradeSide, VMStart, lost, next_start, refusal, spec_changes


class TemplateChange(NamedTuple):
    """A VirtualMachineTemplate before and after an upgrade.

    before, after: on either side, the start of a new VM with the default values of the parameters.

    changes, lost: see VMChange. refusal, refusal_before: why KubeVirt rejects a new VM after the upgrade, and now.
    """

    manifest: Manifest
    before: VMStart
    after: VMStart
    changes: tuple[dict[str, Any], ...]
    lost: tuple[str, ...]
    refusal: str
    refusal_before: str

    @property
    def label(self) -> str:
        return label_of(self.manifest)

    @property
    def affected(self) -> bool:
        """Whether the upgrade makes a difference to the VMs of the template."""
        same = (self.refusal, self.after.problem) == (self.refusal_before, self.before.problem)
        return not same or bool(self.changes or self.lost or self.before.pod != self.after.pod)


def template_change(template: Manifest, before: UpgradeSide, after: UpgradeSide) -> TemplateChange:
    """Compares a template before and after an upgrade. One that makes no VM has a problem on both sides."""
    try:
        vm = default_vm(template)
        (start_before, refusal_before), (start_after, refusal_after) = (
            _new_start(vm, side) for side in (before, after)
        )
        dropped = lost(vm, before, after)
    except (AttributeError, FieldError, KeyError, TypeError, ValueError) as error:
        broken = VMStart(problem=f"the template makes no VM: {' '.join(str(error).split())}")
        return TemplateChange(template, broken, broken, (), (), "", "")
    return TemplateChange(
        template,
        start_before,
        start_after,
        spec_changes(start_before, start_after),
        dropped,
        refusal_after,
        refusal_before,
    )


def default_vm(template: Manifest) -> Manifest:
    """The VM of a template with the default values of its parameters, in the template's namespace.

    A parameter without a value, which a generator or the user gives, counts as the text parameter-NAME.
    """
    spec = template["spec"]
    unset = [str(entry["name"]) for entry in spec.get("parameters") or () if not entry.get("value")]
    processed = process(template, {name: _placeholder(name) for name in unset}, "", NEWEST)
    vm = processed.substituted
    if vm is None:
        raise FieldError("", refusal_of(processed.errors, unset))
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec.virtualMachine.spec", "missing")
    return {**vm, "metadata": {"name": _placeholder("name"), **metadata_of(vm), "namespace": namespace_of(template)}}


def _placeholder(name: str) -> str:
    return f"parameter-{name.lower().replace('_', '-')}"


def _new_start(vm: Manifest, side: UpgradeSide) -> tuple[VMStart, str]:
    """(The start of a new VM, why KubeVirt rejects it)."""
    admission = admit(vm, None, side.cluster)
    if admission.admitted is None:
        message = admission.refusal.message if admission.refusal is not None else "is rejected"
        return VMStart(problem=message), message
    return next_start(admission.admitted, side), refusal(admission.admitted, side.cluster, new=True)
