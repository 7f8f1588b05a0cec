"""The options that capacity adds to a task that declares VMs."""

from __future__ import annotations

from typing import Final

from .._resolver.declare.option_rows import Row, Table, choice

QUOTA: Final = "preflight_quota"
PLACEMENT: Final = "preflight_placement"

CAPACITY: Final = Table(
    settings=dict.fromkeys((QUOTA, PLACEMENT), Row(choice("strict", "warn", "off", default="off"))),
)
