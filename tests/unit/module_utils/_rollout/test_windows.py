"""Maintenance windows: when work may begin, with days, midnight, time zones and changes of the clock."""

from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from plugins.module_utils._resolver.api.errors import FieldError
from plugins.module_utils._rollout.windows import schedule

BERLIN = "Europe/Berlin"
DAILY = [{"from": "22:00", "to": "04:00"}]
WEEKEND = [{"days": ["fri", "Saturday"], "from": "22:00", "to": "04:00"}]
ALL_DAY = [{"from": "00:00", "to": "24:00"}]


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


def refusal(windows: Any, now: str, seconds: float = 60, zone: str = "UTC", deadline: Any = "", start: str = "") -> str:
    return schedule(windows, deadline, ZoneInfo(zone), zone).refusal(utc(start or now), utc(now), seconds)


@pytest.mark.parametrize(
    ("windows", "now", "zone"),
    [
        ([], "2026-05-01 12:00", "UTC"),
        (None, "2026-05-01 12:00", "UTC"),
        (DAILY, "2026-05-01 22:00", "UTC"),
        (DAILY, "2026-05-02 03:59", "UTC"),
        (DAILY, "2026-05-01 20:00", BERLIN),
        (DAILY, "2026-01-15 21:00", BERLIN),
        # A window over midnight belongs to the day on which it begins: Friday the 1st.
        (WEEKEND, "2026-05-01 22:00", "UTC"),
        (WEEKEND, "2026-05-03 03:00", "UTC"),
        ([{"days": "fri", "from": "22:00", "to": "04:00"}], "2026-05-01 22:00", "UTC"),
        # Windows that touch are one.
        (ALL_DAY, "2026-05-01 23:59:30", "UTC"),
        ([{"from": "22:00", "to": "24:00"}, {"from": "00:00", "to": "01:00"}], "2026-05-01 23:59:30", "UTC"),
        ([{"from": "22:00", "to": "23:00"}, {"from": "22:30", "to": "22:45"}], "2026-05-01 22:58", "UTC"),
        # The clock goes back from 3 to 2 on 2026-10-25: the window has an hour more.
        ([{"from": "01:00", "to": "04:00"}], "2026-10-25 02:58", BERLIN),
        # It goes from 2 to 3 on 2026-03-29.
        ([{"from": "02:30", "to": "04:00"}], "2026-03-29 01:30", BERLIN),
    ],
)
def test_work_may_begin(windows: Any, now: str, zone: str) -> None:
    assert refusal(windows, now, zone=zone) == ""


@pytest.mark.parametrize(
    ("windows", "now", "zone", "following"),
    [
        (DAILY, "2026-05-01 12:00", "UTC", "Fri 2026-05-01 22:00 UTC"),
        (DAILY, "2026-05-02 04:00", "UTC", "Sat 2026-05-02 22:00 UTC"),
        (DAILY, "2026-05-01 19:59", BERLIN, "Fri 2026-05-01 22:00 Europe/Berlin"),
        (WEEKEND, "2026-05-01 03:00", "UTC", "Fri 2026-05-01 22:00 UTC"),
        (WEEKEND, "2026-05-03 22:00", "UTC", "Fri 2026-05-08 22:00 UTC"),
        # That night has no time between 02:30 and 03:00.
        (
            [{"days": ["sun"], "from": "02:30", "to": "03:00"}],
            "2026-03-22 12:00",
            BERLIN,
            "Sun 2026-04-05 02:30 Europe/Berlin",
        ),
        # The clock shows 02:30 twice: the window ends at the first.
        ([{"from": "01:00", "to": "02:30"}], "2026-10-25 00:31", BERLIN, "Mon 2026-10-26 01:00 Europe/Berlin"),
    ],
)
def test_no_window_is_open(windows: Any, now: str, zone: str, following: str) -> None:
    assert refusal(windows, now, zone=zone) == f"no maintenance window is open; the next one begins {following}"


def test_work_has_to_end_in_the_window() -> None:
    assert refusal(DAILY, "2026-05-02 03:53", 420) == ""
    assert refusal(DAILY, "2026-05-02 03:53:01", 420) == (
        "the maintenance window ends Sat 2026-05-02 04:00 UTC, and a batch may take 420 s; "
        "the next one begins Sat 2026-05-02 22:00 UTC"
    )


def test_deadline_is_the_first_after_the_start() -> None:
    message = "the deadline is Sat 2026-05-02 06:00 Europe/Berlin, and a batch may take 60 s"
    for now, said in (("2026-05-02 03:59", ""), ("2026-05-02 03:59:01", message), ("2026-05-02 05:00", message)):
        assert refusal([], now, zone=BERLIN, deadline="06:00", start="2026-05-01 22:00") == said
    assert refusal(ALL_DAY, "2026-05-02 04:00", zone=BERLIN, deadline="06:00") == ""


@pytest.mark.parametrize(
    ("windows", "deadline", "message"),
    [
        ("fri", "", "windows: is 'fri'; write a list of windows"),
        (["fri"], "", "windows[0]: is 'fri'; write days, from and to"),
        ([{"form": "22:00"}], "", "windows[0]: form: is unknown; write days, from and to"),
        ([*DAILY, {"from": "22:00"}], "", "windows[1]: to: is missing; write a time, such as '22:00'"),
        (
            [{"from": "25:00", "to": "04:00"}],
            "",
            "windows[0]: from: is '25:00'; write a time from 00:00 to 23:59, in quotes, such as '22:00'",
        ),
        (
            [{"from": 1320, "to": "23:00"}],
            "",
            "windows[0]: from: is 1320; write a time from 00:00 to 23:59, in quotes, such as '22:00'",
        ),
        (
            [{"from": "24:00", "to": "04:00"}],
            "",
            "windows[0]: from: is '24:00'; write a time from 00:00 to 23:59, in quotes, such as '22:00'",
        ),
        (
            [{"from": "22:00", "to": "22:00"}],
            "",
            "windows[0]: from and to are both 22:00; for a whole day write from: '00:00' and to: '24:00'",
        ),
        (
            [{**DAILY[0], "days": ["caturday"]}],
            "",
            "windows[0]: days: 'caturday' is not a day; write mon, tue, wed, thu, fri, sat, sun",
        ),
        ([{**DAILY[0], "days": []}], "", "windows[0]: days: is empty; name days, or leave it out for all of them"),
        (
            [],
            "6:00",
            "deadline: is '6:00'; write a time from 00:00 to 23:59, in quotes, such as '22:00'",
        ),
        ([], "12:60", "deadline: is '12:60'; write a time from 00:00 to 23:59, in quotes, such as '22:00'"),
    ],
)
def test_invalid_input_is_one_line(windows: Any, deadline: str, message: str) -> None:
    with pytest.raises(FieldError) as error:
        schedule(windows, deadline, timezone.utc, "UTC")
    assert str(error.value) == message
