"""The options that declare the state of an instancetype or preference; see `api.state`."""

from __future__ import annotations

import datetime
import re
from typing import Any, Final, NamedTuple

from ..api import name_rules as names
from ..api.errors import FieldError
from ..api.keys import OBSOLETE_FROM_ANNOTATION, REPLACEMENT_ANNOTATION, STATE_LABEL
from ..api.manifest import Options
from ..api.name_rules import quoted
from ..api.state import DEPRECATED, DEPRECATED_LABEL, OBSOLETE

SPEC: Final[dict[str, dict[str, Any]]] = {
    DEPRECATED: {"type": "dict", "options": {"replacement": {"type": "str"}, "obsolete_from": {"type": "str"}}},
    OBSOLETE: {"type": "dict", "options": {"replacement": {"type": "str"}}},
}
"""The options that declare a state. An active object has neither."""


class StateMetadata(NamedTuple):
    """Labels and annotations of a state. None removes what an object inherits."""

    labels: dict[str, str | None]
    annotations: dict[str, str | None]


def state_metadata(options: Options) -> StateMetadata:
    """The labels and annotations of the state that options declare; empty if they declare no state.

    options: `deprecated` or `obsolete`, as in SPEC. A null of either makes the object active.
    Raises FieldError.
    """
    states = [name for name in (DEPRECATED, OBSOLETE) if options.get(name) is not None]
    if len(states) > 1:
        raise FieldError(OBSOLETE, "the object is also declared deprecated; remove one of the two")
    if not states:
        declared = any(name in options for name in (DEPRECATED, OBSOLETE))
        return (
            StateMetadata(
                {DEPRECATED_LABEL: None, STATE_LABEL: None},
                {REPLACEMENT_ANNOTATION: None, OBSOLETE_FROM_ANNOTATION: None},
            )
            if declared
            else StateMetadata({}, {})
        )
    [name] = states
    details = _details(name, options[name])
    annotations: dict[str, str | None] = {} if name == DEPRECATED else {OBSOLETE_FROM_ANNOTATION: None}
    if "replacement" in details:
        annotations[REPLACEMENT_ANNOTATION] = _name(f"{name}.replacement", details["replacement"])
    if "obsolete_from" in details:
        annotations[OBSOLETE_FROM_ANNOTATION] = _day(f"{name}.obsolete_from", details["obsolete_from"])
    return StateMetadata({DEPRECATED_LABEL: "true", STATE_LABEL: name}, annotations)


def _details(name: str, value: Any) -> dict[str, Any]:
    spec = SPEC[name]["options"]
    if not isinstance(value, dict):
        raise FieldError(name, f"expected an object, found {quoted(value)}; write {{replacement: NAME}}, or {{}}")
    for key in value:
        if key not in spec:
            raise FieldError(name, f"unknown key {quoted(key)}{names.did_you_mean(key, spec)}")
    return {key: entry for key, entry in value.items() if entry is not None}


def _name(path: str, value: Any) -> str:
    reason = names.subdomain(value) if isinstance(value, str) and value else "is no name"
    if reason:
        raise FieldError(path, f"{quoted(value)} {reason}; write the name of the object to use instead")
    return str(value)


def _day(path: str, value: Any) -> str:
    # YAML reads a date without quotes as one.
    text = value.isoformat() if isinstance(value, datetime.date) else str(value)
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text, re.ASCII):
            raise ValueError
        datetime.date.fromisoformat(text)
    except ValueError:
        raise FieldError(path, f"{quoted(text)} is not a date; write a day such as 2027-03-31") from None
    return text
