"""The option `from_template`: a VM from a VirtualMachineTemplate, which stays the same at every run."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ...api.errors import FieldError
from ...api.matcher import ROLES
from ...api.redaction import is_secret, secret_texts
from ...api.release import NEWEST
from ...api.tree import copy
from ...kubevirt.template import parameters as values_of
from ...kubevirt.template.process import process
from ...kubevirt.template.refusal import refusal
from ...kubevirt.template.substitution import references
from ..validation import validated

Options = dict[str, Any]
Manifest = dict[str, Any]

OPTION: Final = "from_template"
_NAMED: Final = ("name", "namespace")
_FROM_OPTIONS: Final = ("generateName", *_NAMED)


class Made(NamedTuple):
    """A VM from a template.

    manifest: the VM. parameters: all values by name. message: the template's. secrets: texts that must not be shown.
    """

    manifest: Manifest
    parameters: dict[str, str]
    message: str
    secrets: frozenset[str]


def make(template: Manifest, options: Options, beside: Manifest, live: Manifest | None, seed: str) -> Made:
    """The VM of a template.

    options: of the VM. beside: the manifest of the options but for the template. live: the VM, whose generated values
    stay. seed: see `expression`. Raises FieldError.
    """
    spec = template.get("spec") or {}
    declared = spec.get("parameters") or []
    vm = spec.get("virtualMachine") or {}
    given = {name: value for name, value in _given(options).items() if value}
    values = {**_from_names(vm, options, given), **given}
    defaults = {entry.get("name"): entry["value"] for entry in declared if entry.get("value")}
    kept: dict[str, str] = {}
    old: frozenset[str] = frozenset()
    if live is not None:
        known = {**defaults, **values}
        due = [entry["name"] for entry in declared if entry.get("generate") and entry.get("name") not in known]
        kept = values_of.recovered(declared, due, vm, live, known)
        lost = [name for name in due if name not in kept and name in references(vm)]
        if lost:
            raise _error(
                options,
                f"the value that was generated for {lost[0]} cannot be read from the existing VM; set"
                f" {OPTION}.parameters.{lost[0]} to the value for the VM",
            )
        hidden = [name for name in {**defaults, **values} if is_secret(name)]
        others = {name: value for name, value in {**known, **kept}.items() if name not in hidden}
        old = frozenset(values_of.recovered(declared, hidden, vm, live, others).values())
    found = process(template, {**kept, **values}, seed, NEWEST)
    if found.faults:
        raise _error(options, refusal(found.faults, [entry["name"] for entry in declared if entry.get("name")]))
    parameters = {**defaults, **kept, **values, **(found.generated or {})}
    hidden_values = {value for name, value in parameters.items() if is_secret(name)}
    manifest = _merged(found.substituted or {}, beside, options, live)
    return Made(manifest, parameters, found.message, old | hidden_values | secret_texts(manifest))


def _given(options: Options) -> dict[str, str]:
    return values_of.texts(options[OPTION].get("parameters") or {}, f"{OPTION}.parameters")


def _from_names(vm: Manifest, options: Options, given: dict[str, str]) -> dict[str, str]:
    """The values that make the template's VM have the name and the namespace of the options."""
    values: dict[str, str] = {}
    metadata = vm.get("metadata")
    for field in _NAMED:
        text = metadata.get(field) if isinstance(metadata, dict) else None
        if not isinstance(text, str) or not any(references(text)):
            continue
        found = values_of.given_in(text, options[field], given)
        if found is None and not given.keys().isdisjoint(references(text)):
            raise _error(
                options,
                f"{OPTION}.parameters do not fit {field}: {options[field]}, because the VM's {field} in the template is"
                f" {text}; give the VM another {field}, or remove the parameter",
            )
        values.update(found or {})
    return values


def _merged(vm: Manifest, beside: Manifest, options: Options, live: Manifest | None) -> Manifest:
    """The template's VM with the other options on top. An existing VM keeps its run strategy, as with any options."""
    metadata = vm.get("metadata") or {}
    spec = copy(vm.get("spec") or {})
    running = spec.pop("running", None)
    if running is not None:
        spec.setdefault("runStrategy", "Always" if running else "Halted")
    if live is not None:
        spec.pop("runStrategy", None)
    for role in ROLES:
        if role.matcher_of(beside):
            spec.pop(role.matcher, None)
    kept = {field: value for field, value in metadata.items() if field not in _FROM_OPTIONS}
    merged = _over({"metadata": kept, "spec": spec}, {part: beside[part] for part in ("metadata", "spec")})
    try:
        result = validated("VirtualMachine", merged, options)
    except FieldError as error:
        raise _error(options, str(error)) from None
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **result}


def _over(below: Any, above: Any) -> Any:
    """A value on top of another: objects are merged, everything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return copy(above)
    return {**below, **{key: _over(below.get(key), value) for key, value in above.items()}}


def _error(options: Options, reason: str) -> FieldError:
    wanted = options[OPTION]
    return FieldError(OPTION, f"{wanted.get('namespace') or options['namespace']}/{wanted['name']}: {reason}")
