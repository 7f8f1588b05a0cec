"""The module capacity_info."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..._resolver.api import formats
from ..._resolver.api.errors import FieldError
from ..._resolver.api.matcher import ROLES, Role
from ..._resolver.kubevirt.find.naming import uncaptured
from ..._resolver.kubevirt.pod.of_vm import KEEP, MIGRATE, RESTART
from ..._resolver.kubevirt.pod.verdict import verdict
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.placement import where_vms_fit
from ..read.quota import what_quotas_say
from ..read.snapshot import Unread
from .ansible_edge import last_net, make_module
from .argument_spec import AUTH, REQUESTS
from .selection import SELECTION, named, selection

Told = dict[str, Any]

QUOTA: Final = "quota"
PLACEMENT: Final = "placement"

_ROLES: dict[str | None, tuple[Role, ...]] = {None: (), "both": ROLES, **{role.matcher: (role,) for role in ROLES}}
_SPEC: dict[str, dict[str, Any]] = {
    "checks": {"type": "list", "elements": "str", "choices": [QUOTA, PLACEMENT], "default": [QUOTA, PLACEMENT]},
    "manifests": {"type": "list", "elements": "dict"},
    "refreshed": {"type": "str", "choices": ["both", "instancetype", "preference"]},
    "running": {"type": "str", "choices": [KEEP, RESTART, MIGRATE], "default": KEEP},
    "drain": {"type": "list", "elements": "str", "default": []},
    "instancetypes": {"type": "list", "elements": "str", "default": []},
}


@last_net
def run_capacity_info() -> None:
    """The module capacity_info."""
    module = make_module(
        argument_spec={**AUTH, **SELECTION, **_SPEC, **REQUESTS},
        mutually_exclusive=[("manifests", "names")],
    )
    options = selection(module)
    if not options["checks"]:
        module.fail_json(msg="checks: is empty; name quota, placement or both")
    try:
        session = Session(options)
        vms = named(module, session) if options["manifests"] is None else _declared(options)
        found, warnings = _answer(session, [uncaptured(vm, _ROLES[options["refreshed"]]) for vm in vms], options)
    except (ApiError, ConnectionFailed) as error:
        module.fail_json(msg=explain(error, "LIST"))
    except (FieldError, Unread) as error:
        module.fail_json(msg=str(error))
    for warning in dict.fromkeys((*warnings, kubevirt(session).doubt)):
        if warning:
            module.warn(warning)
    fits = all(one["fits"] for one in (*found["virtual_machines"], *found["drained"]))
    module.exit_json(changed=False, fits=fits, **found)


def _answer(session: Session, vms: list[Told], options: Told) -> tuple[Told, list[str]]:
    """(what the checks say of the VMs, together and each by itself; warnings)."""
    asks: dict[str, Callable[[], tuple[Told, list[str]]]] = {
        QUOTA: lambda: what_quotas_say(session, vms, options["running"]),
        PLACEMENT: lambda: where_vms_fit(
            session,
            vms,
            options["drain"],
            options["instancetypes"],
            RESTART if options["running"] == RESTART else MIGRATE,
        ),
    }
    found: Told = {"quotas": [], "drained": [], "instancetypes": []}
    warnings: list[str] = []
    lines: dict[str, list[Told]] = {}
    for check in (one for one in asks if one in options["checks"]):
        answer, doubts = asks[check]()
        lines[check] = answer.pop("virtual_machines")
        found.update(answer)
        warnings += doubts
    each = [dict(zip(lines, of_vm)) for of_vm in zip(*lines.values())]
    return {**found, "virtual_machines": [_together(one, options["running"]) for one in each]}, warnings


def _together(checks: dict[str, Told], of_running: str) -> Told:
    """One VM's answer of all checks. A guest that is to migrate fits where its migration does."""
    first = next(iter(checks.values()))
    head = {name: first[name] for name in ("name", "namespace")}
    counted = [{**one, **one.get("migration", {})} if of_running == MIGRATE else one for one in checks.values()]
    parts = {check: {name: one[name] for name in one if name not in head} for check, one in checks.items()}
    return {**head, **verdict(counted), **parts}


def _declared(options: Told) -> list[Told]:
    """The manifests; the task's namespace is their default. Raises FieldError."""
    found = []
    for index, manifest in enumerate(options["manifests"]):
        metadata = manifest.get("metadata") or {}
        if not isinstance(metadata, dict) or not isinstance(manifest.get("spec"), dict):
            raise FieldError(f"manifests[{index}]", "is no manifest of a VirtualMachine")
        try:
            formats.checked("VirtualMachineSpec", manifest["spec"], False)
        except FieldError as error:
            raise error.under(f"manifests[{index}].spec") from None
        space = metadata.get("namespace") or options["namespace"] or ""
        found.append({**manifest, "metadata": {**metadata, "namespace": space}})
    return found
