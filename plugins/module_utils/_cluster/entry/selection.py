"""The options that select VMs, and the selected VMs."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..client.errors import ApiError, explain
from ..client.session import Session

# Which VMs a module is about.
SELECTION: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
}


def named(module: Any, session: Session) -> list[dict[str, Any]]:
    """The VMs that SELECTION's options select, in order. A name that does not exist fails the task."""
    options = module.params
    query = {"labelSelector": labels} if (labels := selector(options)) else {}
    try:
        vms, _version = session.list(BY_NAME["VirtualMachine"], options["namespace"], **query)
    except ApiError as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    names = options["names"]
    there = {vm["metadata"]["name"] for vm in vms}
    missing = [name for name in names or [] if name not in there]
    if missing and not labels:
        module.fail_json(msg=f"names: no such virtual machine in {options['namespace']}: {', '.join(missing)}")
    wanted = there if names is None else set(names)
    chosen = [vm for vm in vms if vm["metadata"]["name"] in wanted]
    return sorted(chosen, key=lambda vm: (vm["metadata"]["namespace"], vm["metadata"]["name"]))


def selection(module: Any) -> dict[str, Any]:
    """The module's options; fails the task if `names` comes without `namespace`."""
    options: dict[str, Any] = module.params
    if options["names"] and not options["namespace"]:
        module.fail_json(msg="namespace: required with names")
    return options


def selector(options: dict[str, Any]) -> str | None:
    return ",".join(options["label_selectors"] or []) or None
