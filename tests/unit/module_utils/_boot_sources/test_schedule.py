"""Schedules; the expected values are from robfig/cron v3.0.1."""

import pytest

from plugins.module_utils._boot_sources.cdi_parsers import is_schedule


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
    assert is_schedule(text, {"Europe/Berlin"})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1-2-3 * * * *",
        "1/2/3 * * * *",
        "1/-2 * * * *",
        "1/0 * * * *",
        "5-1 * * * *",
        "1-x * * * *",
        "-1 * * * *",
        "60 * * * *",
        f"{2**63} * * * *",
        f"{'1' * 101} * * * *",
        "@often",
        "@every 1",
        "@every 1d",
        "@every .h",
        "@every ",
        "@every µ",
        "@every 9999999h",
        "TZ=../x * * * * *",
        "TZ=Nowhere * * * * *",
    ],
)
def test_invalid_schedules(text: str) -> None:
    assert not is_schedule(text, {"Europe/Berlin"})
