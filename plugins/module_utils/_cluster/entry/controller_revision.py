"""The module controller_revision: options, results, the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._resolver.api.matcher import ROLES
from ..._resolver.refresh import revision_change
from ..act.changed import Changed
from ..act.pruning import prunable, prune, upgrade_revisions
from ..act.revision_changes import change
from ..act.settings import Settings
from ..client.errors import ConnectionFailed
from ..client.session import Session
from ..read.revisions import Inspected, roles_of
from ..read.snapshot import Unreadable
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, DRY_RUN, REQUESTS
from .ending import ON_FAILURE, amount, fail, several, warn
from .revisions import Outcome, inspected, tell
from .selection import SELECTION


@last_net
def run_revision() -> None:
    """The module controller_revision."""
    module = make_module(
        argument_spec={
            **AUTH,
            **SELECTION,
            **REQUESTS,
            **DRY_RUN,
            "state": {
                "type": "str",
                "choices": ["refreshed", "pinned", "unpinned", "upgraded", "pruned"],
                "default": "refreshed",
            },
            "revisions_of": {"type": "str", "choices": ["both", "instancetype", "preference"], "default": "both"},
            "revision": {"type": "str"},
            "revisions": {"type": "dict"},
            "keep": {"type": "int", "default": 0},
            "restart": {"type": "str", "choices": ["never", "if_required", "always"], "default": "never"},
            "wait_timeout": {"type": "int", "default": 120},
            "concurrency": {"type": "int", "default": 16},
            **ON_FAILURE,
        },
        required_if=[("state", "pinned", ["revision", "revisions"], True), ("state", "pruned", ["namespace"])],
        mutually_exclusive=[("revision", "revisions")],
    )
    _check_revisions(module)
    if module.params["state"] == "pruned":
        _run_prune(module)
    session, seen = inspected(module)
    if module.params["state"] == "upgraded":
        _run_upgrade(module, session, seen)
    options = module.params
    results = change(session, seen, _decision(options), options["restart"], _settings(module))
    warn(module, [(result.before.label, warning) for result in results for warning in result.warnings])
    outcome: Outcome = {"results": [_tell_changed(result) for result in results]}
    if module.shows_diff:
        outcome["diff"] = [_diff(result) for result in results if result.changed]
    _exit(module, outcome, [(result.before.label, result.failed) for result in results], "virtual machines")


def _settings(module: Any) -> Settings:
    names = ("server_dry_run", "wait_timeout", "concurrency")
    return Settings(check_mode=module.check_mode, **{name: module.params[name] for name in names})


def _check_revisions(module: Any) -> None:
    """Checks that `revisions` has an entry for each selected VM."""
    wanted = module.params["revisions"]
    if wanted is None:
        return
    matchers = [role.matcher for role in ROLES]
    for name, names in wanted.items():
        if not isinstance(names, dict) or not names or set(names) - set(matchers):
            module.fail_json(
                msg=f"revisions: {name}: expected a dictionary with the keys {' and '.join(matchers)}, or one of them"
            )
    missing = [name for name in module.params["names"] or [] if name not in wanted]
    if module.params["names"] is None:
        module.params["names"] = list(wanted)
    elif missing:
        module.fail_json(msg=f"revisions: no entry for {', '.join(missing)}; give every VM of names an entry")


def _decision(options: Outcome) -> Callable[[Inspected], revision_change.RevisionChange]:
    roles = roles_of(options["revisions_of"])
    if options["state"] == "refreshed":
        return lambda seen: revision_change.refresh(seen.vm, seen.drift, roles)
    if options["state"] == "unpinned":
        return lambda seen: revision_change.unpin(seen.vm, roles)
    each = options["revisions"] or {}
    return lambda seen: revision_change.pin(
        seen.vm, seen.drift, roles, each.get(seen.name) or options["revision"], seen.revisions, seen.kubevirt
    )


def _run_upgrade(module: Any, session: Session, seen: list[Inspected]) -> None:
    results = upgrade_revisions(session, seen, _settings(module))
    told = [
        {
            **tell(one.before),
            "changed": one.changed,
            "failed": bool(one.failed),
            **({"msg": one.failed} if one.failed else {}),
        }
        for one in results
    ]
    _exit(module, {"results": told}, [(one.before.label, one.failed) for one in results], "virtual machines")


def _run_prune(module: Any) -> None:
    options = module.params
    # Only all VMs of a namespace show which revisions are referenced.
    if options["names"] or options["label_selectors"]:
        module.fail_json(msg="state: pruned applies to a whole namespace; remove names and label_selectors")
    try:
        session = Session(options, options["concurrency"])
        found = prunable(session, options["namespace"], options["keep"])
    except ConnectionFailed as error:
        module.fail_json(msg=str(error))
    except Unreadable as error:
        module.fail_json(msg=f"{error}; nothing was pruned, because a VM that the task cannot see may use a revision")
    if not module.check_mode:
        prune(session, found, _settings(module))
    results = [
        {"name": one.name, "namespace": one.namespace, "changed": not one.failed, "failed": bool(one.failed)}
        for one in found
    ]
    _exit(module, {"results": results}, [(f"{one.namespace}/{one.name}", one.failed) for one in found], "revisions")


def _exit(module: Any, outcome: Outcome, failures: list[tuple[str, str | None]], noun: str) -> None:
    outcome["changed"] = any(one["changed"] for one in outcome["results"])
    failed = [(label, reason) for label, reason in failures if reason]
    count = sum(one["changed"] and not one["failed"] for one in outcome["results"])
    would = "would be " if module.check_mode and count else ""
    changed, rest = f"{would}{module.params['state']}", len(failures) - count - len(failed)
    if failed:
        fail(module, noun, failed, len(failures), outcome, several({changed: count, "unchanged": rest}))
    module.exit_json(msg=f"{amount(len(failures), noun)}: {count} {changed}, {rest} unchanged", **outcome)


def _tell_changed(result: Changed) -> Outcome:
    told = tell(result.before)
    told.update(changed=result.changed, failed=bool(result.failed))
    told.update(restarted=result.restart, revisions=result.revisions, needs=result.needs)
    effect = result.change.effect
    if effect is not None:
        told.update(guest_before=effect.guest_before, guest_after=effect.guest_after, changes=list(effect.changes))
    if result.warnings:
        told["warnings"] = result.warnings
    if result.written and result.vm is not None:
        told["expanded"] = [role.matcher for role in result.change.roles if not role.matcher_of(result.vm)]
    if result.method:
        told["method"] = result.method
    if result.failed:
        told["msg"] = result.failed
    if result.vm is not None:
        told["status"] = (result.vm.get("status") or {}).get("printableStatus", "")
    if result.before.outstanding is not None or result.written:
        told.update(restart_required=result.restart_required)
    if result.settled:
        told["guest_current"] = True
        told.pop("outstanding", None)
    reason = result.restart_reason
    if reason:
        told["restart_reason"] = reason
    elif result.written:
        told.pop("restart_reason", None)
    return told


def _diff(result: Changed) -> Outcome:
    changes = result.change.effect.changes if result.change.effect is not None else ()
    return {
        "before_header": f"VirtualMachine {result.before.label} (current)",
        "after_header": f"VirtualMachine {result.before.label} ({', '.join(result.revisions.values()) or 'changed'})",
        "before": {one["field"]: one["before"] for one in changes},
        "after": {one["field"]: one["after"] for one in changes},
    }
