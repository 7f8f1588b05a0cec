"""The module virtual_machine_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.info import Filter, virtual_machines
from ..read.kubevirt import kubevirt
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, selection, selector

_FILTERS: dict[str, dict[str, Any]] = {
    "instancetype": {"type": "str"},
    "preference": {"type": "str"},
    "drifted": {"type": "bool"},
    "restart_required": {"type": "bool"},
}


@last_net
def run_vm_info() -> None:
    """The module virtual_machine_info."""
    module = make_module(argument_spec={**AUTH, **SELECTION, **_FILTERS, **REQUESTS})
    options = selection(module)
    wanted = Filter(
        options["namespace"], options["names"], selector(options), **{name: options[name] for name in _FILTERS}
    )
    try:
        session = Session(options)
        found = virtual_machines(session, wanted)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    if found and (doubt := kubevirt(session).doubt):
        module.warn(doubt)
    module.exit_json(changed=False, virtual_machines=found)
