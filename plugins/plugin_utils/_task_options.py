"""What the options of a task of this collection declare, and how it connects, computed on the controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ..module_utils._cluster.entry.argument_spec import AUTH, REQUESTS
from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.declare import virtual_machine
from ..module_utils._resolver.declare.entries import expand_shorthand, merge_options
from ..module_utils._resolver.declare.vm.manifest import manifest
from ..module_utils._resolver.declare.vm.options import SPEC

Options = dict[str, Any]
Manifest = dict[str, Any]

# These options do not affect the checks, and may contain secrets and file names.
UNCHECKED_OPTIONS: Final = ("access_credentials", "cloud_init")
_REQUEST_OPTIONS: Final = frozenset(
    key for spec in (AUTH, REQUESTS) for name, option in spec.items() for key in (name, *option.get("aliases", ()))
)
_SPEC: Final = {**SPEC, "name": {**SPEC["name"], "required": True}}


def vms_to_run(options: Options) -> list[Manifest]:
    """The VMs that are to run. Skips entries that the module rejects, because the module reports them."""
    vms = []
    for _index, entry in entries(options, "virtual_machines", SPEC):
        validated = ArgumentSpecValidator(_SPEC).validate(entry)
        parameters = validated.validated_parameters
        if validated.error_messages or parameters.get("state") == "absent":
            continue
        try:
            declared = manifest({**parameters, **dict.fromkeys(UNCHECKED_OPTIONS)})
        except FieldError:
            continue
        # As for a new VM, which gets a run strategy and memory.
        vm, _owned = virtual_machine.reconcile(declared, None, "")
        if vm["spec"].get("runStrategy") != "Halted" and vm["spec"].get("running") is not False:
            vms.append(vm)
    return vms


def entries(options: Options, plural: str, spec: Options) -> Iterator[tuple[int | None, Options]]:
    """The options of each object that a task declares, as its module reads them, with their index in the list.

    plural: the option with the list; without that option the task declares one object. spec: the options of an object.
    """
    names = {key for name, option in spec.items() for key in (name, *option.get("aliases", ()))}
    task_options = expand_shorthand(
        {name: value for name, value in options.items() if name in names and value is not None}, spec
    )
    listed = options.get(plural)
    if not isinstance(listed, list):
        if task_options.get("name"):
            yield None, task_options
        return
    defaults = options.get("defaults")
    shared = merge_options(expand_shorthand(defaults, spec) if isinstance(defaults, dict) else {}, task_options, spec)
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield index, merge_options(shared, expand_shorthand(entry, spec), spec)


def request_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a task that concern connections and requests."""
    return {name: value for name, value in options.items() if name in _REQUEST_OPTIONS}
