"""The edge of the modules that read VMs: which ones, and one message when they cannot be read."""

from __future__ import annotations

from typing import Any

from ..._resolver.api.kinds import BY_NAME, Kind
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.expansion import Expansion, expand_vms
from ..read.info import Filter, virtual_machines
from ..read.kubevirt import kubevirt
from .ansible_edge import make_module
from .argument_spec import AUTH, REQUESTS

__all__ = ["SELECTION", "named", "run_expand_info", "run_vm_info", "selection", "selector"]

# Which VMs a module is about.
SELECTION: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "names": {"type": "list", "elements": "str", "aliases": ["name"]},
    "label_selectors": {"type": "list", "elements": "str", "default": []},
}
_FILTERS: dict[str, dict[str, Any]] = {
    "instancetype": {"type": "str"},
    "preference": {"type": "str"},
    "drifted": {"type": "bool"},
    "restart_required": {"type": "bool"},
}


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
    _warn_of_doubt(module, session, found)
    module.exit_json(changed=False, virtual_machines=found)


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
    _warn_of_doubt(module, session, found)
    module.exit_json(changed=False, equal=all(one.equal for one in found), expansions=[_tell(one) for one in found])


def _warn_of_doubt(module: Any, session: Session, judged: list[Any]) -> None:
    """Says what of the cluster's KubeVirt was assumed; where nothing was judged, it was not read either."""
    if judged and kubevirt(session).doubt:
        module.warn(kubevirt(session).doubt)


def named(module: Any, session: Session) -> list[dict[str, Any]]:
    """The VMs that SELECTION's options choose, in order; a name that does not exist fails the task."""
    options = module.params
    query = {"labelSelector": labels} if (labels := selector(options)) else {}
    try:
        vms, _version = session.list(BY_NAME["VirtualMachine"], options["namespace"], **query)
    except ApiError as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    names = options["names"]
    missing = [name for name in names or [] if name not in {vm["metadata"]["name"] for vm in vms}]
    if missing and not labels:
        module.fail_json(msg=f"names: no such virtual machine in {options['namespace']}: {', '.join(missing)}")
    chosen = [vm for vm in vms if names is None or vm["metadata"]["name"] in names]
    return sorted(chosen, key=lambda vm: (vm["metadata"]["namespace"], vm["metadata"]["name"]))


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


def selection(module: Any) -> dict[str, Any]:
    """The module's options, when they select VMs in a sensible way."""
    options: dict[str, Any] = module.params
    if options["names"] and not options["namespace"]:
        module.fail_json(msg="names: give the namespace of these virtual machines too")
    return options


def selector(options: dict[str, Any]) -> str | None:
    return ",".join(options["label_selectors"] or []) or None
