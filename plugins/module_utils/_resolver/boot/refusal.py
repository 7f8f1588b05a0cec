"""How CDI's webhooks refuse an object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

INVALID: Final = "FieldValueInvalid"
DUPLICATE: Final = "FieldValueDuplicate"
_UNPROCESSABLE: Final = 422
_BAD_REQUEST: Final = 400


class Cause(NamedTuple):
    """One thing that is wrong. field: where, in CDI's spelling, which is not always the field's own; "" without one."""

    message: str
    field: str = ""
    reason: str = INVALID


class Refusal(NamedTuple):
    """An answer of a webhook.

    code: HTTP status. message: that of each cause after a space. causes: empty for an object that cannot be read.
    """

    code: int
    message: str
    causes: tuple[Cause, ...] = ()


def refused(causes: Sequence[Cause]) -> Refusal | None:
    """The refusal for these causes, None without any (``toRejectedAdmissionResponse``)."""
    if not causes:
        return None
    return Refusal(_UNPROCESSABLE, "".join(f" {cause.message}" for cause in causes), tuple(causes))


def unreadable(message: str) -> Refusal:
    """The refusal of an object that CDI cannot read."""
    return Refusal(_BAD_REQUEST, message)


def too_long(name: str, most: int) -> list[Cause]:
    """What is wrong with the length of a name, in bytes."""
    if len(name.encode()) <= most:
        return []
    return [Cause(f"Name cannot be longer than {most} characters")]
