"""The state of an instancetype or preference: active, deprecated or obsolete.

VMs may use an active object. A deprecated one has a successor; new VMs may still use it. Only the VMs that already have
an obsolete one may keep it. The state is in the object's labels and annotations::

    labels:
      instancetype.kubevirt.io/deprecated: "true"           # of both states, as in common-instancetypes
      instancetypes.virtshape.io/state: deprecated          # or obsolete
    annotations:
      instancetypes.virtshape.io/replacement: u1.large      # an object of the same kind and namespace
      instancetypes.virtshape.io/obsolete-from: 2027-03-31  # the day on which the object is to become obsolete

No state depends on the date: an object becomes obsolete when its labels say so.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, Final, NamedTuple

from . import name_rules as names
from .errors import FieldError
from .keys import OBSOLETE_FROM_ANNOTATION, REPLACEMENT_ANNOTATION, STATE_LABEL
from .manifest import Manifest, Options
from .name_rules import quoted

ACTIVE: Final = "active"
DEPRECATED: Final = "deprecated"
OBSOLETE: Final = "obsolete"

DEPRECATED_LABEL: Final = "instancetype.kubevirt.io/deprecated"
"""The label of common-instancetypes, with the value ``true``."""

SPEC: Final[dict[str, dict[str, Any]]] = {
    DEPRECATED: {"type": "dict", "options": {"replacement": {"type": "str"}, "obsolete_from": {"type": "str"}}},
    OBSOLETE: {"type": "dict", "options": {"replacement": {"type": "str"}}},
}
"""The options that declare a state. An active object has neither."""

_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class State(NamedTuple):
    """A state. name: ACTIVE, DEPRECATED or OBSOLETE. replacement: the name of the successor, "" if none is named.

    obsolete_from: the day on which a deprecated object is to become obsolete, as YYYY-MM-DD; "" if none is named.
    """

    name: str = ACTIVE
    replacement: str = ""
    obsolete_from: str = ""

    @property
    def text(self) -> str:
        """``deprecated (obsolete from 2027-03-31); use u1.large``"""
        day = f" (obsolete from {self.obsolete_from})" if self.obsolete_from else ""
        return f"{self.name}{day}{f'; use {self.replacement}' if self.replacement else ''}"


def state_of(manifest: Manifest) -> State:
    """The state of a live or declared object. Other values of the labels count as active."""
    metadata = manifest.get("metadata") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    replacement = str(annotations.get(REPLACEMENT_ANNOTATION) or "")
    if labels.get(STATE_LABEL) == OBSOLETE:
        return State(OBSOLETE, replacement)
    if labels.get(STATE_LABEL) == DEPRECATED or labels.get(DEPRECATED_LABEL) == "true":
        return State(DEPRECATED, replacement, str(annotations.get(OBSOLETE_FROM_ANNOTATION) or ""))
    return State()


def is_active(manifest: Manifest) -> bool:
    """Whether new VMs should use the object."""
    return state_of(manifest).name == ACTIVE


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
        if not _DATE.fullmatch(text):
            raise ValueError
        datetime.date.fromisoformat(text)
    except ValueError:
        raise FieldError(path, f"{quoted(text)} is not a date; write a day such as 2027-03-31") from None
    return text
