"""How a task that writes runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The options of the doc fragments `wait` and `dry_run`. take_over: see `declare.take_over`; None for nobody."""

    check_mode: bool = False
    server_dry_run: bool = True
    wait: bool = False
    wait_timeout: float = 120
    concurrency: int = 16
    preflight: str = "strict"
    fail_fast: bool = False
    force_conflicts: bool = False
    take_over: Callable[[str], bool] | None = None
