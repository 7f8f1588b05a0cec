"""The module virtual_machine: its options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.manifest import Manifest, Options
from ..._resolver.api.release import Release
from ..._resolver.declare.rendered import RENDERED
from ..._resolver.declare.virtual_machine import reconcile
from ..._resolver.declare.vm.manifest import warnings
from ..._resolver.declare.vm.options import EXCLUSIVE, SPEC
from ..writes.handlers.virtual_machine import VirtualMachineHandler
from ..writes.vm_extension import VMExtension
from .declared_vm import vm_from_options
from .objects import ObjectModule
from .options import to_delete
from .outcome import Module

# These options are the task's, not a VM's.
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "restart": {"type": "str", "choices": ["never", "if_required"], "default": "never"},
    "field_manager": {"type": "str", "default": "virtshape"},
    "preflight_quota": {"type": "str", "choices": ["strict", "warn", "off"], "default": "off"},
    "preflight_placement": {"type": "str", "choices": ["strict", "warn", "off"], "default": "off"},
}
# No default for label_selectors: the user must choose VMs.
_SELECTORS: Final[dict[str, dict[str, Any]]] = {
    "names": {"type": "list", "elements": "str"},
    "label_selectors": {"type": "list", "elements": "str"},
}


def module(extensions: Sequence[type[VMExtension]] = ()) -> Module:
    """The module. extensions: what capabilities add, in the order in which they complete VMs."""
    return ObjectModule(
        plural="virtual_machines",
        spec=SPEC,
        manifest=vm_from_options,
        handler=partial(VirtualMachineHandler, extensions=extensions),
        settings=_SETTINGS,
        object_rules={"mutually_exclusive": EXCLUSIVE},
        warnings=warnings,
        selectors=_SELECTORS,
        select=to_delete,
        render=partial(rendered, {name: why for extension in extensions for name, why in extension.online.items()}),
    )


def rendered(online: Mapping[str, str], options: Options, manifest: Manifest, _release: Release) -> list[Manifest]:
    """The VM that a declaration would create. online: options that need a connection, and what to set instead.

    Raises FieldError for such an option.
    """
    for option, remedy in online.items():
        if options.get(option):
            raise FieldError(option, f"needs a connection, which state {RENDERED} does not make; {remedy}")
    return [reconcile(manifest, None, "").manifest]
