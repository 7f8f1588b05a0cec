"""The option `from_template`: a VM from a VirtualMachineTemplate, which stays the same at every run."""

from __future__ import annotations

from typing import Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.manifest import Manifest, Options
from .._resolver.api.matcher import MATCHER_FIELDS
from .._resolver.api.release import NEWEST
from .._resolver.api.tree import copy, overlaid
from .._resolver.declare.validation import validated
from .._resolver.secrets.secret_texts import is_secret, secret_texts
from . import parameters as values_of
from .process import process, refusal
from .substitution import references

OPTION: Final = "from_template"
_NAMED: Final = ("name", "namespace")
_FROM_OPTIONS: Final = ("generateName", *_NAMED)


class TemplatedVM(NamedTuple):
    """A VM from a template.

    manifest: the VM. parameters: all values by name. message: the template's. secrets: texts that must not be shown.
    """

    manifest: Manifest
    parameters: dict[str, str]
    message: str
    secrets: frozenset[str]


def vm_from_template(
    template: Manifest, options: Options, option_manifest: Manifest, live: Manifest | None, seed: str
) -> TemplatedVM:
    """The VM of a template.

    options: the options of the VM. option_manifest: the manifest of the options without the template. live: the VM,
    whose generated values stay. seed: see `expression`. Raises FieldError.
    """
    spec = template.get("spec") or {}
    declared = spec.get("parameters") or []
    vm = spec.get("virtualMachine") or {}
    texts = values_of.texts(options[OPTION].get("parameters") or {}, f"{OPTION}.parameters")
    explicit = {name: value for name, value in texts.items() if value}
    values = {**_from_names(vm, options, explicit), **explicit}
    defaults = {entry.get("name"): entry["value"] for entry in declared if entry.get("value")}
    recovered: dict[str, str] = {}
    old_secrets: frozenset[str] = frozenset()
    if live is not None:
        known = {**defaults, **values}
        generated = [entry["name"] for entry in declared if entry.get("generate") and entry.get("name") not in known]
        recovered = values_of.recovered(declared, generated, vm, live, known)
        lost = [name for name in generated if name not in recovered and name in references(vm)]
        if lost:
            raise _error(
                options,
                f"the value that was generated for {lost[0]} cannot be read from the existing VM; set"
                f" {OPTION}.parameters.{lost[0]} to the value for the VM",
            )
        hidden = [name for name in {**defaults, **values} if is_secret(name)]
        others = {name: value for name, value in {**known, **recovered}.items() if name not in hidden}
        old_secrets = frozenset(values_of.recovered(declared, hidden, vm, live, others).values())
    processed = process(template, {**recovered, **values}, seed, NEWEST)
    if processed.errors:
        raise _error(options, refusal(processed.errors))
    parameters = {**defaults, **recovered, **values, **(processed.generated or {})}
    hidden_values = {value for name, value in parameters.items() if is_secret(name)}
    manifest = _merged(processed.substituted or {}, option_manifest, options, live)
    return TemplatedVM(manifest, parameters, processed.message, old_secrets | hidden_values | secret_texts(manifest))


def _from_names(vm: Manifest, options: Options, explicit: dict[str, str]) -> dict[str, str]:
    """The values that make the template's VM have the name and the namespace of the options."""
    values: dict[str, str] = {}
    metadata = vm.get("metadata")
    for field in _NAMED:
        text = metadata.get(field) if isinstance(metadata, dict) else None
        if not isinstance(text, str) or not any(references(text)):
            continue
        matched = values_of.explicit_in(text, options[field], explicit)
        if matched is None and not explicit.keys().isdisjoint(references(text)):
            raise _error(
                options,
                f"{OPTION}.parameters do not fit {field}: {options[field]}, because the VM's {field} in the template is"
                f" {text}; give the VM another {field}, or remove the parameter",
            )
        values.update(matched or {})
    return values


def _merged(vm: Manifest, option_manifest: Manifest, options: Options, live: Manifest | None) -> Manifest:
    """The template's VM with the other options on top. An existing VM keeps its run strategy, as with any options."""
    metadata = vm.get("metadata") or {}
    spec = copy(vm.get("spec") or {})
    running = spec.pop("running", None)
    if running is not None:
        spec.setdefault("runStrategy", "Always" if running else "Halted")
    if live is not None:
        spec.pop("runStrategy", None)
    for matcher_field in MATCHER_FIELDS:
        if matcher_field.matcher_of(option_manifest):
            spec.pop(matcher_field.name, None)
    kept_metadata = {field: value for field, value in metadata.items() if field not in _FROM_OPTIONS}
    merged = overlaid(
        {"metadata": kept_metadata, "spec": spec}, {part: option_manifest[part] for part in ("metadata", "spec")}
    )
    try:
        result = validated("VirtualMachine", merged, options)
    except FieldError as error:
        raise _error(options, str(error)) from None
    return {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", **result}


def _error(options: Options, reason: str) -> FieldError:
    reference = options[OPTION]
    return FieldError(OPTION, f"{reference.get('namespace') or options['namespace']}/{reference['name']}: {reason}")
