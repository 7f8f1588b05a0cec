"""The module virtual_machine: its options."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.api.finding import Finding
from ..._resolver.api.manifest import Manifest, Options, namespaced_name
from ..._resolver.api.matcher import MATCHER_FIELDS
from ..._resolver.api.release import Release
from ..._resolver.change.declared import DeclareJob
from ..._resolver.change.step import REQUEST
from ..._resolver.change.vm_restarts import waits_for_restart
from ..._resolver.declare.option_rows import Table, spec_of
from ..._resolver.declare.virtual_machine import as_created
from ..._resolver.declare.vm import cloud_init
from ..._resolver.declare.vm.manifest import manifest as vm_manifest
from ..._resolver.declare.vm.manifest import warnings
from ..._resolver.declare.vm.options import VM
from ..._resolver.kubevirt.instancetype import revision_names
from ..._resolver.kubevirt.vm.readiness import run_strategy
from ..._resolver.preflight.collisions import collisions, uses
from ..writes.declared_vms import vm_kind
from ..writes.vm_extension import VMExtension, VMTask
from .declaration import Declaration, TaskState
from .module import Module, Result
from .shared_options import with_vms_to_delete

# These options are the task's, not a VM's.
_SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "restart": {"type": "str", "choices": ["never", "if_required"], "default": "never"},
    "field_manager": {"type": "str", "default": "virtshape"},
}
# No default for label_selectors: the user must choose VMs.
_SELECTORS: Final[dict[str, dict[str, Any]]] = {
    "names": {"type": "list", "elements": "str"},
    "label_selectors": {"type": "list", "elements": "str"},
}


def read_password_file(options: Options) -> Options:
    """The options of a VM with the content of `cloud_init.password_file` as its password.

    The resolver has no I/O. An empty path counts as none. Raises FieldError if the file cannot be read.
    """
    settings = options.get("cloud_init") or {}
    path = settings.get("password_file")
    if not path or settings.get("type") == cloud_init.NONE or options.get("state") == "absent":
        return options
    try:
        content = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        # The message may name the file but must not contain its content.
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise FieldError(cloud_init.PASSWORD_FILE, f"cannot be read: {reason}") from None
    return cloud_init.with_password(options, content)


def vm_from_options(options: Options, table: Table = VM) -> Manifest:
    """The VM that options declare. table: all options of a VM. Raises FieldError."""
    return vm_manifest(read_password_file(options), table)


def module(table: Table = VM, extensions: Sequence[type[VMExtension]] = (), states: Sequence[TaskState] = ()) -> Module:
    """The module. table: all options of a VM. extensions, states: of capabilities.

    Extensions complete VMs in this order.
    """
    return Declaration(
        plural="virtual_machines",
        spec=table.spec,
        manifest=partial(vm_from_options, table=table),
        kind=lambda options, session, task: vm_kind(VMTask(options, session, task, extensions, table)),
        describe=vm_details,
        settings={**_SETTINGS, **spec_of(table.settings)},
        object_rules={"mutually_exclusive": table.exclusive},
        shorthand=table.shorthand,
        warnings=partial(warnings, table=table),
        selectors=_SELECTORS,
        select=with_vms_to_delete,
        states=states,
        kept=tuple(word for extension in extensions for word in extension.kept),
        created=partial(_created, extensions),
        collisions=_collisions,
    ).module()


def vm_details(job: DeclareJob) -> Result:
    """The result's details of a VM that exists."""
    live, effect = job.seen.live or {}, job.goal.effect
    facts: Result = {
        "status": (live.get("status") or {}).get("printableStatus", ""),
        "run_strategy": run_strategy(live),
    }
    for matcher_field in MATCHER_FIELDS:
        captured = (
            revision_names.referenced_revision(live, matcher_field).name if matcher_field.matcher_of(live) else ""
        )
        if captured:
            facts[f"{matcher_field.name}_revision"] = captured
    facts.update(restart_required=waits_for_restart(job), restarted=REQUEST in job.done)
    if effect is not None:
        facts.update(needs=effect.needs, changes=list(effect.changes))
        figures = {
            "guest_before": effect.guest_before,
            "guest_after": effect.guest_after,
            "restart_reason": effect.reason,
        }
        facts.update({name: value for name, value in figures.items() if value})
    return facts


def _created(
    extensions: Sequence[type[VMExtension]], options: Options, manifest: Manifest, _release: Release
) -> list[Manifest]:
    """The VM that a declaration would create.

    Raises FieldError for an option of the extensions that needs a connection.
    """
    for extension in extensions:
        for option, remedy in extension.needs_connection.items():
            value = options.get(option)
            if value and not (isinstance(value, str) and value in extension.needs_none):
                raise FieldError(option, f"needs a connection, which state {options['state']} does not make; {remedy}")
    return [as_created(manifest)]


def _collisions(manifests: Sequence[Manifest]) -> list[list[Finding]]:
    """The findings about each of the VMs that declarations would create beside the others."""
    vms = [as_created(manifest) for manifest in manifests]
    found = collisions({namespaced_name(vm): uses(vm) for vm in vms})
    return [found.get(namespaced_name(vm), []) for vm in vms]
