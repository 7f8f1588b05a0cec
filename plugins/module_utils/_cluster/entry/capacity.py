"""Whether the VMs of a task fit into their quotas and on a node, asked before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..._resolver.api.errors import FieldError
from ..._resolver.declare import virtual_machine
from ..._resolver.kubevirt.pod.manifests import KEEP, MIGRATE, verdict
from ..act.kind_handler import Entry
from ..client.errors import ApiError, ConnectionFailed, explain
from ..client.session import Session
from ..read.kubevirt import kubevirt
from ..read.placement import read_placement
from ..read.quota import read_quota_effects
from ..read.snapshot import Unreadable
from .objects import Capacity, VmKey
from .outcome import Params

Result = dict[str, Any]

# The number of VMs that a message names.
_SHOWN: Final = 5


@dataclass(frozen=True)
class _Check:
    """A check of capacity.

    option: of the task. strict: a VM that does not fit fails the task. run: returns the verdicts by VM, and
    warnings.
    """

    option: str
    strict: bool
    run: Callable[[Session, list[Result]], tuple[Result, list[str]]]


def capacity(params: Params, session: Session, entries: Iterable[Entry]) -> Capacity:
    """Checks whether the VMs of a task that are to run fit, as far as the task asks for it."""
    checks = list(_checks(params))
    vms = _to_run(entries) if checks else []
    if not vms:
        return Capacity()
    lines_by_vm: dict[VmKey, list[Result]] = {}
    warnings: list[str] = []
    refusals: list[str] = []
    refused: set[VmKey] = set()
    for check in checks:
        lines, problems = _run_check(check, session, vms, warnings)
        for line in lines:
            key = (line["namespace"], line["name"])
            lines_by_vm.setdefault(key, []).append(line)
            if line["fits"]:
                continue
            problem = f"{key[0]}/{key[1]}: {line['problem']}"
            if not line["evaluated"]:
                warnings.append(f"{check.option}: {problem}")
            else:
                problems.append(problem)
                refused.update({key} if check.strict else ())
        if problems:
            more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
            (refusals if check.strict else warnings).append(f"{check.option}: {'; '.join(problems[:_SHOWN])}{more}")
    verdicts = {key: verdict(lines) for key, lines in lines_by_vm.items()}
    return Capacity(verdicts, [text for text in dict.fromkeys(warnings) if text], refusals, frozenset(refused))


def _run_check(
    check: _Check, session: Session, vms: list[Result], warnings: list[str]
) -> tuple[list[Result], list[str]]:
    """(the answers by VM, why the check cannot answer)."""
    try:
        result, check_warnings = check.run(session, vms)
    except (ApiError, ConnectionFailed) as error:
        return [], [explain(error, "LIST")]
    except (FieldError, Unreadable) as error:
        return [], [str(error)]
    warnings += [*check_warnings, kubevirt(session).assumption]
    lines: list[Result] = result["virtual_machines"]
    return lines, []


def _checks(params: Params) -> Iterable[_Check]:
    if params["quota"] != "off":
        yield _Check("quota", params["quota"] == "strict", lambda session, vms: read_quota_effects(session, vms, KEEP))
    if params["preflight_placement"] and params["preflight"] != "off":
        strict = params["preflight"] == "strict"
        yield _Check("preflight_placement", strict, lambda session, vms: read_placement(session, vms, [], [], MIGRATE))


def _to_run(entries: Iterable[Entry]) -> list[Result]:
    vms = []
    for entry in entries:
        if entry.problem is None and entry.state != "absent":
            # As for a new VM, which gets a run strategy and memory.
            vm, _owned = virtual_machine.reconcile(entry.manifest, None, "")
            if vm["spec"].get("runStrategy") != "Halted" and vm["spec"].get("running") is not False:
                vms.append(vm)
    return vms
