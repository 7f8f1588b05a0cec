"""What is wrong with an object, and what stops a computation in KubeVirt itself."""

from __future__ import annotations


class FieldError(ValueError):
    """A value that the field's type does not take.

    path: the field, such as ``spec.template.spec.domain.cpu.cores``; complete once the outermost caller has it.
    reason: what is wrong, without the path.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason

    def under(self, parent: str) -> FieldError:
        """The same error seen from the parent field; list positions (`[0]`) follow it without a dot."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return FieldError(f"{parent}{joint}{self.path}", self.reason)


class QuantityError(ValueError):
    """A text that is no quantity; the message is that of apimachinery."""


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
