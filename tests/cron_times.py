"""The next times of a schedule, as robfig/cron finds them: they show what the parser has read."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.cdi.schedule import Schedule

# robfig/cron does not search further, for example for a 29 February that is a Monday.
_YEARS = 5


def next_time(schedule: Schedule, after: datetime) -> datetime | None:
    """The schedule's first time after a given time in its zone; None if it is never due."""
    moment = after.replace(microsecond=0)
    if schedule.every is not None:
        return _later(moment, schedule.every)
    moment = _later(moment, 1)
    last = moment.year + _YEARS
    while moment.year <= last:
        if moment.month not in schedule.months:
            moment = _midnight(moment.replace(day=1) + timedelta(days=32)).replace(day=1)
        elif not _is_day(schedule, moment):
            moment = _midnight(moment + timedelta(days=1))
        elif moment.hour not in schedule.hours:
            moment = _later(moment.replace(minute=0, second=0), 3600)
        elif moment.minute not in schedule.minutes or moment.second:
            moment = _later(moment.replace(second=0), 60)
        else:
            return moment
    return None


def _is_day(schedule: Schedule, moment: datetime) -> bool:
    matches_day, matches_weekday = moment.day in schedule.days, moment.isoweekday() % 7 in schedule.weekdays
    return (matches_day or matches_weekday) if schedule.either_day else (matches_day and matches_weekday)


def _midnight(moment: datetime) -> datetime:
    """The beginning of the day; an hour that daylight saving time skips becomes the next hour."""
    return _later(moment.replace(hour=0, minute=0, second=0), 0)


def _later(moment: datetime, seconds: int) -> datetime:
    """A later time by elapsed seconds, which differ from local time at changes of daylight saving time."""
    return (moment.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(moment.tzinfo)
