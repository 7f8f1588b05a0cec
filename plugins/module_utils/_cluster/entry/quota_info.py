"""The edge of the module quota_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.errors import FieldError
from ..._resolver.quota.question import KEEP, MIGRATE, RESTART
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.lists import Unread
from ..read.quota import what_quotas_say
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .manifests import EXCLUSIVE, SELECTION_OR_MANIFESTS, chosen
from .selection import selection

_SPEC: dict[str, dict[str, Any]] = {
    "running": {"type": "str", "choices": [KEEP, RESTART, MIGRATE], "default": KEEP},
}


@last_net
def run_quota_info() -> None:
    """The module quota_info."""
    module = make_module(
        argument_spec={**AUTH, **SELECTION_OR_MANIFESTS, **_SPEC, **REQUESTS}, mutually_exclusive=EXCLUSIVE
    )
    options = selection(module)
    try:
        session = Session(options)
        found, warnings = what_quotas_say(session, chosen(module, session), options["running"])
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
    except (FieldError, Unread) as error:
        module.fail_json(msg=str(error))
    for warning in (*warnings, kubevirt(session).doubt):
        if warning:
            module.warn(warning)
    module.exit_json(changed=False, fits=all(one["fits"] for one in found["virtual_machines"]), **found)
