"""Raises the generation of VMs (see `refresh.generation`)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.write import merge_patch
from ..._resolver.instancetype.find.lookup import Lookup
from ..._resolver.instancetype.vmi.outstanding import start_revision_name
from ..._resolver.refresh import generation
from ..client.errors import ApiError, explain
from ..client.session import Session
from .engine import send

Manifest = dict[str, Any]


_VM = BY_NAME["VirtualMachine"]
_DENIED: Final = "cannot reset the condition RestartRequired, which may remain after the restart: {}"


class Raised(NamedTuple):
    """done: the generation was raised. warnings: why not, if the user may not patch the VM."""

    done: bool = False
    warnings: tuple[str, ...] = ()


def raise_generation(session: Session, vm: Manifest) -> Raised:
    """Raises the VM's generation without changing its spec.

    A missing permission is a warning, because the condition RestartRequired harms no guest. Raises ApiError or
    ConnectionFailed for all else.
    """
    metadata = vm["metadata"]
    try:
        for body in generation.raising(vm):
            path = _VM.path(metadata["namespace"], metadata["name"])
            send(session, merge_patch(path, body, fieldManager=session.field_manager))
    except ApiError as error:
        if error.code != 403:
            raise
        return Raised(warnings=(_DENIED.format(explain(error, "PATCH", _VM)),))
    return Raised(done=True)


def raise_if_unclean(session: Session, vm: Manifest, lookup: Lookup) -> Raised:
    """Raises the VM's generation if a restart would not clear its condition RestartRequired."""
    start = lookup.get("ControllerRevision", vm["metadata"]["namespace"], start_revision_name(vm))
    unclean = generation.ends_unclean(vm, start if isinstance(start, dict) else None)
    return raise_generation(session, vm) if unclean else Raised()
