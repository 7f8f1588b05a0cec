"""Figures of a fleet of VMs: promised resources, drift and its age, unused objects.

The input is what virtual_machine_info and catalog_info return.
"""

from __future__ import annotations

import json
import re
from calendar import timegm
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from ansible.errors import AnsibleFilterError

from ...module_utils._resolver.api.errors import QuantityError
from ...module_utils._resolver.api.matcher import MATCHER_FIELDS
from ...module_utils._resolver.api.quantity import parse
from ...module_utils._resolver.api.state import DEPRECATED, OBSOLETE
from ...module_utils._resolver.change import drift
from ...module_utils._resolver.change.controller_revisions import SNAPSHOT

Result = dict[str, Any]

# Key of the label that names the team of a VM, unless the user says another.
TEAM_LABEL: Final = "team"

# Phases of a VMI without a guest.
ENDED: Final = ("Succeeded", "Failed")

# Ages of drift: name and upper limit in days.
AGES: Final = (
    ("less than a day", 1),
    ("1 to 7 days", 7),
    ("1 to 4 weeks", 28),
    ("4 to 12 weeks", 84),
    ("more than 12 weeks", float("inf")),
)
UNKNOWN_AGE: Final = "not known"
UNKNOWN_STATE: Final = "not known"

# The state of the object itself, of what a VM refers to.
_STATE: Final = ("object_state", "replacement", "obsolete_from")

_SECONDS_A_DAY: Final = 24 * 60 * 60
# RFC 3339 in UTC, as API servers write it.
_TIME: Final = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z", re.ASCII)


def summary(
    vms: Iterable[Result],
    revisions: Iterable[Result],
    unreferenced: Iterable[Result],
    instancetypes: Iterable[Result],
    preferences: Iterable[Result],
    now: str,
    capacity: Iterable[Result] = (),
    team_label: str = TEAM_LABEL,
) -> Result:
    """The fleet in plain values; see the RETURN of the filter `_fleet`.

    vms: the VMs of virtual_machine_info. revisions, unreferenced: `virtual_machines` and `unreferenced` from it
    with `include: [refresh]`. instancetypes, preferences: the lists of catalog_info.
    now: the time of the report, such as ``2026-03-01T08:00:00Z``. capacity: `instancetypes` from capacity_info.
    team_label: key of the label that names the team of a VM. Raises AnsibleFilterError for other input.
    """
    captured = _vms_by_label(revisions, "revisions")
    by_label = _vms_by_label(vms, "virtual_machines")
    rows = [_row(vm, captured.get(label, {}), team_label) for label, vm in by_label.items()]
    teams: dict[str, set[str]] = {}
    for row in rows:
        teams.setdefault(row["namespace"], set()).add(row["team"])
    catalogs = {"instancetype": _entries(instancetypes, "instancetypes")}
    catalogs["preference"] = _entries(preferences, "preferences")
    existing = {*captured, *(_label(row) for row in rows)}
    retained, orphaned = _by_owner(unreferenced, existing)
    entries = [entry for objects in catalogs.values() for entry in objects]
    result: Result = {
        "generated_at": now,
        "teams": _states(rows, "team"),
        "namespaces": [
            {**group, "teams": sorted(teams[group["namespace"]] - {""})} for group in _states(rows, "namespace")
        ],
        "instancetypes": _users(rows, "instancetype", catalogs["instancetype"]),
        "preferences": _users(rows, "preference", catalogs["preference"]),
        "drift": {
            "by_age": _by_age(rows, now),
            "by_change": _by_change(rows),
            "refused": [_label(row) for row in rows if row["refusal"]],
        },
        "broken": _broken(rows),
        "restart_required": [_label(row) for row in rows if row["restart_required"]],
        "lost_in_snapshot": [_label(row) for row in rows if row["lost_in_snapshot"]],
        "unused": [entry for entry in entries if entry["used_by"] == []],
        "deprecated": [entry for entry in entries if entry["deprecated"]],
        "deprecated_in_use": _deprecated_in_use(rows),
        "orphaned_revisions": orphaned,
        "kept_revisions": retained,
        "capacity": capacities(capacity),
        "virtual_machines": rows,
    }
    return {"totals": _totals(result), **result}


