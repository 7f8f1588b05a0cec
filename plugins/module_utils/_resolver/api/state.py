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

from typing import Final, NamedTuple

from .keys import OBSOLETE_FROM_ANNOTATION, REPLACEMENT_ANNOTATION, STATE_LABEL
from .manifest import Manifest

ACTIVE: Final = "active"
DEPRECATED: Final = "deprecated"
OBSOLETE: Final = "obsolete"

DEPRECATED_LABEL: Final = "instancetype.kubevirt.io/deprecated"
"""The label of common-instancetypes, with the value ``true``."""


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
