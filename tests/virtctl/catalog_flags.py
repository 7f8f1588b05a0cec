"""`virtctl create instancetype | preference`: flags → options of the modules instancetype and preference."""

from typing import Any

import collection_path  # noqa: F401  # pylint: disable=unused-import
from command_line import Flags, Syntax, params, unused

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.matcher import (
    INSTANCETYPE,
    PREFERENCE,
    MatcherField,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare import (
    instancetypes as manifests,
)
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.argument_spec import options
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.declare.vm.volumes import generated_name

MATCHER_FIELDS = {"instancetype": INSTANCETYPE, "preference": PREFERENCE}
build = {"instancetype": manifests.instancetype, "preference": manifests.preference}
_DEVICES = {"gpu": "gpus", "hostdevice": "host_devices"}
_REQUIRED = {"instancetype": ("cpu", "memory"), "preference": ()}


def argument_spec(matcher_field: MatcherField) -> dict[str, Any]:
    """The options of the object, and those that name it."""
    return {
        **options(matcher_field.spec_type, required=False),
        "name": {"type": "str"},
        "namespace": {"type": "str"},
        "kind": {"type": "str", "choices": [matcher_field.kind, matcher_field.cluster_kind]},
    }


def missing(kind: str, flags: Flags) -> str | None:
    """virtctl's words for flags that it needs, or None."""
    names = ", ".join(f'"{flag}"' for flag in _REQUIRED[kind] if not flags.any(flag))
    return f"required flag(s) {names} not set" if names else None


def options_of(kind: str, flags: Flags, seed: str) -> dict[str, Any]:
    """The module's options for a command line. Raises Syntax, with the flag."""
    matcher_field = MATCHER_FIELDS[kind]
    namespaced = bool(flags.last("namespace")) or bool(flags.last("namespaced"))
    name = flags.last("name")
    if name is None:
        name = generated_name(kind if namespaced else f"cluster{kind}", seed)
    result: dict[str, Any] = {"name": name, "kind": matcher_field.kind if namespaced else matcher_field.cluster_kind}
    if flags.last("namespace"):
        result["namespace"] = flags.last("namespace")
    read = _instancetype if kind == "instancetype" else _preference
    return {**result, **read(flags)}


def _instancetype(flags: Flags) -> dict[str, Any]:
    result: dict[str, Any] = {
        "cpu": {"guest": flags.last("cpu")},
        "memory": {"guest": flags.last("memory")},
    }
    for flag, option in _DEVICES.items():
        if flags.any(flag):
            result[option] = [_device(flag, value) for value in flags.all(flag)]
    if flags.any("iothreadspolicy"):
        result["io_threads_policy"] = flags.last("iothreadspolicy")
    return result


def _device(flag: str, value: str) -> dict[str, Any]:
    try:
        given = params(value)
    except Syntax as error:
        raise Syntax(f'failed to parse "--{flag}" flag: {error}') from error
    names = {"name": "name", "devicename": "device_name"}
    device = {option: given.pop(param) for param, option in names.items() if param in given}
    return {**device, **unused(given)}


def _preference(flags: Flags) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for flag, group, option in (
        ("cpu-topology", "cpu", "preferred_cpu_topology"),
        ("machine-type", "machine", "preferred_machine_type"),
        ("volume-storage-class", "volumes", "preferred_storage_class_name"),
    ):
        if flags.any(flag):
            result[group] = {option: flags.last(flag)}
    return result
