"""The module revision_rollout: options, and the steps of a run of the role revision_refresh."""

from __future__ import annotations

import os
import platform
import re
import uuid
from datetime import datetime, timezone, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Final
from zoneinfo import ZoneInfo

from ..._cluster.client.errors import RequestFailed, TaskFailed
from ..._cluster.client.libraries import yaml
from ..._cluster.modules.module import Module, Params, Result
from ..._cluster.modules.results import group_warnings
from ..._cluster.modules.shared_options import AUTH, CONCURRENCY, REQUESTS
from ..._cluster.reads.revisions import matcher_fields_of
from ..._cluster.task import Task
from ..._resolver.api.bug_report import bug_report
from ..._resolver.api.errors import FieldError
from ..._resolver.api.name_rules import quoted
from ..._resolver.change import move
from ..._resolver.declare.option_checks import option_problem
from .. import rollout
from ..rollout import Limits, Rollout
from ..rollout_report import report, table
from ..vm_decision import RolloutScope
from ..windows import MaintenanceSchedule, schedule
from .rollout_steps import FORECAST, RolloutExtension, RolloutRun, shown_time

PLANNED: Final = "planned"
BATCH: Final = "batch"
REPORTED: Final = "reported"

_TEXTS: dict[str, Any] = {"type": "list", "elements": "str", "default": []}
_FLAG: dict[str, Any] = {"type": "bool", "default": False}
_SETTINGS: dict[str, dict[str, Any]] = {
    "namespaces": _TEXTS,
    "names": _TEXTS,
    "missing_names": {"type": "str", "choices": ["fail", "ignore"], "default": "fail"},
    "label_selectors": _TEXTS,
    "revisions_of": {"type": "str", "choices": ["both", "instancetype", "preference"], "default": "both"},
    "replace": {"type": "raw"},
    "patch": {"type": "raw"},
    "batch_size": {"type": "str", "default": "20%"},
    "canary": {"type": "int", "default": 1},
    "max_unavailable": {"type": "str", "default": "20%"},
    "max_failures": {"type": "str", "default": "0"},
    "lease": {"type": "str", "default": ""},
    "pause": {"type": "int", "default": 0},
    "windows": {"type": "raw"},
    "deadline": {"type": "raw"},
    "time_zone": {"type": "raw"},
    "quota": _FLAG,
    "placement": _FLAG,
    "restart": {"type": "str", "choices": ["never", "if_required", "always"], "default": "if_required"},
    "guest_agent": _FLAG,
    "health_tasks": {"type": "str", "default": ""},
    "health_timeout": {"type": "int", "default": 300},
    "rollback": _FLAG,
    "report_directory": {"type": "str", "default": ""},
    "keep_reports": {"type": "int", "default": 10},
    "wait_timeout": {"type": "int", "default": 120},
}
_SPEC: dict[str, dict[str, Any]] = {
    **AUTH,
    **REQUESTS,
    **CONCURRENCY,
    "state": {"type": "str", "choices": [PLANNED, BATCH, REPORTED], "default": PLANNED},
    "settings": {"type": "dict", "required": True, "options": _SETTINGS},
    "rollout": {"type": "dict"},
    "health_problem": {"type": "str", "default": ""},
    "now": {"type": "str"},
}
_AMOUNT: Final = re.compile(r"[0-9]+%?")
_LEASE: Final = re.compile(r"([^/]+/[^/]+)?")
# The options have the state of thousands of VMs, which is in the result anyway.
_INVOCATION: Final[Result] = {"module_args": {}}
_PREFIX: Final = "revision_refresh_"


def module(**extension: Any) -> Module:
    """The module. extension: fields of RolloutExtension."""
    return Module(_SPEC, partial(_run, extension=RolloutExtension(**extension)))


def _run(params: Params, task: Task, extension: RolloutExtension) -> Result:
    settings = _checked(params["settings"])
    windows = _schedule(settings)
    now = params["now"] or shown_time(datetime.now(timezone.utc))
    session = task.connect(params)
    run = RolloutRun(session, task, settings, _selection(settings), windows, now, extension)
    if params["state"] == PLANNED:
        planned = _planned(run, settings, now)
        task.warnings += group_warnings(run.warnings)
        return planned
    state = Rollout.of(params["rollout"] or {})
    before = len(state.outcomes) + len(state.rollbacks)
    try:
        if params["state"] == BATCH:
            run.batch(state, params["health_problem"])
        else:
            rollout.end_batch(state, params["health_problem"], 0)
            if state.stopped and state.outcomes and settings["rollback"] and not task.check_mode:
                run.roll_back(state)
    except (RequestFailed, TaskFailed) as error:
        state.stopped = state.stopped or str(error)
    except Exception as error:
        # The state has what was done before, and must not be lost.
        state.stopped = state.stopped or bug_report(error)
    done = [*state.outcomes.values(), *state.rollbacks.values()]
    changed = any(outcome["changed"] for outcome in done[before:])
    if params["state"] == BATCH:
        message = state.stopped or state.out_of_time or rollout.batch_summary(state)
        return _state(state, {"changed": changed, "msg": message}, run)
    result = report(state, run.read(), run.selection.moves, task.check_mode)
    unchanged = not any(result["counts"][name] for name in set(result["counts"]) - {"unchanged", "pinned"})
    # The role saves no report of such a run.
    if settings["report_directory"] and not task.check_mode and not unchanged:
        _prune_reports(Path(settings["report_directory"]), settings["keep_reports"])
    return {
        "changed": changed,
        "invocation": _INVOCATION,
        "result": result,
        "table": table(result, settings["restart"]),
        "unchanged": unchanged,
    }


