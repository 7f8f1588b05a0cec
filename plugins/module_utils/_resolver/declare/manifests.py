"""Manifests of instancetypes and preferences from user options."""

from __future__ import annotations

from typing import Any

from ..api import state
from ..api.errors import FieldError
from ..api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, Role
from ..api.tree import merge
from .argument_spec import options as typed_options
from .argument_spec import to_manifest
from .validation import canonical_quantity, validated

Options = dict[str, Any]


def argument_spec(role: Role) -> dict[str, dict[str, Any]]:
    """The options of an instancetype or preference: the fields of its spec, and the options of every object."""
    return {
        **typed_options(role.spec_type, required=False),
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "kind": {"type": "str", "choices": [role.kind, role.cluster_kind]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        **state.SPEC,
        "spec": {"type": "dict"},
        "accept_unknown_fields": {"type": "bool"},
    }


def instancetype(options: Options, validate: bool = True) -> dict[str, Any]:
    """The manifest of an instancetype, as `validation.validated` returns it.

    options: of the module; None if not given. `spec` is merged with the typed options. With a namespace or the
    namespaced kind it is a VirtualMachineInstancetype, else a VirtualMachineClusterInstancetype.
    Raises schema.FieldError for values that do not match the schema, for missing vCPUs or memory, and for devices
    without a name or a resource name.
    """
    memory = (options.get("memory") or {}).get("guest")
    if memory is not None:
        canonical_quantity("memory.guest", memory)
    manifest = _manifest(INSTANCETYPE, options, validate)
    if options.get("state") != "absent":
        for part, example in (("cpu", "2"), ("memory", "4Gi")):
            if "guest" not in manifest["spec"].get(part, {}):
                raise FieldError(f"spec.{part}.guest", f"required in an instancetype, for example {example}")
        if manifest["spec"]["cpu"]["guest"] < 1:
            raise FieldError("spec.cpu.guest", "0 is too small; write 1 or more")
        for field in ("gpus", "hostDevices"):
            _check_devices(f"spec.{field}", manifest["spec"].get(field) or [])
    return manifest


def _check_devices(path: str, devices: list[dict[str, Any]]) -> None:
    for index, device in enumerate(devices):
        for field in ("name", "deviceName"):
            if not device.get(field):
                raise FieldError(f"{path}[{index}].{field}", "required for a device")


def preference(options: Options, validate: bool = True) -> dict[str, Any]:
    """The manifest of a preference, like `instancetype`."""
    return _manifest(PREFERENCE, options, validate)


def is_namespaced(options: Options) -> bool:
    """Whether the options declare a namespaced object: by kind, else by a given namespace."""
    kind = options.get("kind")
    return bool(options.get("namespace")) if kind is None else "Cluster" not in kind


def _manifest(role: Role, options: Options, validate: bool) -> dict[str, Any]:
    namespaced = is_namespaced(options)
    if not namespaced and options.get("namespace"):
        raise FieldError(
            "namespace", f"{options['kind']} is cluster-wide; remove namespace, or set kind to {role.kind}"
        )
    marks = state.marks({name: options[name] for name in state.SPEC if options.get(name) is not None})
    named = {"name": options.get("name")}
    for field, own in (("labels", marks.labels), ("annotations", marks.annotations)):
        named[field] = {**(options.get(field) or {}), **{key: value for key, value in own.items() if value is not None}}
    metadata = {field: value for field, value in named.items() if value}
    if namespaced:
        metadata["namespace"] = options["namespace"]
    spec = merge(to_manifest(role.spec_type, options_of(role, options)), options.get("spec") or {}, "spec")
    # Check the spec first: a catalog derives labels from it, and an error would blame the labels.
    manifest = validated(role.kind, {"spec": spec, "metadata": metadata}, options, validate)
    kind = role.kind if namespaced else role.cluster_kind
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": manifest["metadata"], "spec": manifest["spec"]}


def options_of(role: Role, options: Options) -> Options:
    """The typed options alone. The module's `annotations` belong to the object, not to its VMs."""
    return {name: value for name, value in options.items() if name not in ("annotations", "labels", "spec")}
