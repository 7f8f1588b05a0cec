"""VirtualMachineTemplates to declare: their options, their manifest, and what a check beforehand finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from .._resolver.api import formats
from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, Options
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.api.name_rules import quoted
from .._resolver.api.tree import merge
from .._resolver.declare.argument_spec import options as typed_options
from .._resolver.declare.argument_spec import to_manifest
from .._resolver.declare.validation import validated
from .._resolver.preflight.collisions import MAKES, WRITES, uses
from .conversion import API_VERSION, KIND
from .process import UNKNOWN_FIELD, TrialVM, refusal, trial_vm, validate
from .substitution import references

_SPEC: Final = "VirtualMachineTemplateSpec"


def argument_spec() -> dict[str, dict[str, Any]]:
    typed = typed_options(_SPEC, required=False)
    # Ansible keeps the name of the field for itself.
    instructions = typed.pop("message")
    return {
        **typed,
        "instructions": instructions,
        "virtual_machine": {**typed["virtual_machine"], "type": "dict"},
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        "spec": {"type": "dict"},
        "accept_unknown_fields": {"type": "bool"},
    }


def manifest(options: Options) -> Manifest:
    """The manifest of a template, as `validation.validated` returns it.

    options: the options of the module; None if not given. `spec` is merged with the typed options. Raises FieldError,
    also for what virt-template's webhook refuses.
    """
    metadata = {field: options[field] for field in ("name", "namespace", "labels", "annotations") if options.get(field)}
    typed = to_manifest(_SPEC, {**options, "message": options.get("instructions")})
    spec = _without_null(merge(typed, options.get("spec") or {}, "spec"))
    result = validated(KIND, {"metadata": metadata, "spec": spec}, options)
    template = {"apiVersion": API_VERSION, "kind": KIND, **result}
    if options.get("state") != "absent":
        if not isinstance(spec.get("virtualMachine"), dict):
            raise FieldError("virtual_machine", "required; set it to the VM's manifest, with metadata and spec")
        if error := _error(template, bool(options.get("accept_unknown_fields"))):
            raise error
    return template


def warnings(options: Options) -> list[str]:
    """Warnings about valid options."""
    return _warnings(manifest(options))


def findings(template: Manifest) -> list[str]:
    """The problems of a template of a cluster, one line each."""
    error = _error(template, accept_unknown=False)
    return [str(error)] if error else _warnings(template)


def checkable(template: Manifest) -> Manifest | None:
    """The VM to check against a cluster; None if there is nothing to say of it.

    Where parameters are open, only instancetype and preference, as far as they do not depend on them: what is missing
    or does not fit may be what the parameters set.
    """
    result = trial_vm(template)
    if result.vm is None:
        return None
    metadata = {"name": template["metadata"]["name"], "namespace": template["metadata"].get("namespace")}
    vm = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": metadata}
    spec = result.vm.get("spec") or {}
    if not result.open:
        return {**vm, "spec": spec}
    source = template["spec"]["virtualMachine"].get("spec") or {}
    decided = {
        matcher_field.name: spec[matcher_field.name]
        for matcher_field in MATCHER_FIELDS
        if (spec.get(matcher_field.name) or {}).get("name")
        and result.open.isdisjoint(references(source.get(matcher_field.name)))
    }
    # A preference has requirements for a whole VM.
    if MATCHER_FIELDS[0].name not in decided:
        return None
    return {**vm, "spec": {**decided, "template": {"spec": {"domain": {"devices": {}}}}}}


def _error(template: Manifest, accept_unknown: bool) -> FieldError | None:
    """Why the template makes no VM, or loses fields of it."""
    names = [str(item.get("name") or "") for item in template["spec"].get("parameters") or []]
    for index, name in enumerate(names):
        if name in names[:index]:
            return FieldError(f"parameters[{index}].name", f"another parameter is already named {quoted(name)}")
    errors = [
        error for error in validate(template).errors if not (accept_unknown and error.reason.startswith(UNKNOWN_FIELD))
    ]
    if errors:
        return FieldError("", refusal(errors))
    problem = _problem(trial_vm(template))
    # KubeVirt drops such fields silently.
    return problem if problem and problem.reason.startswith(UNKNOWN_FIELD) and not accept_unknown else None


def _warnings(template: Manifest) -> list[str]:
    unused = [warning for warning in validate(template).warnings if "never referenced" in warning]
    result = trial_vm(template)
    problem = None if result.open else _problem(result)
    wrong = [f"a VM with the defaults of the parameters is invalid: {problem}"] if problem else []
    return [*unused, *wrong, *_common(template)]


def _common(template: Manifest) -> Iterator[str]:
    """A warning for each thing that all VMs of the template would have, although only one may have it."""
    used = uses(template["spec"]["virtualMachine"])
    made = {use.value for use in used if use.what == MAKES}
    for use in used:
        if not any(references(use.value)) and not (use.what == WRITES and use.value in made):
            remedy = "put a parameter that differs between VMs into it"
            yield f"virtual_machine.{use.path}: each VM of the template {use.what} {use.value}; {remedy}"


def _problem(result: TrialVM) -> FieldError | None:
    """The error in the VM's manifest, if there is one, that every cluster rejects."""
    vm = result.vm or {}
    parts = {part: vm[part] for part in ("metadata", "spec") if vm.get(part)}
    try:
        formats.checked("VirtualMachine", parts, False)
    except FieldError as error:
        return error.with_parent("virtual_machine")
    return None


def _without_null(value: Any) -> Any:
    """A copy of a JSON value without null, which declares nothing."""
    if isinstance(value, dict):
        return {key: _without_null(item) for key, item in value.items() if item is not None}
    return [_without_null(item) for item in value] if isinstance(value, list) else value
