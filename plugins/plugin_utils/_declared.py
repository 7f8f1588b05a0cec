"""The objects that a task of this collection declares, computed on the controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.declare import virtual_machine
from ..module_utils._resolver.declare.entries import expand_shorthand, merge_options
from ..module_utils._resolver.declare.vm.manifest import manifest
from ..module_utils._resolver.declare.vm.options import SPEC

Options = dict[str, Any]
Manifest = dict[str, Any]

# These options do not affect the checks, and may contain secrets and file names.
LEFT_OUT: Final = ("access_credentials", "cloud_init")
_SPEC: Final = {**SPEC, "name": {**SPEC["name"], "required": True}}


def to_run(options: Options) -> list[Manifest]:
    """The VMs that are to run. Skips entries that the module rejects, because the module reports them."""
    found = []
    for _index, entry in entries(options, "virtual_machines", SPEC):
        validated = ArgumentSpecValidator(_SPEC).validate(entry)
        given = validated.validated_parameters
        if validated.error_messages or given.get("state") == "absent":
            continue
        try:
            declared = manifest({**given, **dict.fromkeys(LEFT_OUT)})
        except FieldError:
            continue
        # As for a new VM, which gets a run strategy and memory.
        whole, _owned = virtual_machine.reconcile(declared, None, "")
        if whole["spec"].get("runStrategy") != "Halted" and whole["spec"].get("running") is not False:
            found.append(whole)
    return found


def entries(options: Options, plural: str, spec: Options) -> Iterator[tuple[int | None, Options]]:
    """The options of each object that a task declares, as its module reads them, with their index in the list.

    plural: the option with the list; without that option the task declares one object. spec: the options of an object.
    """
    names = {key for name, option in spec.items() for key in (name, *option.get("aliases", ()))}
    own = expand_shorthand(
        {name: value for name, value in options.items() if name in names and value is not None}, spec
    )
    listed = options.get(plural)
    if not isinstance(listed, list):
        if own.get("name"):
            yield None, own
        return
    defaults = options.get("defaults")
    shared = merge_options(expand_shorthand(defaults, spec) if isinstance(defaults, dict) else {}, own, spec)
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield index, merge_options(shared, expand_shorthand(entry, spec), spec)
