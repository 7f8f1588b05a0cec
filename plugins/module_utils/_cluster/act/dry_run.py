"""Dry runs of writes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError, ConnectionFailed, explain, lacks_right
from .engine import Outcome

UNKNOWN_IN_CHECK_MODE: Final = "check mode cannot tell whether an earlier task of the play creates it"
_NOT_FOUND: Final = re.compile(r'"([^"]+)" not found')
NO_DRY_RUN: Final = "does not support dry run"
"""What the API server says if a webhook takes no dry runs."""


class Warned(Outcome, Protocol):
    """warnings: what the user should know beside a failure."""

    warnings: list[str]


def rehearse(outcome: Warned, ask: Callable[[], Any], verb: str, kind: Kind) -> None:
    """Sends dry runs: schemas, policies, quotas and webhooks apply, but nothing is stored.

    What the API server would reject is a failure, and what a dry run cannot tell a warning. ask: sends them. verb,
    kind: see `explain`.
    """
    try:
        ask()
    except ConnectionFailed as error:
        outcome.failed = str(error)
    except ApiError as error:
        told = explain(error, verb, kind)
        if absent := _NOT_FOUND.search(error.message):
            if not _is_named(absent[1], outcome.warnings):
                outcome.warnings.append(f"{told}; {UNKNOWN_IN_CHECK_MODE}")
        elif lacks_right(error) or NO_DRY_RUN in error.message:
            outcome.warnings.append(f"the dry run could not check the object: {told}")
        else:
            outcome.failed = told


def _is_named(absent: str, warnings: Iterable[str]) -> bool:
    """Whether a warning already names the missing object because of which a dry run could not answer."""
    known = (warning for warning in warnings if warning.endswith(UNKNOWN_IN_CHECK_MODE))
    return any(absent in re.split(r"[^\w.-]+", warning) for warning in known)