def _by_owner(revisions: Iterable[Result], existing: Collection[str]) -> tuple[list[Result], list[Result]]:
    """The revisions of existing VMs, and the revisions of VMs that are gone. Raises AnsibleFilterError."""
    retained: list[Result] = []
    orphaned: list[Result] = []
    for index, revision in enumerate(revisions):
        _require(revision, ("namespace", "name", "virtual_machine"), f"unreferenced[{index}]")
        owner = f"{revision['namespace']}/{revision['virtual_machine']}"
        (retained if owner in existing else orphaned).append(dict(revision))
    return retained, orphaned


def capacities(capacity: Iterable[Result]) -> list[Result]:
    """The `instancetypes` of capacity_info, checked. Raises AnsibleFilterError."""
    entries = list(capacity)
    for index, entry in enumerate(entries):
        _require(entry, ("name", "fits", "node_count", "cluster_node_count", "additional_vms"), f"capacity[{index}]")
    return [{"problem": "", **entry} for entry in entries]


def _totals(result: Result) -> Result:
    rows = result["virtual_machines"]
    running = [row for row in rows if row["running"]]
    return {
        "virtual_machines": len(rows),
        "running": len(running),
        "vcpus": sum(row["vcpus"] or 0 for row in rows),
        "memory_bytes": sum(row["memory_bytes"] or 0 for row in rows),
        "vcpus_running": sum(row["vcpus_running"] or 0 for row in running),
        "memory_bytes_running": sum(row["memory_bytes_running"] or 0 for row in running),
        "drifted": sum(row["drifted"] for row in rows),
        "unknown": sum(row["unknown"] for row in rows),
        "problems": sum(bool(row["problem"]) for row in rows),
        "refused": len(result["drift"]["refused"]),
        "diagnosed": sum(bool(row["diagnosis"]) for row in rows),
        "broken": sum(len(group["virtual_machines"]) for group in result["broken"]),
        "restart_required": len(result["restart_required"]),
        "lost_in_snapshot": len(result["lost_in_snapshot"]),
        "unused": len(result["unused"]),
        "deprecated": len(result["deprecated"]),
        "deprecated_in_use": len(
            {label for group in result["deprecated_in_use"] for label in group["virtual_machines"]}
        ),
        "orphaned_revisions": len(result["orphaned_revisions"]),
        "kept_revisions": len(result["kept_revisions"]),
    }


def _row(vm: Result, captured: Result, team_label: str) -> Result:
    """A VM with its promised resources and what it needs."""
    parts = {matcher_field.name: vm.get(matcher_field.name) or {} for matcher_field in MATCHER_FIELDS}
    drifted = bool(vm["drifted"])
    guest = (vm.get("resources") or {}).get("guest") or {}
    vmi = vm.get("vmi") or {}
    running = bool(vmi) and vmi.get("phase") not in ENDED
    actual = vmi.get("guest") or {} if running else {}
    since = _drifts_since(parts.values()) if drifted else ""
    diagnosis = vm.get("diagnosis") or {}
    return {
        "namespace": vm["namespace"],
        "name": vm["name"],
        "team": (vm.get("labels") or {}).get(team_label, ""),
        **{matcher_field: _reference(part) for matcher_field, part in parts.items()},
        "status": vm.get("status", ""),
        "run_strategy": vm.get("run_strategy", ""),
        "running": running,
        "vcpus": guest.get("vcpus"),
        "memory_bytes": guest.get("memory_bytes"),
        "vcpus_running": actual.get("vcpus"),
        "memory_bytes_running": _bytes(actual.get("memory")),
        "drifted": drifted,
        "unknown": any(part.get("state") == drift.UNKNOWN for part in parts.values()),
        "drifts_since": since,
        "captured_at": min((part["captured_at"] for part in parts.values() if part.get("captured_at")), default=""),
        "changes": list(captured.get("changes") or []) if drifted else [],
        "needs": captured.get("needs", "") if drifted else "",
        "refusal": captured.get("refusal", "") if drifted else "",
        "diagnosis": diagnosis.get("state", ""),
        "broken_link": diagnosis.get("link", ""),
        "broken_problem": diagnosis.get("problem", ""),
        "restart_required": bool(vm.get("restart_required")),
        "restart_reason": vm.get("restart_reason", "") if vm.get("restart_required") else "",
        "lost_in_snapshot": SNAPSHOT in (vm.get("revisions_lost_by") or []),
        "problem": vm.get("problem", ""),
    }


