"""The options that select VMs, and the selected VMs."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME
from ..client.errors import ApiError, explain
from ..client.session import Session
from .outcome import Params, TaskFailed

# Which VMs a module is about.
SELECTION: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
}


def selected(params: Params, session: Session) -> list[dict[str, Any]]:
    """The VMs that SELECTION's options select, in order. A name that does not exist fails the task."""
    query = {"labelSelector": labels} if (labels := selector(params)) else {}
    try:
        vms, _version = session.list(BY_NAME["VirtualMachine"], params["namespace"], **query)
    except ApiError as error:
        raise TaskFailed(explain(error, "LIST", BY_NAME["VirtualMachine"])) from error
    names = params["names"]
    existing = {vm["metadata"]["name"] for vm in vms}
    missing = [name for name in names or [] if name not in existing]
    if missing and not labels:
        raise TaskFailed(no_such_vms(params, missing))
    chosen = existing if names is None else set(names)
    vms = [vm for vm in vms if vm["metadata"]["name"] in chosen]
    return sorted(vms, key=lambda vm: (vm["metadata"]["namespace"], vm["metadata"]["name"]))


def no_such_vms(params: Params, names: list[str]) -> str:
    """The message about names without a VM."""
    return f"names: no such virtual machine in {params['namespace']}: {', '.join(names)}"


def check_selection(params: Params) -> None:
    """Fails the task if `names` comes without `namespace`."""
    if params["names"] and not params["namespace"]:
        raise TaskFailed("namespace: required with names")


def selector(params: Params) -> str | None:
    return ",".join(params["label_selectors"] or []) or None
