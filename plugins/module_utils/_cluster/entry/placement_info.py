"""The edge of the module placement_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.api import formats
from ..._resolver.api.errors import FieldError
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.placement import Unread, where_vms_fit
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, named, selection

_SPEC: dict[str, dict[str, Any]] = {
    "manifests": {"type": "list", "elements": "dict"},
    "drain": {"type": "list", "elements": "str", "default": []},
    "instancetypes": {"type": "list", "elements": "str", "default": []},
}


@last_net
def run_placement_info() -> None:
    """The module placement_info."""
    module = make_module(
        argument_spec={**AUTH, **SELECTION, **_SPEC, **REQUESTS}, mutually_exclusive=[("manifests", "names")]
    )
    options = selection(module)
    try:
        session = Session(options)
        vms = named(module, session) if options["manifests"] is None else _declared(options)
        found, warnings = where_vms_fit(session, vms, options["drain"], options["instancetypes"])
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
    except (FieldError, Unread) as error:
        module.fail_json(msg=str(error))
    for warning in (*warnings, kubevirt(session).doubt):
        if warning:
            module.warn(warning)
    fits = all(one["fits"] for one in (*found["virtual_machines"], *found["drained"]))
    module.exit_json(changed=False, fits=fits, **found)


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