def _reference(part: Result) -> Result | None:
    """The object to which a VM refers; None without one."""
    if not part:
        return None
    names = ("kind", "name", "revision", "state", "generation", "current_generation", "pinned")
    return {**{name: part.get(name) for name in names}, **{name: part.get(name) or "" for name in _STATE}}


def _drifts_since(parts: Iterable[Result]) -> str:
    """When the object from which the VM drifts last changed, so the least age of the drift; "" if unknown."""
    changed = [part.get("changed_at") or "" for part in parts if part.get("state") == drift.DRIFTED]
    return min((time for time in changed if time), default="")


def _states(rows: list[Result], name: str) -> list[Result]:
    """The VMs by `team` or `namespace`: how many are in which state, most VMs first; VMs without a team come last."""
    groups: dict[str, list[Result]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    result = [
        {
            name: key,
            "virtual_machines": len(members),
            "statuses": dict(Counter(row["status"] or UNKNOWN_STATE for row in members).most_common()),
            "drifted": sum(row["drifted"] for row in members),
            "refused": sum(bool(row["refusal"]) for row in members),
            "restart_required": sum(row["restart_required"] for row in members),
            "vcpus": sum(row["vcpus"] or 0 for row in members),
            "memory_bytes": sum(row["memory_bytes"] or 0 for row in members),
        }
        for key, members in groups.items()
    ]
    return sorted(result, key=lambda group: (not group[name], -group["virtual_machines"], group[name]))


def _users(rows: list[Result], matcher_field: str, entries: list[Result]) -> list[Result]:
    """The instancetypes or preferences that VMs use, most used first; VMs without one come last."""
    deprecated = {_key(entry) for entry in entries if entry["deprecated"]}
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for row in rows:
        reference = row[matcher_field]
        kind, name = (reference["kind"] or "", reference["name"] or "") if reference else ("", "")
        namespace = "" if not name or "Cluster" in kind else row["namespace"]
        groups.setdefault((kind, namespace, name), []).append(row)
    result = [
        {
            "kind": kind,
            "namespace": namespace,
            "name": name,
            "deprecated": (kind, namespace, name) in deprecated,
            "virtual_machines": len(members),
            "running": sum(row["running"] for row in members),
            "drifted": sum(_drifts_from(row, matcher_field) for row in members),
            "vcpus": sum(row["vcpus"] or 0 for row in members),
            "memory_bytes": sum(row["memory_bytes"] or 0 for row in members),
        }
        for (kind, namespace, name), members in groups.items()
    ]
    return sorted(
        result,
        key=lambda reference: (
            not reference["name"],
            -reference["virtual_machines"],
            reference["name"],
            reference["namespace"],
        ),
    )


def _deprecated_in_use(rows: list[Result]) -> list[Result]:
    """The VMs that use deprecated and obsolete objects, by namespace and object: obsolete ones first, then by date."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        for part in (row[matcher_field.name] for matcher_field in MATCHER_FIELDS):
            if part and part["object_state"] in (DEPRECATED, OBSOLETE):
                key = (row["namespace"], part["kind"], part["name"], *(part[name] for name in _STATE))
                groups.setdefault(key, []).append(_label(row))
    names = ("namespace", "kind", "name", *_STATE)
    result = [{**dict(zip(names, key)), "virtual_machines": labels} for key, labels in groups.items()]
    return sorted(
        result,
        key=lambda group: (
            group["object_state"] != OBSOLETE,
            group["obsolete_from"] or "9999",
            group["namespace"],
            group["name"],
        ),
    )


def _broken(rows: list[Result]) -> list[Result]:
    """The VMs that do not run as declared, by the first cause, the most common one first."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        if row["broken_link"]:
            groups.setdefault(row["broken_link"], []).append(_label(row))
    result = [{"link": link, "virtual_machines": labels} for link, labels in groups.items()]
    return sorted(result, key=lambda group: (-len(group["virtual_machines"]), group["link"]))


def _drifts_from(row: Result, matcher_field: str) -> bool:
    return bool(row[matcher_field]) and row[matcher_field]["state"] == drift.DRIFTED


def _by_age(rows: list[Result], now: str) -> list[Result]:
    counts = dict.fromkeys([*(name for name, _limit in AGES), UNKNOWN_AGE], 0)
    for row in rows:
        if row["drifted"]:
            counts[_age(row["drifts_since"], now)] += 1
    if not counts[UNKNOWN_AGE]:
        del counts[UNKNOWN_AGE]
    return [{"age": name, "virtual_machines": count} for name, count in counts.items()]


def _age(since: str, now: str) -> str:
    times = [timegm(tuple(map(int, match.groups()))) for match in map(_TIME.fullmatch, (since, now)) if match]
    if len(times) < 2:
        return UNKNOWN_AGE
    days = (times[1] - times[0]) / _SECONDS_A_DAY
    return next(name for name, limit in AGES if days < limit)


def _by_change(rows: list[Result]) -> list[Result]:
    """Drifting VMs grouped by the same change of their VMIs, largest group first."""
    groups: dict[str, Result] = {}
    for row in rows:
        if row["drifted"] and not row["refusal"]:
            key = json.dumps([row["changes"], row["needs"]], sort_keys=True)
            group = groups.setdefault(key, {"changes": row["changes"], "needs": row["needs"], "virtual_machines": []})
            group["virtual_machines"].append(_label(row))
    return sorted(groups.values(), key=lambda group: -len(group["virtual_machines"]))


def _entries(objects: Iterable[Result], option: str) -> list[Result]:
    """The rows of a report for instancetypes or preferences. used_by: None if unknown."""
    names = ("kind", "namespace", "name", "catalog", "catalog_version")
    result = []
    for index, item in enumerate(objects):
        _require(item, ("kind", "name"), f"{option}[{index}]")
        users = item.get("used_by")
        result.append(
            {
                **{name: item.get(name) or "" for name in names},
                "deprecated": bool(item.get("deprecated")),
                "used_by": None if users is None else list(users),
            }
        )
    return result


def _key(entry: Result) -> tuple[str, str, str]:
    return entry["kind"], entry["namespace"], entry["name"]


def _vms_by_label(vms: Iterable[Result], option: str) -> dict[str, Result]:
    result: dict[str, Result] = {}
    for index, vm in enumerate(vms):
        _require(vm, ("namespace", "name", "drifted"), f"{option}[{index}]")
        result[_label(vm)] = vm
    return dict(sorted(result.items()))


def _require(item: Any, names: tuple[str, ...], where: str) -> None:
    if not isinstance(item, Mapping):
        raise AnsibleFilterError(f"{where}: expected an entry of a module's result, found {item!r}")
    missing = [name for name in names if name not in item]
    if missing:
        raise AnsibleFilterError(f"{where}: {missing[0]} is missing; pass the module's result unchanged")


def _label(vm: Mapping[str, Any]) -> str:
    return f"{vm['namespace']}/{vm['name']}"


def _bytes(memory: Any) -> int | None:
    try:
        return parse(memory).value if memory else None
    except QuantityError:
        return None
