"""The edge of the module placement_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import FieldError
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lists import Unread
from ..read.placement import where_vms_fit
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .manifests import EXCLUSIVE, SELECTION_OR_MANIFESTS, chosen
from .selection import selection

_SPEC: dict[str, dict[str, Any]] = {
    "drain": {"type": "list", "elements": "str", "default": []},
    "instancetypes": {"type": "list", "elements": "str", "default": []},
}


@last_net
def run_placement_info() -> None:
    """The module placement_info."""
    module = make_module(
        argument_spec={**AUTH, **SELECTION_OR_MANIFESTS, **_SPEC, **REQUESTS}, mutually_exclusive=EXCLUSIVE
    )
    options = selection(module)
    try:
        session = Session(options)
        found, warnings = where_vms_fit(session, chosen(module, session), options["drain"], options["instancetypes"])
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
    except (FieldError, Unread) as error:
        module.fail_json(msg=str(error))
    for warning in (*warnings, kubevirt(session).doubt):
        if warning:
            module.warn(warning)
    fits = all(one["fits"] for one in (*found["virtual_machines"], *found["drained"]))
    module.exit_json(changed=False, fits=fits, **found)
