"""The module virtual_machine_power: options, results, the message."""

from __future__ import annotations

from typing import Any, Final

from ..._resolver.api import limits
from ..._resolver.api.kinds import BY_NAME
from ..._resolver.api.names import shown
from ..._resolver.declare.power import PAUSED, RESTARTED, STARTED, STATES, STOPPED, Wanted
from ..._resolver.kubevirt.vmi.readiness import run_strategy
from ..act.power import Entry, Result, power, selected
from ..act.settings import Settings
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .ending import ON_FAILURE, amount, fail, several
from .selection import SELECTION, selector

Outcome = dict[str, Any]

# The options of a VM; the top level sets them for all.
_ENTRY: dict[str, dict[str, Any]] = {
    "namespace": {"type": "str"},
    "state": {"type": "str", "choices": list(STATES)},
    "paused": {"type": "bool"},
    "force": {"type": "bool"},
    "grace_period": {"type": "int"},
}
_WAIT: dict[str, dict[str, Any]] = {
    "wait": {"type": "bool", "default": False},
    "wait_timeout": {"type": "int", "default": 120},
    "concurrency": {"type": "int", "default": 16},
    "fail_fast": {"type": "bool", "default": False},
}

# The status of a VM in a wanted state, if it is not Running.
_STATUS: Final = {STOPPED: "Stopped", PAUSED: "Paused"}


@last_net
def run_power() -> None:
    """The module virtual_machine_power."""
    listed = {**_ENTRY, "name": {"type": "str", "required": True}}
    module = make_module(
        argument_spec={
            **AUTH,
            **SELECTION,
            # No default: the user must choose VMs.
            "label_selectors": {"type": "list", "elements": "str"},
            **_ENTRY,
            "virtual_machines": {"type": "list", "elements": "dict", "options": listed},
            **_WAIT,
            **REQUESTS,
            **ON_FAILURE,
        },
        required_one_of=[("names", "label_selectors", "virtual_machines")],
        mutually_exclusive=[("virtual_machines", "names"), ("virtual_machines", "label_selectors")],
    )
    options = module.params
    settings = Settings(check_mode=module.check_mode, **{name: options[name] for name in _WAIT})
    try:
        session = Session(options, settings.concurrency)
        entries = _listed(module) if options["virtual_machines"] is not None else _chosen(module, session)
        results = power(session, entries, settings)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST", BY_NAME["VirtualMachine"]))
    _exit(module, results)


def _chosen(module: Any, session: Session) -> list[Entry]:
    """The VMs selected by names, by labels, or by both."""
    options = module.params
    wanted = _wanted(module, options, "")
    names, labels = options["names"], selector(options)
    if names is not None and not options["namespace"]:
        module.fail_json(msg="namespace: required with names")
    if labels is None and names is None:
        module.fail_json(
            msg="label_selectors: an empty list would select all virtual machines; set names or a label selector"
        )
    if labels is None:
        return [Entry(options["namespace"], name, wanted) for name in dict.fromkeys(names)]
    found = selected(session, options["namespace"], labels)
    if names is not None:
        named = set(names)
        found = [(namespace, name) for namespace, name in found if name in named]
    return [Entry(namespace, name, wanted) for namespace, name in found]


def _listed(module: Any) -> list[Entry]:
    entries: dict[tuple[str, str], Entry] = {}
    for index, given in enumerate(module.params["virtual_machines"]):
        own = {name: given[name] if given[name] is not None else module.params[name] for name in _ENTRY}
        where = f"virtual_machines[{index}] ({shown(given['name'])[1:-1]})"
        problem = limits.problem({**own, "name": given["name"]})
        if problem:
            module.fail_json(msg=f"{where}: {problem}")
        if not own["namespace"]:
            module.fail_json(msg=f"{where}: namespace: required; set the namespace of the VM")
        entry = Entry(own["namespace"], given["name"], _wanted(module, own, f"{where}: "))
        if entry[:2] in entries:
            module.fail_json(msg=f"{where}: name: another entry names {entry.label} too; remove one of them")
        entries[entry[:2]] = entry
    return list(entries.values())


def _wanted(module: Any, options: Outcome, where: str) -> Wanted:
    state, grace = options["state"], options["grace_period"]
    problem = None
    if state is None:
        problem = f"state: required; choose from {', '.join(STATES)}"
    elif options["paused"] and state != STARTED:
        problem = f"paused: only valid with state {STARTED}, not with {state}"
    elif (options["force"] or grace is not None) and state not in (STOPPED, RESTARTED):
        problem = f"force: only valid with the states {STOPPED} and {RESTARTED}, not with {state}"
    elif grace is not None and not options["force"]:
        problem = "grace_period: only valid with force; otherwise the grace period of the VM applies"
    if problem:
        module.fail_json(msg=f"{where}{problem}")
    return Wanted(state, bool(options["paused"]), (grace or 0) if options["force"] else None)


def _exit(module: Any, results: list[Result]) -> None:
    told = [_tell(result) for result in results]
    outcome: Outcome = {"changed": any(result.changed for result in results), "results": told}
    if module.shows_diff:
        outcome["diff"] = [_diff(result, module.check_mode) for result in results if result.changed]
    failures = [(result.entry.label, result.failed) for result in results if result.failed]
    count = sum(result.changed for result in results if not result.failed)
    would = "would be " if module.check_mode and count else ""
    rest = len(results) - count - len(failures)
    if failures:
        done = several({f"{would}changed": count, "unchanged": rest})
        fail(module, "virtual machines", failures, len(results), outcome, done)
    words = f"{count} {would}changed, {rest} unchanged"
    module.exit_json(msg=f"{amount(len(results), 'virtual machines')}: {words}", **outcome)


def _tell(result: Result) -> Outcome:
    entry = result.entry
    told: Outcome = {
        "name": entry.name,
        "namespace": entry.namespace,
        "state": entry.wanted.state,
        "verb": result.verb,
        "changed": result.changed,
        "failed": bool(result.failed),
    }
    if result.failed:
        told["msg"] = result.failed
    if result.vm is not None:
        told["status"] = _status(result.vm)
        told["run_strategy"] = run_strategy(result.vm)
    if result.found is not None:
        told["status_before"] = _status(result.found)
    if result.instance is not None:
        state = result.instance.get("status") or {}
        told["instance"] = {
            "uid": result.instance["metadata"]["uid"],
            "phase": state.get("phase", ""),
            "node": state.get("nodeName", ""),
        }
    return told


def _status(vm: Outcome) -> str:
    return str((vm.get("status") or {}).get("printableStatus", ""))


def _diff(result: Result, check_mode: bool) -> Outcome:
    header = f"VirtualMachine {result.entry.label}"
    after = _foreseen(result) if check_mode else _power_of(result.vm, result.instance)
    return {
        "before_header": header,
        "after_header": f"{header} ({result.verb})",
        "before": _power_of(result.found, result.before),
        "after": after,
    }


def _foreseen(result: Result) -> Outcome:
    """The power state that the request would lead to."""
    wanted = result.entry.wanted
    told = {"status": "Paused" if wanted.paused else _STATUS.get(wanted.state, "Running")}
    if wanted.state == STOPPED:
        return told
    if wanted.state in (STARTED, RESTARTED):
        return {**told, "instance": "new"}
    return {**_power_of(None, result.before), **told}


def _power_of(vm: Outcome | None, instance: Outcome | None) -> Outcome:
    """The power state of a VM. A new uid identifies a restarted VMI."""
    told = {"status": _status(vm or {})}
    return {**told, "instance": instance["metadata"]["uid"]} if instance is not None else told
