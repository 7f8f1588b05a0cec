"""Responses of KubeVirt's admission webhooks, as values (KubeVirt ``pkg/util/webhooks``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from ...api.errors import Cause, KubeVirtError

# Types of causes; in JSON the key of the type is `reason`.
INVALID: Final = "FieldValueInvalid"
NOT_FOUND: Final = "FieldValueNotFound"
REQUIRED: Final = "FieldValueRequired"

# The maximum number of causes in virt-api's response.
_MAX_CAUSES: Final = 10


class Response(NamedTuple):
    """A webhook's response.

    code, reason, message, causes: fields of the Status with which the API server rejects the object; empty if allowed.
    warnings: the warnings for the user of an allowed object. stage: the step of the VM's validation that failed.
    """

    allowed: bool = True
    code: int = 0
    reason: str = ""
    message: str = ""
    causes: tuple[Cause, ...] = ()
    warnings: tuple[str, ...] = ()
    stage: str = ""

    def as_json(self) -> dict[str, Any]:
        """The response without empty values."""
        result: dict[str, Any] = {"allowed": self.allowed}
        result.update({name: getattr(self, name) for name in ("code", "reason", "message", "stage")})
        result["causes"] = [
            {"reason": cause.type, "message": cause.message, "field": cause.field} for cause in self.causes
        ]
        result["warnings"] = list(self.warnings)
        return {name: value for name, value in result.items() if value or name == "allowed"}


class Refused(KubeVirtError):
    """A webhook refuses an object. response: the answer of the webhook."""

    def __init__(self, response: Response) -> None:
        super().__init__(response.message, response.reason, response.code)
        self.response = response


def allowed(warnings: Iterable[str] = ()) -> Response:
    """The object may be stored."""
    return Response(warnings=tuple(warnings))


def invalid(causes: Iterable[Cause], stage: str = "") -> Response:
    """The object violates rules: the first ten are listed, the others counted."""
    all_causes = tuple(causes)
    listed = all_causes[:_MAX_CAUSES]
    messages = [cause.message for cause in listed]
    if len(all_causes) > len(listed):
        messages.append(f"and {len(all_causes) - len(listed)} more validation errors")
    return Response(False, 422, "Invalid", ", ".join(messages), listed, stage=stage)


def bad_request(message: str, stage: str = "") -> Response:
    """The webhook failed with an error; the Status has neither reason nor causes."""
    return Response(False, 400, message=message, stage=stage)


def crashed(message: str, stage: str = "") -> Response:
    """KubeVirt panics on this object, so it cannot be stored."""
    return Response(False, 500, "InternalError", message, stage=stage)
