"""The filters of what users say of a role: misspelt variables, answers of a survey, maintenance windows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone, tzinfo
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import yaml
from ansible.errors import AnsibleError

from ...module_utils._resolver.api.names import nearest, shown

_OWN = "; a variable of your own needs another prefix"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_TIME = re.compile(r"(\d\d):(\d\d)")
_MIDNIGHT = 24 * 60
# Days in which each window begins again, also where a change of the clock leaves it out once.
_HORIZON = 18


def unknown(value: Iterable[str], of: str, known: Iterable[str], near: bool = False) -> list[str]:
    """See its documentation."""
    prefix = f"{of.split()[-1]}_"
    names = list(known)
    hints = {name: nearest(name, names, prefix) for name in sorted(set(value) - set(names))}
    return [
        f"{name} is not a variable of the {of}{hint}{'' if '?' in hint else _OWN}"
        for name, hint in hints.items()
        if "?" in hint or not near
    ]


def survey(value: Any, separator: str | None = None) -> str | list[str]:
    """See its documentation. Strings keep their mark as unsafe."""
    if separator is None:
        return _text(value)
    if isinstance(value, (list, tuple)):
        texts = [_text(entry) for entry in value]
    else:
        text = _text(value)
        texts = [part.strip() for part in text.split(separator)] if separator else [text]
    return [entry for entry in texts if entry]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        raise AnsibleError(
            f"expected a text, found the boolean {str(value).lower()}; YAML reads a bare on, off, yes, no, "
            "true and false as booleans: write such a name in a list, with a comma after it"
        )
    if isinstance(value, (int, float, date)):
        return str(value)
    raise AnsibleError(f"expected a text, found {value!r}")


def window(
    windows: Any, deadline: Any, time_zone: Any, start: str = "", now: str = "", seconds: Any = 0
) -> dict[str, str]:
    """See its documentation."""
    try:
        planned = schedule(windows, deadline, time_zone)
    except WindowError as error:
        return {"bad_input": str(error), "refusal": ""}
    refusal = planned.refusal(_utc(start or now), _utc(now), float(seconds)) if now else ""
    return {"bad_input": "", "refusal": refusal}


def _utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


class WindowError(ValueError):
    """Bad input, in one line that begins with the place in the input."""


class Window(NamedTuple):
    """A time that comes again: the weekdays on which it begins (0 is Monday), begin and end in minutes of the clock."""

    days: frozenset[int]
    begin: int
    end: int

    def interval(self, day: date, zone: tzinfo) -> tuple[datetime, datetime]:
        """Begin and end, in UTC. A time that the clock shows twice is the first; where it skips one, what it would be
        without the change."""
        over_midnight = self.end <= self.begin
        return _moment(day, self.begin, zone), _moment(day + timedelta(over_midnight), self.end, zone)


class MaintenanceSchedule(NamedTuple):
    windows: list[Window]
    deadline: int | None
    """In minutes of the clock."""
    zone: tzinfo
    zone_name: str

    def refusal(self, start: datetime, now: datetime, seconds: float) -> str:
        """Why work of this many seconds may not begin now, or "". The deadline is the first one after the start.

        start, now: with a time zone.
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
        return next(moment for one in days if (moment := _moment(one, minutes, self.zone)) > start)

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
        # Python's names of days are those of the user's language.
        return f"{DAYS[local.weekday()][:3].title()} {local:%Y-%m-%d %H:%M} {self.zone_name}"


def schedule(windows: Any, deadline: Any, time_zone: Any) -> MaintenanceSchedule:
    """The schedule of the variables of a role, without their prefix.

    windows: mappings with `from`, `to` and optionally `days`, or a text of them in YAML, as the command line and a
        survey give it. deadline: a time or "". time_zone: a name of the IANA database.

    Raises WindowError.
    """
    zone_name = str(time_zone or "").strip() or "UTC"
    return MaintenanceSchedule(
        [_window(f"windows[{index}]", entry) for index, entry in enumerate(_entries(windows))],
        None if deadline in (None, "") else _minutes("deadline", deadline),
        _zone(zone_name),
        zone_name,
    )


def _entries(windows: Any) -> list[Any]:
    if isinstance(windows, str):
        try:
            windows = yaml.safe_load(windows)
        except yaml.YAMLError:
            raise WindowError("windows: is not YAML; write a list of windows") from None
    if not isinstance(windows, (list, type(None))):
        raise WindowError(f"windows: is {shown(windows)}; write a list of windows")
    return windows or []


def _window(place: str, entry: Any) -> Window:
    if not isinstance(entry, Mapping):
        raise WindowError(f"{place}: is {shown(entry)}; write days, from and to")
    unknown = [name for name in entry if name not in ("days", "from", "to")]
    if unknown:
        raise WindowError(f"{place}: {unknown[0]}: is unknown; write days, from and to")
    missing = [name for name in ("from", "to") if name not in entry]
    if missing:
        raise WindowError(f"{place}: {missing[0]}: is missing; write a time, such as '22:00'")
    begin, end = (_minutes(f"{place}: {name}", entry[name], last) for name, last in (("from", 0), ("to", 1)))
    if begin == end:
        raise WindowError(
            f"{place}: from and to are both {entry['to']}; for a whole day write from: '00:00' and to: '24:00'"
        )
    return Window(_days(f"{place}: days", entry.get("days")), begin, end)


def _days(place: str, days: Any) -> frozenset[int]:
    if days is None:
        return frozenset(range(7))
    listed = days if isinstance(days, list) else [days]
    numbers = {_day(place, name) for name in listed}
    if not numbers:
        raise WindowError(f"{place}: is empty; name days, or leave it out for all of them")
    return frozenset(numbers)


def _day(place: str, name: Any) -> int:
    text = str(name).strip().lower()
    for number, day in enumerate(DAYS):
        if text in (day, day[:3]):
            return number
    raise WindowError(f"{place}: {shown(name)} is not a day; write {', '.join(day[:3] for day in DAYS)}")


def _minutes(place: str, value: Any, last: int = 0) -> int:
    """A time of the clock in minutes; with `last` also 24:00."""
    match = _TIME.fullmatch(value.strip()) if isinstance(value, str) else None
    minutes = int(match[1]) * 60 + int(match[2]) if match and int(match[2]) < 60 else -1
    if not 0 <= minutes < _MIDNIGHT + last:
        # YAML takes 22:00 without quotes for a number.
        raise WindowError(f"{place}: is {shown(value)}; write a time from 00:00 to 23:59, in quotes, such as '22:00'")
    return minutes


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return timezone.utc
    try:
        return ZoneInfo(name)
    # A name that is no path, a folder of the database, or none of it.
    except (ValueError, OSError, KeyError):
        raise WindowError(
            f"time_zone: {shown(name)} is unknown; write a name of the IANA database, such as Europe/Berlin. Where "
            "the package tzdata is not installed, only UTC is known"
        ) from None


def _moment(day: date, minutes: int, zone: tzinfo) -> datetime:
    """What the clock of a zone shows on a day, in UTC."""
    day, minutes = day + timedelta(minutes // _MIDNIGHT), minutes % _MIDNIGHT
    local = datetime(day.year, day.month, day.day, minutes // 60, minutes % 60, tzinfo=zone)
    return local.astimezone(timezone.utc)
