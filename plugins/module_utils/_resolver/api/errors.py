"""What stops a computation in KubeVirt itself, and how it says so."""

from __future__ import annotations

from .quantity import QuantityError
from .schema import FieldError

__all__ = ["Crash", "go_reason"]


class Crash(Exception):
    """KubeVirt panics on this input (its servers recover and refuse the request).

    Raised where Go would panic and turned into a value by the public functions; the text says why.
    """


def go_reason(error: FieldError) -> str:
    """A field error as KubeVirt words it: of a quantity apimachinery's text alone, without field and value."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, QuantityError):
            return str(cause)
        cause = cause.__context__
    return str(error)
