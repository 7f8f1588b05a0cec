"""Manifests of instancetypes and preferences from user options."""

from __future__ import annotations

from typing import Any

from ..api import name_rules as names
from ..api.errors import FieldError
from ..api.manifest import Options
from ..api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, MatcherField
from ..api.name_rules import quoted
from ..api.tree import merge
from .argument_spec import options as typed_options
from .argument_spec import to_manifest
from .state_options import SPEC, state_metadata
from .validation import canonical_quantity, validated


def argument_spec(matcher_field: MatcherField) -> dict[str, dict[str, Any]]:
    """The options of an instancetype or preference: the fields of its spec, and the options of every object."""
    return {
        **typed_options(matcher_field.spec_type, required=False),
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "kind": {"type": "str", "choices": [matcher_field.kind, matcher_field.cluster_kind]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        **SPEC,
        "spec": {"type": "dict"},
        "accept_unknown_fields": {"type": "bool"},
    }


def instancetype(options: Options) -> dict[str, Any]:
    """The manifest of an instancetype, as `validation.validated` returns it.

    options: the checked options of the module; None if not given. `spec` is merged with the typed options. With a
    namespace or the namespaced kind it is a VirtualMachineInstancetype, else a VirtualMachineClusterInstancetype.
    Raises FieldError for values that do not match the schema, for missing vCPUs or memory, and for devices without a
    name or a resource name.
    """
    memory = (options.get("memory") or {}).get("guest")
    if memory is not None:
        canonical_quantity("memory.guest", memory)
    manifest = _manifest(INSTANCETYPE, options)
    if options.get("state") != "absent":
        if manifest["spec"].get("cpu", {}).get("guest", 1) < 1:
            raise FieldError("spec.cpu.guest", "0 is too small; write 1 or more")
        for field in ("gpus", "hostDevices"):
            for index, device in enumerate(manifest["spec"].get(field) or []):
                for key in ("name", "deviceName"):
                    if not device.get(key):
                        raise FieldError(f"spec.{field}[{index}].{key}", "required for a device")
        for part, example in (("cpu", "2"), ("memory", "4Gi")):
            if "guest" not in manifest["spec"].get(part, {}):
                raise FieldError(f"spec.{part}.guest", f"required in an instancetype, for example {example}")
    return manifest


def preference(options: Options) -> dict[str, Any]:
    """The manifest of a preference, like `instancetype`."""
    return _manifest(PREFERENCE, options)


def is_namespaced(options: Options) -> bool:
    """Whether the options declare a namespaced object: their kind decides, else a given namespace."""
    kind = options.get("kind")
    return bool(options.get("namespace")) if kind is None else "Cluster" not in kind


def _manifest(matcher_field: MatcherField, options: Options) -> dict[str, Any]:
    namespaced = is_namespaced(options)
    if not namespaced and options.get("namespace"):
        raise FieldError(
            "namespace", f"{options['kind']} is cluster-wide; remove namespace, or set kind to {matcher_field.kind}"
        )
    of_state = state_metadata({name: options[name] for name in SPEC if options.get(name) is not None})
    over = len(str(options.get("name") or "")) - names.LONGEST_LABEL
    if over > 0 and options.get("state") != "absent":
        characters = "1 character" if over == 1 else f"{over} characters"
        raise FieldError(
            "name",
            f"{quoted(options['name'])} is longer than {names.LONGEST_LABEL} characters, so no VM could capture its"
            f" revision, which has the name as a label; drop {characters}",
        )
    named = {"name": options.get("name")}
    for field, own in (("labels", of_state.labels), ("annotations", of_state.annotations)):
        named[field] = {**(options.get(field) or {}), **{key: value for key, value in own.items() if value is not None}}
    metadata = {field: value for field, value in named.items() if value}
    if namespaced:
        metadata["namespace"] = options.get("namespace")
    spec = merge(to_manifest(matcher_field.spec_type, options_of(options)), options.get("spec") or {}, "spec")
    # Check the spec first: a catalog derives labels from it, and an error would blame the labels.
    manifest = validated(matcher_field.kind, {"spec": spec, "metadata": metadata}, options)
    kind = matcher_field.kind if namespaced else matcher_field.cluster_kind
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": manifest["metadata"], "spec": manifest["spec"]}


def options_of(options: Options) -> Options:
    """The typed options alone. The module's `annotations` belong to the object, not to its VMs."""
    return {name: value for name, value in options.items() if name not in ("annotations", "labels", "spec")}
