"""VirtualMachineTemplates before and after an upgrade: the VMs that they make (template.kubevirt.io)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, NamedTuple

from ..api.errors import FieldError
from ..api.manifest import Manifest, label_of, metadata_of, namespace_of
from ..api.tree import copy
from ..kubevirt.webhooks.mutate import admit
from .vm import UpgradeSide, VMStart, lost, next_start, refusal, spec_changes

_REFERENCE: Final = re.compile(r"\$\{(\w+)\}", re.ASCII)
_TYPED: Final = re.compile(r"\$\{\{(\w+)\}\}", re.ASCII)


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
        tuple(spec_changes(start_before, start_after)),
        dropped,
        refusal_after,
        refusal_before,
    )


def default_vm(template: Manifest) -> Manifest:
    """The VM of a template with the default values of its parameters, in the template's namespace.

    A parameter without a value, which a generator or the user gives, counts as the text parameter-NAME.
    """
    spec = template["spec"]
    values = {
        parameter["name"]: parameter.get("value") or _placeholder(parameter["name"])
        for parameter in spec.get("parameters") or ()
    }
    vm = substituted(spec["virtualMachine"], values)
    if not isinstance(vm.get("spec"), dict):
        raise FieldError("spec.virtualMachine.spec", "missing")
    metadata = {**metadata_of(vm), "namespace": namespace_of(template)}
    metadata.setdefault("name", _placeholder("name"))
    return {**vm, "metadata": metadata}


def substituted(vm: Manifest, values: Mapping[str, str]) -> Manifest:
    """The object with the values of parameters (virt-template's ``ProcessTemplate``), before its conversion to a VM."""
    vm = copy(vm)
    namespace = (vm.get("metadata") or {}).get("namespace")
    if namespace and not _REFERENCE.search(str(namespace)):
        del vm["metadata"]["namespace"]
    result: Manifest = _substituted(vm, values)
    return result


def _placeholder(name: str) -> str:
    return f"parameter-{name.lower().replace('_', '-')}"


def _substituted(value: Any, values: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {_substituted(key, values): _substituted(item, values) for key, item in value.items()}
    if isinstance(value, list):
        return [_substituted(item, values) for item in value]
    if isinstance(value, int) and not isinstance(value, bool):
        return _as_float(str(value))
    return _substituted_text(value, values) if isinstance(value, str) else value


def _substituted_text(text: str, values: Mapping[str, str]) -> Any:
    typed = _TYPED.fullmatch(text)
    if typed and typed[1] in values:
        try:
            return json.loads(values[typed[1]], parse_int=_as_float, parse_float=_finite, parse_constant=_finite)
        except ValueError:
            return values[typed[1]]
    # The references are found first; then each replaces the first of its kind in the text as it is by then.
    for name in _REFERENCE.findall(text):
        if name in values:
            text = text.replace(f"${{{name}}}", values[name], 1)
    return text


def _as_float(text: str) -> int:
    """Numbers pass through float64."""
    return int(_finite(text))


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


def _new_start(vm: Manifest, side: UpgradeSide) -> tuple[VMStart, str]:
    """(The start of a new VM, why KubeVirt rejects it)."""
    admission = admit(vm, None, side.cluster)
    if admission.admitted is None:
        message = admission.refusal.message if admission.refusal is not None else "is rejected"
        return VMStart(problem=message), message
    return next_start(admission.admitted, side), refusal(admission.admitted, side.cluster, new=True)
