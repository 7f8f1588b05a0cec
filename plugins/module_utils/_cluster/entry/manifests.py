"""Options for questions about VMs: manifests, or a selection of VMs of the cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._resolver.api import formats
from ..._resolver.api.errors import FieldError
from ..._resolver.api.matcher import ROLES, Role
from ..._resolver.instancetype.find.naming import uncaptured
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lists import Unread
from .ansible_edge import make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, named, selection

Spec = dict[str, dict[str, Any]]
# The result for VMs, given the module's options, and warnings.
Ask = Callable[[Session, list[dict[str, Any]], dict[str, Any]], tuple[dict[str, Any], list[str]]]

_ROLES: dict[str | None, tuple[Role, ...]] = {None: (), "both": ROLES, **{role.matcher: (role,) for role in ROLES}}
_SHARED: Spec = {
    "manifests": {"type": "list", "elements": "dict"},
    "refreshed": {"type": "str", "choices": ["both", "instancetype", "preference"]},
}


def answered(own: Spec, ask: Ask) -> tuple[Any, dict[str, Any]]:
    """The module and the result for the VMs of its options. Errors fail the task.

    own: the options of this module alone.
    """
    module = make_module(
        argument_spec={**AUTH, **SELECTION, **_SHARED, **own, **REQUESTS},
        mutually_exclusive=[("manifests", "names")],
    )
    options = selection(module)
    try:
        session = Session(options)
        vms = named(module, session) if options["manifests"] is None else _declared(options)
        found, warnings = ask(session, [uncaptured(vm, _ROLES[options["refreshed"]]) for vm in vms], options)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
    except (FieldError, Unread) as error:
        module.fail_json(msg=str(error))
    for warning in (*warnings, kubevirt(session).doubt):
        if warning:
            module.warn(warning)
    return module, found


def _declared(options: dict[str, Any]) -> list[dict[str, Any]]:
    """The manifests; the task's namespace is their default. Raises FieldError."""
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
