"""What was chosen for the workload of a VM. An annotation of the VM keeps it.

The same options mean the same for as long as the VM exists, whatever becomes of the catalog and the boot sources.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from ..api.errors import FieldError
from ..api.manifest import Manifest, Options
from ..api.matcher import MATCHER_FIELDS

ANNOTATION: Final = "instancetypes.virtshape.io/workload"
CHOSEN: Final = ("boot", *(matcher_field.matcher for matcher_field in MATCHER_FIELDS))
"""The options that are chosen."""
_WHY: Final = ("reasons", "others")


class StoredChoice(NamedTuple):
    """What a VM's annotation keeps. size: the option, without what was not set. choice: see `Choice.as_data`."""

    workload: str
    size: Options
    choice: Options


def stored_choice(live: Manifest) -> StoredChoice | None:
    """What the VM keeps; None if no workload was declared for it. Raises FieldError for an unreadable annotation."""
    text = (live["metadata"].get("annotations") or {}).get(ANNOTATION)
    if text is None:
        return None
    try:
        content = json.loads(text)
        choice = {name: content[name] for name in (*CHOSEN, *_WHY) if name in content}
        choice.update(reasons=list(choice["reasons"]), others=dict(choice["others"]))
        result = StoredChoice(str(content["workload"]), dict(content["size"]), choice)
        if all(isinstance(choice[matcher_field.matcher]["name"], str) for matcher_field in MATCHER_FIELDS):
            return result
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    raise FieldError(
        f"metadata.annotations[{ANNOTATION}]",
        "is not what this collection wrote; set boot, instancetype and preference instead of workload",
    )
