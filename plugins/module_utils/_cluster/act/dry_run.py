"""Dry runs of writes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from ..._resolver.api.kinds import Kind
from ..client.errors import ApiError, ConnectionFailed, explain, lacks_right

UNKNOWN_IN_CHECK_MODE = "check mode cannot tell whether an earlier task of the play creates it"

_NOT_FOUND = re.compile(r'"[^"]+" not found')
NO_DRY_RUN = "does not support dry run"
"""What the API server says if a webhook takes no dry runs."""


class Foreseen(NamedTuple):
    """The result of a dry run. refused: why the API server would reject the object, or None.
    unknown: why a dry run cannot answer that, or None.
    """

    refused: str | None = None
    unknown: str | None = None


def foreseen(ask: Callable[[], Any], verb: str, kind: Kind) -> Foreseen:
    """The result of a dry run. ask: sends it. verb, kind: see `explain`."""
    try:
        ask()
    except ConnectionFailed as error:
        return Foreseen(refused=str(error))
    except ApiError as error:
        told = explain(error, verb, kind)
        if _NOT_FOUND.search(error.message):
            return Foreseen(unknown=f"{told}; {UNKNOWN_IN_CHECK_MODE}")
        if lacks_right(error) or NO_DRY_RUN in error.message:
            return Foreseen(unknown=f"the dry run could not check the object: {told}")
        return Foreseen(refused=told)
    return Foreseen()
