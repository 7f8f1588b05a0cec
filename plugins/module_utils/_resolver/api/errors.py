"""Errors in objects, and panics of KubeVirt."""

from __future__ import annotations


class FieldError(ValueError):
    """A value that its field does not accept.

    path: the field, such as ``spec.template.spec.domain.cpu.cores``; complete in the outermost caller. reason: what is
    wrong, without the path.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason

    def under(self, parent: str) -> FieldError:
        """The same error with the parent's path in front; list indexes (`[0]`) follow without a dot."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return FieldError(f"{parent}{joint}{self.path}", self.reason)


class QuantityError(ValueError):
    """A text is not a quantity; the message is apimachinery's."""


class Crash(Exception):
    """KubeVirt panics on this input (its servers recover and reject the request).

    Raised where Go would panic; public functions turn it into a value. The text says why.
    """


def go_reason(error: FieldError) -> str:
    """A field error in KubeVirt's words: for a quantity only apimachinery's text, without field and value."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, QuantityError):
            return str(cause)
        cause = cause.__context__
    return str(error)
