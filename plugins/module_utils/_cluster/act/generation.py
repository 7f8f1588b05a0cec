"""Merge patches of VMs, and those that raise a generation (see `refresh.generation`)."""

from __future__ import annotations

from typing import Any, Final

from ..._resolver.api.kinds import BY_NAME
from ..._resolver.refresh import generation
from ..client.session import Session

Manifest = dict[str, Any]


_VM = BY_NAME["VirtualMachine"]
_MERGE: Final = "application/merge-patch+json"


def raise_generation(session: Session, vm: Manifest) -> None:
    """Raises the VM's generation without changing its spec. Raises ApiError or ConnectionFailed."""
    metadata = vm["metadata"]
    for body in generation.raising(vm):
        merge_patch(session, _VM.path(metadata["namespace"], metadata["name"]), body)


def merge_patch(session: Session, path: str, body: Manifest, dry: bool = False) -> None:
    """Sends a merge patch. The fields that it sets do not conflict with a play that declares the VM."""
    query = {"fieldManager": session.field_manager, **({"dryRun": "All"} if dry else {})}
    session.request("PATCH", path, query, body, _MERGE)
