"""The module expand_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.expansion import Expansion, expand_vms
from ..read.kubevirt import kubevirt
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, named, selection


@last_net
def run_expand_info() -> None:
    """The module expand_info."""
    module = make_module(
        argument_spec={**AUTH, **SELECTION, "concurrency": {"type": "int", "default": 16}, **REQUESTS},
    )
    options = selection(module)
    asked = Kind("", "subresources.kubevirt.io", "v1", "virtualmachines/expand-spec", True)
    try:
        session = Session(options, options["concurrency"])
        found = expand_vms(session, named(module, session), options["concurrency"])
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "GET", asked))
    if found and (doubt := kubevirt(session).doubt):
        module.warn(doubt)
    module.exit_json(changed=False, equal=all(one.equal for one in found), expansions=[_tell(one) for one in found])


def _tell(one: Expansion) -> dict[str, Any]:
    told: dict[str, Any] = {
        "name": one.name,
        "namespace": one.namespace,
        "equal": one.equal,
        "differences": one.differences,
    }
    parts = ("server", "server_error", "resolver", "resolver_error")
    told.update({part: value for part in parts if (value := getattr(one, part)) is not None})
    return told
