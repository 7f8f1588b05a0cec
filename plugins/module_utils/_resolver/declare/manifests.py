"""Manifests of instancetypes and preferences from user options."""

from __future__ import annotations

from typing import Any

from ..api.errors import FieldError
from ..api.matcher import API_VERSION, INSTANCETYPE, PREFERENCE, Role
from ..api.tree import merge
from .amount import amount
from .argument_spec import options as typed_options
from .argument_spec import to_manifest
from .gate import passed

Options = dict[str, Any]


def argument_spec(role: Role) -> dict[str, dict[str, Any]]:
    """The options of one instancetype or preference: the fields of its spec, and what any object has."""
    return {
        **typed_options(role.spec_type, required=False),
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "kind": {"type": "str", "choices": [role.kind, role.cluster_kind]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "labels": {"type": "dict"},
        "annotations": {"type": "dict"},
        "spec": {"type": "dict"},
        "accept_unknown_fields": {"type": "bool"},
    }


def instancetype(options: Options, gate: bool = True) -> dict[str, Any]:
    """The manifest of an instancetype, as `gate.passed` gives it.

    options: those of the module, None where not given; `spec` is merged with the typed ones. With a namespace, or the
    namespaced kind, it is a VirtualMachineInstancetype, else a VirtualMachineClusterInstancetype.
    Raises schema.FieldError for values that are not of the API's types, for missing vCPUs or memory, and for devices
    without a name or without that of their resource.
    """
    memory = (options.get("memory") or {}).get("guest")
    if memory is not None:
        amount("memory.guest", memory)
    manifest = _manifest(INSTANCETYPE, options, gate)
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


def preference(options: Options, gate: bool = True) -> dict[str, Any]:
    """The manifest of a preference, likewise."""
    return _manifest(PREFERENCE, options, gate)


def is_namespaced(options: Options) -> bool:
    """Whether the options mean a namespaced object: by kind, else by a namespace being given."""
    kind = options.get("kind")
    return bool(options.get("namespace")) if kind is None else "Cluster" not in kind


def _manifest(role: Role, options: Options, gate: bool) -> dict[str, Any]:
    namespaced = is_namespaced(options)
    if not namespaced and options.get("namespace"):
        raise FieldError(
            "namespace", f"{options['kind']} is cluster-wide; remove namespace, or set kind to {role.kind}"
        )
    metadata = {field: options[field] for field in ("name", "labels", "annotations") if options.get(field)}
    if namespaced:
        metadata["namespace"] = options["namespace"]
    spec = merge(to_manifest(role.spec_type, options_of(role, options)), options.get("spec") or {}, "spec")
    # The spec first: a catalog makes labels of it, and the mistake is in the spec.
    manifest = passed(role.kind, {"spec": spec, "metadata": metadata}, options, gate)
    kind = role.kind if namespaced else role.cluster_kind
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": manifest["metadata"], "spec": manifest["spec"]}


def options_of(role: Role, options: Options) -> Options:
    """The typed options alone: `annotations` of the module are those of the object, not of its VMs."""
    return {name: value for name, value in options.items() if name not in ("annotations", "labels", "spec")}
