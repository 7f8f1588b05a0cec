"""Errors in objects, and failures of KubeVirt."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

T = TypeVar("T")

# The number of errors that a message names.
_SHOWN: Final = 5


def first_of(problems: Sequence[str]) -> str:
    """Problems on one line: the first ones, and how many more there are."""
    more = f"; and {len(problems) - _SHOWN} more" if len(problems) > _SHOWN else ""
    return "; ".join(problems[:_SHOWN]) + more


class FieldError(ValueError):
    """A value that its field does not accept.

    path: the field, such as ``spec.template.spec.domain.cpu.cores``; complete in the outermost caller. reason: the
    problem, without the path. more: the other errors of the same object, if they are known.
    """

    def __init__(self, path: str, reason: str, more: Iterable[FieldError] = ()) -> None:
        self.path = path
        self.reason = reason
        self.all: tuple[FieldError, ...] = (self, *more)
        super().__init__(first_of([f"{path}: {reason}" if path else reason, *map(str, self.all[1:])]))

    def with_parent(self, parent: str) -> FieldError:
        """The same error with the parent's path in front; list indexes (`[0]`) follow without a dot."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return FieldError(
            f"{parent}{joint}{self.path}", self.reason, [error.with_parent(parent) for error in self.all[1:]]
        )

    @classmethod
    def joined(cls, errors: Sequence[FieldError]) -> FieldError:
        """Errors of one object as one."""
        return cls(errors[0].path, errors[0].reason, errors[1:])


class Cause(NamedTuple):
    """A violated rule, as an API server, KubeVirt and CDI list it in `details.causes` of a Status.

    type: such as FieldValueInvalid; in JSON the key is `reason`. field: its path, or several joined by commas, in the
    server's spelling; "" without one.
    """

    type: str
    message: str
    field: str = ""


class QuantityError(ValueError):
    """A text is not a quantity; the message is apimachinery's."""


class KubeVirtError(Exception):
    """KubeVirt, or the API server for it, rejects an object or fails at it.

    Everything that mirrors KubeVirt raises this error or a subclass; no function returns failures.
    message: the words of the server. reason, code: fields of the Status that the server returns. An error of KubeVirt
    that is no API error has the reason InternalError.
    """

    def __init__(self, message: str, reason: str = "InternalError", code: int = 500) -> None:
        super().__init__(message)
        self.message, self.reason, self.code = message, reason, code


class Panic(KubeVirtError):
    """KubeVirt panics on this input; its servers recover, and reject the request."""


def value_or_none(compute: Callable[..., T | None], *arguments: Any, **options: Any) -> T | None:
    """The result of a function, or None if it raises KubeVirtError."""
    try:
        return compute(*arguments, **options)
    except KubeVirtError:
        return None


def go_reason(error: FieldError) -> str:
    """A field error in KubeVirt's words; a quantity has only apimachinery's text, without field and value."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, QuantityError):
            return str(cause)
        cause = cause.__context__
    return str(error)
