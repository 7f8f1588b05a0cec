"""Why objects could not be read, as a value."""

from __future__ import annotations

from ..._resolver.api.kinds import Kind
from ..._resolver.instancetype.find.lookup import Problem
from ..client.errors import ApiError, ConnectionFailed, explain


def problem(error: ApiError | ConnectionFailed, verb: str, kind: Kind) -> Problem:
    """The Problem to return instead of an object that cannot be read."""
    code = error.code if isinstance(error, ApiError) else 503
    reason = error.reason if isinstance(error, ApiError) else "ServiceUnavailable"
    return Problem(explain(error, verb, kind), reason, code)
