"""An AnsibleModule as all modules of the collection want it."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule, missing_required_lib

from ..client.libraries import MISSING

__all__ = ["make_module"]

# What of a kubeconfig's user entry is secret.
_SECRETS = ("token", "password", "client-key-data")


def make_module(**arguments: Any) -> Any:
    """The module, with what is secret in a kubeconfig given as a dictionary hidden from all output.

    arguments: as AnsibleModule takes them. Fails the task where a library is missing.
    """
    # Options are not logged by the system: what in them is secret is not known as early as that.
    module = AnsibleModule(no_log=True, supports_check_mode=True, **arguments)
    module.no_log_values.update(_secrets(module.params.get("kubeconfig")))
    qps = module.params.get("qps")
    if qps is not None and qps <= 0:
        module.fail_json(msg=f"qps: expected more than 0 requests a second, found {qps:g}; leave it out for no limit")
    if MISSING:
        module.fail_json(msg=missing_required_lib("kubernetes"), exception=MISSING)
    return module


def _secrets(kubeconfig: Any) -> set[str]:
    users = kubeconfig.get("users") if isinstance(kubeconfig, dict) else None
    if not isinstance(users, list):
        return set()
    entries = [user.get("user") for user in users if isinstance(user, dict)]
    return {str(entry[name]) for entry in entries if isinstance(entry, dict) for name in _SECRETS if entry.get(name)}
