"""The filter _fleet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from typing import Any

from ansible.errors import AnsibleFilterError

from .._filters import check_option
from .._fleet_summary import TEAM_LABEL, FleetError, summary

_TIME = "%Y-%m-%dT%H:%M:%SZ"


def fleet(
    value: Any,
    revisions: Any = (),
    unreferenced: Any = (),
    instancetypes: Any = (),
    preferences: Any = (),
    capacity: Any = (),
    now: Any = None,
    team_label: Any = TEAM_LABEL,
) -> dict[str, Any]:
    """See its documentation."""
    lists = {
        "_input": value,
        "revisions": revisions,
        "unreferenced": unreferenced,
        "instancetypes": instancetypes,
        "preferences": preferences,
    }
    for option, entries in {**lists, "capacity": capacity}.items():
        if isinstance(entries, (str, Mapping)) or not isinstance(entries, Iterable):
            raise AnsibleFilterError(f"_fleet: {option}: expected a list of what a module returned, found {entries!r}")
    time = check_option("_fleet", "now", now, _moment)
    try:
        return summary(*lists.values(), time, capacity, str(team_label))
    except FleetError as error:
        raise AnsibleFilterError(f"_fleet: {error}") from error


def _moment(value: Any) -> str:
    if value is None:
        return datetime.now(timezone.utc).strftime(_TIME)
    try:
        return datetime.strptime(str(value), _TIME).strftime(_TIME)
    except ValueError:
        raise ValueError(f"{value!r} is not a time; write a time such as 2026-03-01T08:00:00Z") from None
