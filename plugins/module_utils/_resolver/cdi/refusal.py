"""Refusals of CDI's webhooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

INVALID: Final = "FieldValueInvalid"
DUPLICATE: Final = "FieldValueDuplicate"
_UNPROCESSABLE: Final = 422
_BAD_REQUEST: Final = 400


class Cause(NamedTuple):
    """An error. field: in CDI's spelling, which may differ from the field's name; "" without one."""

    message: str
    field: str = ""
    reason: str = INVALID


class Refusal(NamedTuple):
    """A webhook's refusal.

    code: HTTP status. message: the messages of the causes, each after a space. causes: empty for an unreadable object.
    """

    code: int
    message: str
    causes: tuple[Cause, ...] = ()


def refused(causes: Sequence[Cause]) -> Refusal | None:
    """The refusal for these causes; None without any (``toRejectedAdmissionResponse``)."""
    if not causes:
        return None
    return Refusal(_UNPROCESSABLE, "".join(f" {cause.message}" for cause in causes), tuple(causes))


def unreadable(message: str) -> Refusal:
    """The refusal of an object that CDI cannot parse."""
    return Refusal(_BAD_REQUEST, message)


def too_long(name: str, maximum: int) -> list[Cause]:
    """The cause if a name is too long, in bytes."""
    if len(name.encode()) <= maximum:
        return []
    return [Cause(f"Name cannot be longer than {maximum} characters")]
