"""Schedules; the expected values are from robfig/cron v3.0.1."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from cron_times import next_time

from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.api.errors import Panic
from ansible_collections.virtshape.instancetypes.plugins.module_utils._resolver.cdi.schedule import ScheduleError, parse

START = "2026-01-15T10:07:30+00:00"


def times(text: str, start: str = START, zone: str = "UTC", count: int = 2) -> list[str]:
    results = []
    moment: datetime | None = datetime.fromisoformat(start).astimezone(ZoneInfo(zone))
    for _time in range(count):
        assert moment is not None
        moment = next_time(parse(text), moment)
        results.append(moment.astimezone(ZoneInfo("UTC")).isoformat() if moment else "never")
    return results


@pytest.mark.parametrize(
    ("text", "first", "second"),
    [
        ("0 0 * dec sun", "2026-12-06T00:00:00+00:00", "2026-12-13T00:00:00+00:00"),
        ("30/15 10-11 * * *", "2026-01-15T10:30:00+00:00", "2026-01-15T10:45:00+00:00"),
        # A star with a step restricts the day, so either an odd day or a Monday is enough.
        ("0 0 */2 * 1", "2026-01-17T00:00:00+00:00", "2026-01-19T00:00:00+00:00"),
        ("0 0 13 * 5", "2026-01-16T00:00:00+00:00", "2026-01-23T00:00:00+00:00"),
        ("@every 1.5h2m", "2026-01-15T11:39:30+00:00", "2026-01-15T13:11:30+00:00"),
        ("@every 90.9s", "2026-01-15T10:09:00+00:00", "2026-01-15T10:10:30+00:00"),
        ("@every 0", "2026-01-15T10:07:31+00:00", "2026-01-15T10:07:32+00:00"),
        ("@every +1m", "2026-01-15T10:08:30+00:00", "2026-01-15T10:09:30+00:00"),
    ],
)
def test_next_times(text: str, first: str, second: str) -> None:
    assert times(text) == [first, second]


def test_daylight_saving_time_skips_and_repeats_hours() -> None:
    assert times("TZ=Europe/Berlin 30 2 * * *", "2026-03-28T12:00:00+00:00", "Europe/Berlin") == [
        "2026-03-30T00:30:00+00:00",
        "2026-03-31T00:30:00+00:00",
    ]
    assert times("TZ=America/Sao_Paulo 0 0 * * *", "2018-11-03T12:00:00+00:00", "America/Sao_Paulo") == [
        "2018-11-05T02:00:00+00:00",
        "2018-11-06T02:00:00+00:00",
    ]


def test_impossible_days_are_never_due() -> None:
    assert times("0 0 30 2 *", count=1) == ["never"]
    assert times(", * * * *", count=1) == ["never"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("1/-2 * * * *", "negative number (-2) not allowed: -2"),
        ("1-x * * * *", 'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax'),
        ("-1 * * * *", 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'),
        (f"{2**63} * * * *", f'failed to parse int from {2**63}: strconv.Atoi: parsing "{2**63}": value out of range'),
        ("@every 1", 'failed to parse duration @every 1: time: missing unit in duration "1"'),
        ("@every 1d", 'failed to parse duration @every 1d: time: unknown unit "d" in duration "1d"'),
        ("@every .h", 'failed to parse duration @every .h: time: invalid duration ".h"'),
        ("@every ", 'failed to parse duration @every : time: invalid duration ""'),
        ("@every µ", 'failed to parse duration @every µ: time: invalid duration "\\xc2\\xb5"'),
        ("@every 9999999h", 'failed to parse duration @every 9999999h: time: invalid duration "9999999h"'),
        ("TZ=../x * * * * *", "provided bad location ../x: time: invalid location name"),
        ("TZ=Nowhere * * * * *", "provided bad location Nowhere: unknown time zone Nowhere"),
    ],
)
def test_invalid_schedules_raise(text: str, message: str) -> None:
    with pytest.raises(ScheduleError) as error:
        parse(text, {"Europe/Berlin"})
    assert str(error.value) == message


def test_time_zone_of_a_schedule() -> None:
    assert parse("TZ=Europe/Berlin @daily", {"Europe/Berlin"}).zone == "Europe/Berlin"
    assert parse("CRON_TZ= @daily", set()).zone == ""
    assert parse("@daily").zone is None
    with pytest.raises(Panic):
        parse("TZ=UTC")
