"""Schedules; the expected values are from robfig/cron v3.0.1."""

import pytest

from plugins.module_utils._boot_sources.cdi_parsers import ScheduleError, check_schedule
from plugins.module_utils._resolver.api.errors import Panic


@pytest.mark.parametrize(
    "text",
    [
        "0 0 * dec sun",
        "30/15 10-11 * * *",
        "0 0 */2 * 1",
        "0 0 30 2 *",
        ", * * * *",
        "@every 1.5h2m",
        "@every 90.9s",
        "@every 0",
        "@every +1m",
        "TZ=Europe/Berlin @daily",
        "CRON_TZ= @daily",
    ],
)
def test_valid_schedules(text: str) -> None:
    check_schedule(text, {"Europe/Berlin"})


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
        check_schedule(text, {"Europe/Berlin"})
    assert str(error.value) == message


def test_parser_panics_for_a_zone_alone() -> None:
    with pytest.raises(Panic):
        check_schedule("TZ=UTC")
