"""The module placement_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.pod.of_vm import MIGRATE, RESTART
from ..read.placement import where_vms_fit
from .ansible_edge import last_net
from .manifests import answered

_SPEC: dict[str, dict[str, Any]] = {
    "running": {"type": "str", "choices": [MIGRATE, RESTART], "default": MIGRATE},
    "drain": {"type": "list", "elements": "str", "default": []},
    "instancetypes": {"type": "list", "elements": "str", "default": []},
}


@last_net
def run_placement_info() -> None:
    """The module placement_info."""
    module, found = answered(
        _SPEC,
        lambda session, vms, options: where_vms_fit(
            session, vms, options["drain"], options["instancetypes"], options["running"]
        ),
    )
    fits = all(one["fits"] for one in (*found["virtual_machines"], *found["drained"]))
    module.exit_json(changed=False, fits=fits, **found)
