"""Errors in objects and catalogs, panics of KubeVirt, and the messages for field conflicts and for bugs."""

from __future__ import annotations

import traceback
from collections.abc import Iterable, Mapping
from typing import Final


class FieldError(ValueError):
    """A value that its field does not accept.

    path: the field, such as ``spec.template.spec.domain.cpu.cores``; complete in the outermost caller. reason: what is
    wrong, without the path.
    """

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason

    def with_parent(self, parent: str) -> FieldError:
        """The same error with the parent's path in front; list indexes (`[0]`) follow without a dot."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return FieldError(f"{parent}{joint}{self.path}", self.reason)


class QuantityError(ValueError):
    """A text is not a quantity; the message is apimachinery's."""


class Panic(Exception):
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


class CatalogError(ValueError):
    """An invalid catalog; one line with the entry, the field, the value and the remedy."""


# The beginning of the names of Argo CD's field managers.
_ARGO_CD: Final = "argocd-"
_REVERTED: Final = "Argo CD declares the object too and reverts the change, unless its repository has it"
_REPORT: Final = "https://github.com/virtshape/instancetypes/issues"
_PLACE: Final = "/plugins/"


def bug_report(error: Exception) -> str:
    """Reports a bug in the collection and its place. The message contains no data, which may be secret."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _PLACE in frame.filename]
    place = ""
    if frames:
        place = f" in {frames[-1].filename.rpartition(_PLACE)[2]}, line {frames[-1].lineno}"
    return (
        f"this is a bug in the collection ({type(error).__name__}{place}); report it at {_REPORT} with this message,"
        " which contains no secrets, and with what you were doing"
    )


def field_conflict(fields: Mapping[str, Iterable[str]]) -> str:
    """One line about the fields that other managers own, by manager, with the remedy."""
    conflicts = "; ".join(f'"{owner}" owns {", ".join(sorted(names))}' for owner, names in sorted(fields.items()))
    argo = ", ".join(owner for owner in sorted(fields) if owner.startswith(_ARGO_CD))
    return (
        f"another field manager owns declared fields: {conflicts}; remove the fields from the task, or set"
        " force_conflicts to take them over"
    ) + (f". {_REVERTED}; to take the fields over, remove them there and set take_over: [{argo}]" if argo else "")


def argo_cd_warning(managers: Iterable[str]) -> str | None:
    """The warning for changes of an object that Argo CD manages too; None if no field manager is Argo CD's."""
    return _REVERTED if any(name.startswith(_ARGO_CD) for name in managers) else None
