"""Maintenance windows and deadlines: whether work may begin now."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, Final, NamedTuple

from .._resolver.api.errors import FieldError
from .._resolver.api.name_rules import quoted

DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME: Final = re.compile(r"(\d\d):(\d\d)")
_MIDNIGHT: Final = 24 * 60
# Days in which each window begins again, also where a change of the clock leaves it out once.
_HORIZON: Final = 18


class Window(NamedTuple):
    """A time that comes again: the weekdays on which it begins (0 is Monday), begin and end in minutes of the clock."""

    days: frozenset[int]
    begin: int
    end: int

    def interval(self, day: date, zone: tzinfo) -> tuple[datetime, datetime]:
        """Begin and end, in UTC. A time that the clock shows twice is the first; where it skips one, what it would be
        without the change."""
        over_midnight = self.end <= self.begin
        return _utc_time(day, self.begin, zone), _utc_time(day + timedelta(over_midnight), self.end, zone)


class MaintenanceSchedule(NamedTuple):
    """The maintenance windows of a rollout. deadline: the time of day by which its batches must end, in minutes."""

    windows: list[Window]
    deadline: int | None
    zone: tzinfo
    zone_name: str

    def refusal(self, start: datetime, now: datetime, seconds: float) -> str:
        """Why work of this many seconds may not begin now, or "". The deadline is the first one after the start.

        start, now: times with a time zone.
        """
        over = now + timedelta(seconds=seconds)
        too_long = f"and a batch may take {seconds:.0f} s"
        if self.deadline is not None:
            deadline = self._first_after(start, self.deadline)
            if over > deadline:
                return f"the deadline is {self._shown(deadline)}, {too_long}"
        if not self.windows:
            return ""
        spans = self._spans(now)
        end = next((end for begin, end in spans if begin <= now < end), None)
        if end is not None and over <= end:
            return ""
        following = next((f"; the next one begins {self._shown(begin)}" for begin, _end in spans if begin > now), "")
        if end is None:
            return f"no maintenance window is open{following}"
        return f"the maintenance window ends {self._shown(end)}, {too_long}{following}"

    def _first_after(self, start: datetime, minutes: int) -> datetime:
        day = start.astimezone(self.zone).date()
        days = (day + timedelta(number) for number in range(_HORIZON))
        return next(moment for one in days if (moment := _utc_time(one, minutes, self.zone)) > start)

    def _spans(self, now: datetime) -> list[tuple[datetime, datetime]]:
        """The times of all windows from now on, in order; windows that touch are one."""
        first = now.astimezone(self.zone).date() - timedelta(2)
        days = [first + timedelta(number) for number in range(_HORIZON)]
        spans = sorted(
            window.interval(day, self.zone) for day in days for window in self.windows if day.weekday() in window.days
        )
        merged: list[tuple[datetime, datetime]] = []
        for begin, end in spans:
            if begin >= end:
                continue
            if merged and begin <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((begin, end))
        return merged

    def _shown(self, moment: datetime) -> str:
        local = moment.astimezone(self.zone)
        # Python names days in the user's language.
        return f"{DAYS[local.weekday()][:3].title()} {local:%Y-%m-%d %H:%M} {self.zone_name}"


def schedule(windows: Any, deadline: Any, zone: tzinfo, zone_name: str) -> MaintenanceSchedule:
    """The schedule of the variables of a role, without their prefix.

    windows: a list of mappings with `from`, `to` and optionally `days`; None for none. deadline: a time or "". zone:
    the time zone of both. zone_name: the name of the zone in messages.
    Raises FieldError.
    """
    if not isinstance(windows, (list, type(None))):
        raise FieldError("windows", f"is {quoted(windows)}; write a list of windows")
    return MaintenanceSchedule(
        [_window(f"windows[{index}]", entry) for index, entry in enumerate(windows or [])],
        None if deadline in (None, "") else _minutes("deadline", deadline),
        zone,
        zone_name,
    )


def _window(place: str, entry: Any) -> Window:
    if not isinstance(entry, Mapping):
        raise FieldError(place, f"is {quoted(entry)}; write days, from and to")
    unknown = [name for name in entry if name not in ("days", "from", "to")]
    if unknown:
        raise FieldError(f"{place}: {unknown[0]}", "is unknown; write days, from and to")
    missing = [name for name in ("from", "to") if name not in entry]
    if missing:
        raise FieldError(f"{place}: {missing[0]}", "is missing; write a time, such as '22:00'")
    begin, end = (_minutes(f"{place}: {name}", entry[name], last) for name, last in (("from", 0), ("to", 1)))
    if begin == end:
        raise FieldError(
            place, f"from and to are both {entry['to']}; for a whole day write from: '00:00' and to: '24:00'"
        )
    return Window(_days(f"{place}: days", entry.get("days")), begin, end)


def _days(place: str, days: Any) -> frozenset[int]:
    if days is None:
        return frozenset(range(7))
    listed = days if isinstance(days, list) else [days]
    numbers = {_day(place, name) for name in listed}
    if not numbers:
        raise FieldError(place, "is empty; name days, or leave it out for all of them")
    return frozenset(numbers)


def _day(place: str, name: Any) -> int:
    text = str(name).strip().lower()
    for number, day in enumerate(DAYS):
        if text in (day, day[:3]):
            return number
    raise FieldError(place, f"{quoted(name)} is not a day; write {', '.join(day[:3] for day in DAYS)}")


def _minutes(place: str, value: Any, last: int = 0) -> int:
    """A time of the clock in minutes; with `last` also 24:00."""
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    minutes = int(match[1]) * 60 + int(match[2]) if match and int(match[2]) < 60 else -1
    if not 0 <= minutes < _MIDNIGHT + last:
        # YAML takes 22:00 without quotes for a number.
        raise FieldError(place, f"is {quoted(value)}; write a time from 00:00 to 23:59, in quotes, such as '22:00'")
    return minutes


def _utc_time(day: date, minutes: int, zone: tzinfo) -> datetime:
    """A time of a day in a zone, as UTC. minutes: since midnight, possibly of a later day."""
    day, minutes = day + timedelta(minutes // _MIDNIGHT), minutes % _MIDNIGHT
    local = datetime(day.year, day.month, day.day, minutes // 60, minutes % 60, tzinfo=zone)
    return local.astimezone(timezone.utc)