def _planned(run: RolloutRun, settings: Params, now: str) -> Result:
    for name, problem in (("report_directory", _folder_problem), ("health_tasks", _file_problem)):
        if settings[name] and (text := problem(Path(settings[name]).expanduser())):
            raise TaskFailed(f"{_PREFIX}{name}: {settings[name]}: {text}")
    state = run.plan(Limits(*(settings[name] for name in Limits._fields)))
    state.started = now
    state.holder = f"refresh-{uuid.uuid4().hex[:12]} on {platform.node()}" if settings["lease"] else ""
    return _state(state, {"changed": False, "msg": rollout.summary(state)}, run)


def _state(state: Rollout, result: Result, run: RolloutRun) -> Result:
    return {
        **result,
        "invocation": _INVOCATION,
        "rollout": state.as_data(),
        "batches": [[label.partition("/")[2] for label in batch] for batch in state.batches],
        "batch": run.last_read,
        "ended": state.ended,
        "stopped": state.stopped,
    }


def _checked(settings: Params) -> Params:
    """The settings as a run uses them. Raises TaskFailed, in one line that names the variable of the role."""
    if not settings["namespaces"] and not all("/" in name for name in settings["names"] or [""]):
        raise TaskFailed(f"{_PREFIX}namespaces: is empty; name namespaces, or '*' for all VMs of the cluster")
    seconds = {name: settings[name] for name in ("wait_timeout", "health_timeout", "pause")}
    if problem := option_problem(seconds):
        raise TaskFailed(f"{_PREFIX}{problem}")
    for name in ("batch_size", "max_unavailable", "max_failures"):
        text = settings[name].strip()
        if not _AMOUNT.fullmatch(text):
            found = text or "empty"
            raise TaskFailed(f"{_PREFIX}{name}: is {found}; write a number of VMs or percent, such as 10 or 10%")
        settings = {**settings, name: text}
    if not _LEASE.fullmatch(settings["lease"]):
        raise TaskFailed(f"{_PREFIX}lease: is {settings['lease']}; write NAMESPACE/NAME")
    replace, patch = (_data(name, settings[name]) for name in ("replace", "patch"))
    if patch is not None and not isinstance(patch, dict):
        raise TaskFailed(f"{_PREFIX}patch: is {quoted(patch)}; write a merge patch of spec.template")
    if replace not in (None, move.DEPRECATED) and not isinstance(replace, dict):
        raise TaskFailed(f"{_PREFIX}replace: is {quoted(replace)}; write {{u1.medium: u1.large}} or deprecated")
    forecast = next((name for name in FORECAST if settings[name]), "")
    if forecast and (replace or patch):
        raise TaskFailed(
            f"{_PREFIX}{forecast}: foresees a refresh only; leave it out with {_PREFIX}replace and {_PREFIX}patch"
        )
    return {**settings, "replace": replace, "patch": patch}


def _data(name: str, value: Any) -> Any:
    """A setting that the command line or a survey may give as a text of YAML; None if it is empty."""
    if isinstance(value, str):
        try:
            value = yaml.safe_load(value)
        except yaml.YAMLError:
            raise TaskFailed(f"{_PREFIX}{name}: is not YAML") from None
    return value or None


def _schedule(settings: Params) -> MaintenanceSchedule:
    zone_name = str(settings["time_zone"] or "").strip() or "UTC"
    try:
        windows = settings["windows"]
        if isinstance(windows, str):
            try:
                windows = yaml.safe_load(windows)
            except yaml.YAMLError:
                raise FieldError("windows", "is not YAML; write a list of windows") from None
        return schedule(windows, settings["deadline"], _zone(zone_name), zone_name)
    except FieldError as error:
        raise TaskFailed(f"{_PREFIX}{error}") from None


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    # A name that is no path, a folder of the database, or none of it.
    except (ValueError, OSError, KeyError):
        raise FieldError(
            "time_zone",
            f"{quoted(name)} is unknown; write a name of the IANA database, such as Europe/Berlin. Where "
            "the package tzdata is not installed, only UTC is known",
        ) from None


def _selection(settings: Params) -> RolloutScope:
    matchers = tuple(matcher_field.name for matcher_field in matcher_fields_of(settings["revisions_of"]))
    moves = bool(settings["replace"] or settings["patch"])
    return RolloutScope(matchers, moves, settings["restart"], settings["guest_agent"])


def _folder_problem(path: Path) -> str:
    """Why a report cannot be written into a folder, or ""."""
    existing = next(part for part in (path, *path.absolute().parents) if part.exists())
    if not existing.is_dir():
        return f"{existing} is not a folder"
    return "" if os.access(existing, os.W_OK | os.X_OK) else f"{existing} is not writable"


def _file_problem(path: Path) -> str:
    """Why a file of health tasks cannot be read, or ""."""
    if not path.is_file():
        return "there is no such file; write a path relative to the playbook, or an absolute one"
    return "" if os.access(path, os.R_OK) else "it is not readable"


def _prune_reports(folder: Path, keep: int) -> None:
    """Deletes the oldest reports of earlier runs, so that there are at most `keep` with the one to come."""
    for ending in ("json", "html"):
        dated = sorted(folder.glob(f"revision-refresh-*.{ending}"))
        for path in dated[: max(0, len(dated) - max(0, keep - 1))]:
            path.unlink(missing_ok=True)
