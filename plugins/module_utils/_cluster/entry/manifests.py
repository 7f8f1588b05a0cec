"""VMs that need not exist: manifests as an option beside those that choose VMs of the cluster."""

from __future__ import annotations

from typing import Any

from ..._resolver.api import formats
from ..._resolver.api.errors import FieldError
from ..client.session import Session
from .selection import SELECTION, named

SELECTION_OR_MANIFESTS: dict[str, dict[str, Any]] = {**SELECTION, "manifests": {"type": "list", "elements": "dict"}}
EXCLUSIVE = [("manifests", "names")]


def chosen(module: Any, session: Session) -> list[dict[str, Any]]:
    """The VMs that the options mean: the manifests, or those of the cluster. Raises FieldError."""
    options: dict[str, Any] = module.params
    return named(module, session) if options["manifests"] is None else _declared(options)


def _declared(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The manifests, in the namespace of the task unless they name one. Raises FieldError."""
    found = []
    for index, manifest in enumerate(options["manifests"]):
        metadata = manifest.get("metadata") or {}
        if not isinstance(metadata, dict) or not isinstance(manifest.get("spec"), dict):
            raise FieldError(f"manifests[{index}]", "is no manifest of a VirtualMachine")
        try:
            formats.checked("VirtualMachineSpec", manifest["spec"], False)
        except FieldError as error:
            raise error.under(f"manifests[{index}].spec") from None
        space = metadata.get("namespace") or options["namespace"] or ""
        found.append({**manifest, "metadata": {**metadata, "namespace": space}})
    return found
