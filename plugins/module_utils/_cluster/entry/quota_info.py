"""The module quota_info."""

from __future__ import annotations

from typing import Any

from ..._resolver.pod.of_vm import KEEP, MIGRATE, RESTART
from ..read.quota import what_quotas_say
from .ansible_edge import last_net
from .manifests import answered

_SPEC: dict[str, dict[str, Any]] = {
    "running": {"type": "str", "choices": [KEEP, RESTART, MIGRATE], "default": KEEP},
}


@last_net
def run_quota_info() -> None:
    """The module quota_info."""
    module, found = answered(_SPEC, lambda session, vms, options: what_quotas_say(session, vms, options["running"]))
    module.exit_json(changed=False, fits=all(one["fits"] for one in found["virtual_machines"]), **found)
