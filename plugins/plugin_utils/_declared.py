"""The VMs that a task of virtual_machine declares, as manifests, on the controller."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ..module_utils._resolver.api.errors import FieldError
from ..module_utils._resolver.declare import virtual_machine
from ..module_utils._resolver.declare.entries import merged, spelled_out
from ..module_utils._resolver.declare.vm.manifest import manifest
from ..module_utils._resolver.declare.vm.options import SPEC

Options = dict[str, Any]
Manifest = dict[str, Any]

# They need nothing of a cluster, and may hold secrets and names of files.
_LEFT_OUT: Final = ("access_credentials", "cloud_init")
_SPEC: Final = {**SPEC, "name": {**SPEC["name"], "required": True}}
_NAMES: Final = frozenset(key for name, option in SPEC.items() for key in (name, *option.get("aliases", ())))


def to_run(options: Options) -> list[Manifest]:
    """The VMs that are to run. What the module refuses is left out: it says so itself."""
    found = []
    for entry in _entries(options):
        validated = ArgumentSpecValidator(_SPEC).validate(entry)
        given = validated.validated_parameters
        if validated.error_messages or given.get("state") == "absent":
            continue
        try:
            declared = manifest({**given, **dict.fromkeys(_LEFT_OUT)})
        except FieldError:
            continue
        # A new VM gets a run strategy and memory.
        whole, _owned = virtual_machine.reconcile(declared, None, "")
        if whole["spec"].get("runStrategy") != "Halted" and whole["spec"].get("running") is not False:
            found.append(whole)
    return found


def _entries(options: Options) -> Iterator[Options]:
    own = {name: value for name, value in options.items() if name in _NAMES and value is not None}
    entries = options.get("virtual_machines")
    if not isinstance(entries, list):
        if own.get("name"):
            yield spelled_out(own, SPEC)
        return
    defaults = options.get("defaults")
    shared = merged(spelled_out(defaults, SPEC) if isinstance(defaults, dict) else {}, spelled_out(own, SPEC), SPEC)
    for entry in entries:
        if isinstance(entry, dict):
            yield merged(shared, spelled_out(entry, SPEC), SPEC)
